package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// upload opens count multipart uploads and sends their parts, and gives the requests that complete them.
func (l *loop) upload(m *Multipart, count int) ([]Template, error) {
	path := func(i int) string { return strings.ReplaceAll(m.Path, "{n}", strconv.Itoa(m.From+i)) }
	any := Expect{Status: 200, Bytes: -1, Offset: -1, Keys: -1, Prefixes: -1}

	ids := make([]string, count)
	opening := []Template{{Method: "POST", Path: m.Path, Query: "uploads=", From: m.From, Count: count, Expect: any}}
	if err := l.all(opening, func(c *connection) error {
		_, rest, _ := bytes.Cut(c.captured, []byte("<UploadId>"))
		id, _, found := bytes.Cut(rest, []byte("</UploadId>"))
		if !found {
			return fmt.Errorf("no UploadId in %s", c.captured)
		}
		ids[c.index] = string(id)
		return nil
	}); err != nil {
		return nil, err
	}

	tags := make([]string, count*m.Parts)
	var sending []Template
	for i := range count {
		for part := range m.Parts {
			sending = append(sending, Template{
				Method: "PUT", Path: path(i), Query: fmt.Sprintf("partNumber=%d&uploadId=%s", part+1, ids[i]),
				Body: m.PartSize, Expect: any,
			})
		}
	}
	if err := l.all(sending, func(c *connection) error {
		tags[c.index] = c.etag
		return nil
	}); err != nil {
		return nil, err
	}

	var completing []Template
	for i := range count {
		var text strings.Builder
		text.WriteString("<CompleteMultipartUpload>")
		for part := range m.Parts {
			fmt.Fprintf(&text, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>", part+1, tags[i*m.Parts+part])
		}
		text.WriteString("</CompleteMultipartUpload>")
		completing = append(completing, Template{
			Method: "POST", Path: path(i), Query: "uploadId=" + ids[i], Text: text.String(), Expect: any,
			Headers: map[string]string{"Content-Type": "application/xml"},
		})
	}
	return completing, nil
}

// all sends every request once and hands each good answer to done.
func (l *loop) all(templates []Template, done func(c *connection) error) error {
	requests := newSource(l.job, templates)
	return l.run(&run{
		source:  requests,
		until:   func(i int) bool { return i < requests.total },
		capture: true,
		done: func(c *connection, _ time.Duration) error {
			if err := check(c); err != nil {
				return err
			}
			return done(c)
		},
	})
}
