package main

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// loop drives all connections from one thread with epoll, so that the load costs as little as possible.
type loop struct {
	epoll       int
	job         *Job
	connections []*connection
	background  *connection
	events      []syscall.EpollEvent
	byFd        map[int32]*connection
}

func newLoop(job *Job) (*loop, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	l := &loop{epoll: epoll, job: job, events: make([]syscall.EpollEvent, 256), byFd: map[int32]*connection{}}
	for range job.Connections {
		c, err := l.open()
		if err != nil {
			return nil, err
		}
		l.connections = append(l.connections, c)
	}
	if job.Background != nil {
		l.background, err = l.open()
	}
	return l, err
}

func (l *loop) open() (*connection, error) {
	c, err := dial(l.job.Host, l.job.Port)
	if err != nil {
		return nil, err
	}
	l.byFd[int32(c.fd)] = c
	return c, syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_ADD, c.fd,
		&syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(c.fd)})
}

// run is one phase: it sends requests on all connections and returns when every one is answered.
type run struct {
	source *source
	// until says whether request number i is still to be sent.
	until   func(i int) bool
	capture bool
	// done sees every answer; an error ends the run.
	done func(c *connection, took time.Duration) error
	// background requests are sent at this interval while the run lasts.
	background *source
	every      time.Duration
	answered   int
}

func (l *loop) run(r *run) error {
	next, inFlight := 0, 0
	begin := func(c *connection) error {
		if !r.until(next) {
			return nil
		}
		all, err := c.begin(r.source.at(next), next, r.capture)
		if err != nil {
			return err
		}
		next++
		inFlight++
		return l.watch(c, !all)
	}
	for _, c := range l.connections {
		if err := begin(c); err != nil {
			return err
		}
	}
	due, sent := time.Now(), 0
	for inFlight > 0 {
		wait := -1
		if r.background != nil {
			if now := time.Now(); !l.background.busy && !now.Before(due) {
				due = due.Add(r.every)
				all, err := l.background.begin(r.background.at(sent), sent, false)
				if err != nil {
					return err
				}
				sent++
				if err := l.watch(l.background, !all); err != nil {
					return err
				}
			}
			wait = max(1, int(time.Until(due).Milliseconds()))
		}
		n, err := syscall.EpollWait(l.epoll, l.events, wait)
		if err != nil && err != syscall.EINTR {
			return err
		}
		for _, event := range l.events[:max(n, 0)] {
			c := l.byFd[event.Fd]
			complete, err := l.progress(c, event.Events)
			if err != nil {
				return err
			}
			if !complete {
				continue
			}
			c.busy = false
			if c == l.background {
				r.answered++
				if err := check(c); err != nil {
					return fmt.Errorf("background: %w", err)
				}
				continue
			}
			inFlight--
			if err := r.done(c, time.Since(c.started)); err != nil {
				return err
			}
			if err := begin(c); err != nil {
				return err
			}
		}
	}
	for l.background != nil && l.background.busy {
		if _, err := syscall.EpollWait(l.epoll, l.events, -1); err != nil && err != syscall.EINTR {
			return err
		}
		complete, err := l.progress(l.background, syscall.EPOLLIN)
		if err != nil {
			return err
		}
		l.background.busy = !complete
	}
	return nil
}

// progress goes on with a connection and reports whether its answer is complete.
func (l *loop) progress(c *connection, events uint32) (bool, error) {
	if !c.busy {
		return false, errors.New("the server closed an idle connection")
	}
	if events&syscall.EPOLLOUT != 0 {
		all, err := c.write()
		if err != nil {
			return false, err
		}
		if err := l.watch(c, !all); err != nil {
			return false, err
		}
	}
	if events&^syscall.EPOLLOUT == 0 {
		return false, nil
	}
	complete, err := c.read()
	if complete && c.sent < len(c.request.head)+len(c.request.body) {
		return false, fmt.Errorf("answered with status %d before the request was sent", c.status)
	}
	return complete, err
}

// watch asks for EPOLLOUT only while there is something to write.
func (l *loop) watch(c *connection, writing bool) error {
	if c.writing == writing {
		return nil
	}
	c.writing = writing
	events := uint32(syscall.EPOLLIN)
	if writing {
		events |= syscall.EPOLLOUT
	}
	return syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_MOD, c.fd, &syscall.EpollEvent{Events: events, Fd: int32(c.fd)})
}
