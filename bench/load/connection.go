package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// connection is one keep-alive connection with at most one request in flight, on a non-blocking socket.
type connection struct {
	fd      int
	writing bool // registered for EPOLLOUT
	busy    bool
	started time.Time
	request *request
	index   int

	sent int // of head and body together

	// The answer.
	in       []byte // unread bytes, at the front of buffer
	buffer   []byte
	inBody   bool
	status   int
	etag     string
	left     int64 // bytes of the body or of the chunk that are still to come
	chunked  bool
	size     int64
	capture  bool
	captured []byte
}

func dial(host string, port int) (*connection, error) {
	var address [4]byte
	if _, err := fmt.Sscanf(host, "%d.%d.%d.%d", &address[0], &address[1], &address[2], &address[3]); err != nil {
		return nil, fmt.Errorf("host %q: an IPv4 address is needed", host)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: address}); err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("connect %s:%d: %w", host, port, err)
	}
	if err := syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return nil, err
	}
	return &connection{fd: fd, buffer: make([]byte, 256<<10)}, syscall.SetNonblock(fd, true)
}

// begin starts a request and reports whether all of it could be written at once.
func (c *connection) begin(r *request, index int, capture bool) (bool, error) {
	*c = connection{fd: c.fd, writing: c.writing, buffer: c.buffer, in: c.buffer[:0], captured: c.captured[:0]}
	c.busy, c.request, c.index, c.capture, c.started = true, r, index, capture, time.Now()
	return c.write()
}

func (c *connection) write() (bool, error) {
	head, body := c.request.head, c.request.body
	for c.sent < len(head)+len(body) {
		var n int
		var err error
		switch {
		case c.sent >= len(head):
			n, err = send(c.fd, body[c.sent-len(head):], 0)
		case len(body) == 0:
			n, err = send(c.fd, head[c.sent:], 0)
		case len(body) <= 16<<10 && c.sent == 0:
			// One segment, as a client with a buffered writer would send it.
			n, err = send(c.fd, append(append(make([]byte, 0, len(head)+len(body)), head...), body...), 0)
		default:
			n, err = send(c.fd, head[c.sent:], msgMore)
		}
		if err == syscall.EAGAIN {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("send: %w", err)
		}
		c.sent += n
	}
	return true, nil
}

// read takes what has arrived and reports whether the answer is complete.
func (c *connection) read() (bool, error) {
	for {
		var n int
		var err error
		if c.inBody && !c.chunked && !c.capture && c.left >= int64(len(c.buffer)) {
			// Nobody looks at these bytes: let the kernel throw them away, so that the client is not what is measured.
			n, err = discard(c.fd, int(min(c.left, 1<<30)))
			c.left -= int64(n)
			c.size += int64(n)
		} else {
			if len(c.in) == 0 {
				c.in = c.buffer[:0]
			} else if cap(c.in) == len(c.in) {
				if len(c.in) == len(c.buffer) {
					return false, errors.New("the head or a chunk line is too long")
				}
				c.in = append(c.buffer[:0], c.in...)
			}
			n, err = receive(c.fd, c.in[len(c.in):cap(c.in)])
			if n > 0 {
				c.in = c.in[:len(c.in)+n]
			}
		}
		if err == syscall.EAGAIN {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("receive: %w", err)
		}
		if n == 0 {
			return false, io.ErrUnexpectedEOF
		}
		if done, err := c.parse(); done || err != nil {
			return done, err
		}
	}
}

// parse goes on with the bytes in c.in and reports whether the answer is complete.
func (c *connection) parse() (bool, error) {
	if !c.inBody {
		end := bytes.Index(c.in, []byte("\r\n\r\n"))
		if end < 0 {
			return false, nil
		}
		if err := c.parseHead(c.in[:end]); err != nil {
			return false, err
		}
		c.in = c.in[end+4:]
		if c.status == 100 {
			return c.parse()
		}
		c.inBody = true
		if c.request.method == "HEAD" || c.status == 204 {
			c.left, c.chunked = 0, false
		}
	}
	for {
		n := min(c.left, int64(len(c.in)))
		if c.capture {
			c.captured = append(c.captured, c.in[:n]...)
		}
		c.in, c.left, c.size = c.in[n:], c.left-n, c.size+n
		if c.left > 0 {
			return false, nil
		}
		if !c.chunked {
			return true, nil
		}
		if len(c.in) == 0 {
			return false, nil
		}
		// Between chunks: the CR LF of the chunk before, then a line with the size.
		line := c.in
		if c.size > 0 {
			if len(line) < 2 {
				return false, nil
			}
			line = line[2:]
		}
		end := bytes.Index(line, []byte("\r\n"))
		if end < 0 {
			return false, nil
		}
		size, err := strconv.ParseInt(string(line[:end]), 16, 63)
		if err != nil {
			return false, fmt.Errorf("chunk size: %w", err)
		}
		if size == 0 {
			if len(line) < end+4 {
				return false, nil
			}
			return true, nil
		}
		c.in, c.left = line[end+2:], size
	}
}

func (c *connection) parseHead(head []byte) error {
	c.left, c.chunked, c.etag = 0, false, ""
	for i, line := range strings.Split(string(head), "\r\n") {
		if i == 0 {
			if len(line) < 12 || !strings.HasPrefix(line, "HTTP/1.1 ") {
				return fmt.Errorf("not an HTTP/1.1 answer: %q", line)
			}
			c.status, _ = strconv.Atoi(line[9:12])
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(name, "content-length"):
			length, err := strconv.ParseInt(value, 10, 63)
			if err != nil {
				return fmt.Errorf("content-length: %w", err)
			}
			c.left = length
		case strings.EqualFold(name, "transfer-encoding"):
			c.chunked = strings.EqualFold(value, "chunked")
		case strings.EqualFold(name, "etag"):
			c.etag = value
		case strings.EqualFold(name, "connection") && strings.EqualFold(value, "close"):
			return errors.New("the server closes the connection; keep-alive is needed")
		}
	}
	return nil
}
