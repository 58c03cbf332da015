package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// request is ready to be written: a signed head and a body.
type request struct {
	head   []byte
	body   []byte
	method string
	expect *Expect
}

// source makes the requests of a job. Those that come again are kept.
type source struct {
	job       *Job
	host      string
	stamp     string
	scope     string
	key       []byte
	templates []Template
	total     int
	kept      []*request
	pattern   []byte
}

// Larger sources (new keys without end) are not kept but made as they are asked for.
const mostKept = 50_000

func newSource(job *Job, templates []Template) *source {
	now := time.Now().UTC()
	s := &source{
		job:       job,
		host:      fmt.Sprintf("%s:%d", job.Host, job.Port),
		stamp:     now.Format("20060102T150405Z"),
		scope:     now.Format("20060102") + "/" + job.Region + "/s3/aws4_request",
		templates: templates,
	}
	key := []byte("AWS4" + job.Secret)
	for _, word := range strings.Split(s.scope, "/") {
		key = sum(key, word)
	}
	s.key = key
	longest := 0
	for i := range templates {
		t := &templates[i]
		if t.Count == 0 {
			t.Count = 1
		}
		s.total += t.Count
		longest = max(longest, t.Body, t.Expect.Offset+t.Expect.Bytes)
	}
	if s.total <= mostKept {
		s.kept = make([]*request, s.total)
	}
	s.pattern = pattern(longest)
	return s
}

// at gives the i-th request, beginning anew after the last.
func (s *source) at(i int) *request {
	i %= s.total
	if s.kept == nil {
		return s.make(i)
	}
	if s.kept[i] == nil {
		s.kept[i] = s.make(i)
	}
	return s.kept[i]
}

func (s *source) make(i int) *request {
	t := &s.templates[0]
	for n := 1; i >= t.Count; n++ {
		i -= t.Count
		t = &s.templates[n]
	}
	number := strconv.Itoa(t.From + i)
	body := s.pattern[:t.Body]
	if t.Text != "" {
		body = []byte(t.Text)
	}
	path := strings.ReplaceAll(t.Path, "{n}", number)
	query := strings.ReplaceAll(t.Query, "{n}", number)
	return &request{head: s.head(t, path, query, len(body)), body: body, method: t.Method, expect: &t.Expect}
}

// head writes the request head with a Signature Version 4 over an unsigned payload, the same for every server.
func (s *source) head(t *Template, path, query string, length int) []byte {
	const signed = "host;x-amz-content-sha256;x-amz-date"
	canonical := t.Method + "\n" + path + "\n" + query + "\nhost:" + s.host +
		"\nx-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:" + s.stamp + "\n\n" + signed + "\nUNSIGNED-PAYLOAD"
	digest := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + s.stamp + "\n" + s.scope + "\n" + hex.EncodeToString(digest[:])
	signature := hex.EncodeToString(sum(s.key, text))

	var b strings.Builder
	b.WriteString(t.Method + " " + path)
	if query != "" {
		b.WriteString("?" + query)
	}
	b.WriteString(" HTTP/1.1\r\nHost: " + s.host + "\r\nX-Amz-Content-Sha256: UNSIGNED-PAYLOAD\r\nX-Amz-Date: " + s.stamp)
	b.WriteString("\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" + s.job.Access + "/" + s.scope)
	b.WriteString(", SignedHeaders=" + signed + ", Signature=" + signature)
	names := make([]string, 0, len(t.Headers))
	for name := range t.Headers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		b.WriteString("\r\n" + name + ": " + t.Headers[name])
	}
	if t.Method == "PUT" || t.Method == "POST" {
		b.WriteString("\r\nContent-Length: " + strconv.Itoa(length))
	}
	b.WriteString("\r\n\r\n")
	return []byte(b.String())
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// pattern is the content of every object: the same pseudo-random bytes from the beginning.
func pattern(length int) []byte {
	bytes := make([]byte, length)
	state := uint64(0x9e3779b97f4a7c15)
	for i := range bytes {
		if i%8 == 0 {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
		}
		bytes[i] = byte(state >> (8 * (i % 8)))
	}
	return bytes
}
