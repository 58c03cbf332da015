// Command load sends S3 requests over keep-alive connections and measures what they cost the server.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "files" {
		if err := makeFiles(os.Args[2:]); err != nil {
			fail(err)
		}
		return
	}
	runtime.LockOSThread()
	var job Job
	if err := json.NewDecoder(os.Stdin).Decode(&job); err != nil {
		fail(err)
	}
	result, err := measure(&job)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "load:", err)
	os.Exit(1)
}

func measure(job *Job) (*Result, error) {
	l, err := newLoop(job)
	if err != nil {
		return nil, err
	}
	templates := job.Requests
	if job.Multipart != nil {
		if templates, err = l.upload(job.Multipart, job.Operations); err != nil {
			return nil, fmt.Errorf("uploading parts: %w", err)
		}
	}
	requests := newSource(job, templates)
	if job.Operations == 0 {
		if err := l.verify(requests); err != nil {
			return nil, err
		}
	}
	var background *source
	if job.Background != nil {
		background = newSource(job, []Template{*job.Background})
	}
	if job.Warmup > 0 && job.Operations == 0 {
		end := time.Now().Add(seconds(job.Warmup))
		warm := &run{source: requests, until: func(i int) bool { return time.Now().Before(end) }, done: ignore}
		if err := l.run(warm); err != nil {
			return nil, fmt.Errorf("warming up: %w", err)
		}
	}
	return l.measure(requests, background)
}

// verify looks closely at the first answers.
func (l *loop) verify(requests *source) error {
	count := min(requests.total, 4)
	return l.run(&run{
		source:  requests,
		until:   func(i int) bool { return i < count },
		capture: true,
		done: func(c *connection, _ time.Duration) error {
			if err := check(c); err != nil {
				return err
			}
			return compare(c, requests.pattern)
		},
	})
}

func (l *loop) measure(requests, background *source) (*Result, error) {
	job := l.job
	result := &Result{}
	took := make([]time.Duration, 0, 1<<16)
	runtime.GC()
	before := readClocks(job.Pids)
	start := time.Now()
	end := start.Add(seconds(job.Seconds))
	measured := &run{
		source: requests,
		until: func(i int) bool {
			if job.Operations > 0 {
				return i < job.Operations
			}
			return i < job.Minimum || time.Now().Before(end)
		},
		done: func(c *connection, t time.Duration) error {
			took = append(took, t)
			result.Bytes += c.size + int64(len(c.request.body))
			if err := check(c); err != nil {
				result.Errors++
				if result.FirstError == "" {
					result.FirstError = err.Error()
				}
			}
			return nil
		},
	}
	if background != nil {
		measured.background, measured.every = background, seconds(1/job.PerSecond)
	}
	if err := l.run(measured); err != nil {
		return nil, err
	}
	result.Seconds = time.Since(start).Seconds()
	// What the server does after its answers belongs to them.
	time.Sleep(20 * time.Millisecond)
	after := readClocks(job.Pids)
	result.ServerCPU = float64(after.server-before.server) / 1e9
	result.LoadCPU = float64(after.load-before.load) / 1e9
	result.OtherCPU = float64(after.machine-before.machine)/1e9 - result.ServerCPU - result.LoadCPU
	slices.Sort(took)
	result.Operations = len(took)
	result.P50, result.P99 = quantile(took, 0.5), quantile(took, 0.99)
	result.Longest = quantile(took, 1)
	result.Background = measured.answered
	return result, nil
}

func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Seconds()
}

func ignore(*connection, time.Duration) error { return nil }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// check compares what is known of every answer.
func check(c *connection) error {
	expect := c.request.expect
	line, _, _ := bytes.Cut(c.request.head, []byte(" HTTP/1.1"))
	if c.status != expect.Status {
		return fmt.Errorf("%s: status %d, not %d: %s", line, c.status, expect.Status, c.captured)
	}
	if expect.Bytes >= 0 && c.size != int64(expect.Bytes) && c.request.method != "HEAD" {
		return fmt.Errorf("%s: %d bytes, not %d", line, c.size, expect.Bytes)
	}
	return nil
}

// compare looks at the content of an answer.
func compare(c *connection, pattern []byte) error {
	expect := c.request.expect
	line, _, _ := bytes.Cut(c.request.head, []byte(" HTTP/1.1"))
	if expect.Offset >= 0 && !bytes.Equal(c.captured, pattern[expect.Offset:expect.Offset+expect.Bytes]) {
		return fmt.Errorf("%s: the content is not what was written", line)
	}
	if n := bytes.Count(c.captured, []byte("<Key>")); expect.Keys >= 0 && n != expect.Keys {
		return fmt.Errorf("%s: %d keys, not %d", line, n, expect.Keys)
	}
	if n := bytes.Count(c.captured, []byte("<CommonPrefixes>")); expect.Prefixes >= 0 && n != expect.Prefixes {
		return fmt.Errorf("%s: %d common prefixes, not %d", line, n, expect.Prefixes)
	}
	return nil
}
