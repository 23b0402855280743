package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Client sends requests. Transport decides where to: a socket, or a process of its own.
type Client struct {
	Transport http.RoundTripper
	// Damaged, unless nil, is told when a result is of a damaged store, and so of what that still has. It is called by
	// the goroutine that calls.
	Damaged func(*Error)
	// Notices, unless nil, is told what is to be known of a file that Cat has copied. It is called as Damaged is.
	Notices func([]string)
}

// base is the host of every request; the transport knows where that is.
const base = "http://rewind"

// Call sends one request and returns its result. progress, unless nil, is called for each progress line, by the
// calling goroutine. An error that the server tells is an *Error.
func Call[Req, Resp any](
	ctx context.Context, c *Client, r Route[Req, Resp], req Req, progress func(Progress),
) (Resp, error) {
	var zero Resp
	resp, err := c.send(ctx, r.Method, r.Path, req)
	if err != nil {
		return zero, err
	}
	defer resp.Body.Close()
	lines := bufio.NewReaderSize(resp.Body, 64<<10)
	for {
		var line Line[Resp]
		text, err := lines.ReadBytes('\n') // a Decoder would look for the end of what may be megabytes by parsing it
		if err == nil {
			err = json.Unmarshal(text, &line)
		}
		if err != nil {
			if ctx.Err() != nil {
				return zero, ctx.Err()
			}
			return zero, fmt.Errorf("api: %s: the answer ended early: %w", r.Path, err)
		}
		switch {
		case line.Error != nil:
			return zero, line.Error
		case line.Result != nil:
			if line.Damaged != nil && c.Damaged != nil {
				c.Damaged(line.Damaged)
			}
			return *line.Result, nil
		case line.Progress != nil && progress != nil:
			progress(*line.Progress)
		}
	}
}

// ErrorTrailer carries, as JSON, the *Error that ended a file's bytes early.
const ErrorTrailer = "Rewind-Error"

// NoticesHeader carries, as JSON, what is to be known of a file whose bytes come.
const NoticesHeader = "Rewind-Notices"

// Cat copies a file as a checkpoint has it to w. Bytes that were written before an error are right.
func (c *Client) Cat(ctx context.Context, req CatRequest, w io.Writer) error {
	resp, err := c.send(ctx, http.MethodGet, CatPath, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("api: %s: %w", CatPath, err)
	}
	if told := resp.Header.Get(NoticesHeader); told != "" && c.Notices != nil {
		var list []string
		if err := json.Unmarshal([]byte(told), &list); err != nil {
			return fmt.Errorf("api: %s: %w", CatPath, err)
		}
		c.Notices(list)
	}
	if told := resp.Trailer.Get(ErrorTrailer); told != "" {
		e := &Error{}
		if err := json.Unmarshal([]byte(told), e); err != nil {
			return fmt.Errorf("api: %s: %w", CatPath, err)
		}
		return e
	}
	return nil
}

func (c *Client) send(ctx context.Context, method, path string, v any) (*http.Response, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("api: %s: %w", path, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("api: %s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Transport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("api: %s: %w", path, err)
	}
	if err := ReadError(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// ReadError is the error that an answer is, an *Error if the server tells it; nil: it is none, and nothing was read.
func ReadError(resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var line Line[struct{}]
	if err := json.NewDecoder(resp.Body).Decode(&line); err != nil || line.Error == nil {
		return fmt.Errorf("api: %s: %s", resp.Request.URL.Path, resp.Status)
	}
	return line.Error
}
