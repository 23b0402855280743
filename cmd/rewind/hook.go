package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/programs"
	"rewind/internal/relay"
	"rewind/internal/term"
)

const (
	hookDeadline = 900 * time.Millisecond // unless asked for, of the second that is promised
	maxDeadline  = time.Hour              // as of smart-checkpoint
	maxPayload   = 64 << 20               // bytes of standard input that are passed on
)

// newHook is what an agent can call where smart-checkpoint is not installed: the same request, at the price of this
// program's weight.
func newHook(a *app) *cobra.Command {
	agent, event, id := "", "", ""
	deadline := hookDeadline
	cmd := &cobra.Command{
		Use:   "hook --agent <agent> --event <event> [--id <id>] [--deadline <milliseconds>]",
		Short: "Take in an agent's event; always exits with 0",
		Long: "Agents call this. It reads the payload of a hook and passes it to the daemon if one runs; " +
			"otherwise it takes the event in itself. It prints nothing on standard output, and always exits " +
			"with 0 within a second, or within the given deadline. 'rewind status' says what went wrong.",
		Example: "  rewind hook --agent claude --event stop < payload.json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.runHook(cmd.Context(), agent, event, id, deadline)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "the program that calls: claude, codex, gemini, droid, ...")
	f.StringVar(&event, "event", "", "the event, as in the agent's settings")
	f.Func("deadline", "how long the agent waits at most, as of smart-checkpoint (default 900)", func(text string) error {
		ms, err := strconv.Atoi(text)
		if asked := time.Duration(ms) * time.Millisecond; err == nil && asked > 0 && asked <= maxDeadline {
			deadline = asked
		}
		return nil // a hook does not fail
	})
	f.StringVar(&id, "id", "", "16 hex digits, the same when the event is sent again")
	return cmd
}

// runHook never fails: an agent would take that for its own failure.
func (a *app) runHook(ctx context.Context, agent, event, id string, patience time.Duration) {
	defer func() { _ = recover() }() // a panic exits with 2, which agents read as "block"
	deadline := time.Now().Add(patience)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	done := make(chan string, 1)
	go func() {
		defer func() {
			_ = recover()
			close(done)
		}()
		done <- a.postHook(ctx, agent, event, id, deadline)
	}()
	select {
	case warn := <-done:
		if warn != "" {
			fmt.Fprintln(a.Err, warn)
		}
	case <-ctx.Done():
	}
}

// postHook sends the event and returns the line for standard error.
func (a *app) postHook(ctx context.Context, agent, event, id string, deadline time.Time) string {
	if _, err := strconv.ParseUint(id, 16, 64); err != nil || len(id) != 16 {
		var b [8]byte
		_, _ = rand.Read(b[:])
		id = hex.EncodeToString(b[:])
	}
	payload, _ := io.ReadAll(io.LimitReader(a.In, maxPayload)) // what was read is passed on
	// the process of its own is what a hook needs where no daemon is
	if string(payload) == programs.ProbePayload {
		r, err := api.Call(ctx, a.client, api.Version, api.VersionRequest{}, nil)
		if err != nil {
			return "rewind: " + term.Sanitize(err.Error())
		}
		_, _ = io.WriteString(a.Out, programs.ProbeAnswer(r.Version))
		return ""
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://rewind"+api.HookPath, bytes.NewReader(payload))
	if err != nil {
		return ""
	}
	for name, value := range map[string]string{
		api.HeaderAgent: agent, api.HeaderEvent: event, api.HeaderID: id, api.HeaderCwd: workingDir(),
		api.HeaderBegan:    os.Getenv(relay.EnvBegan),
		api.HeaderDeadline: strconv.FormatInt(max(time.Until(deadline).Milliseconds(), 0), 10),
	} {
		req.Header.Set(name, url.PathEscape(value))
	}
	resp, err := a.transport.RoundTrip(req)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		err = api.ReadError(resp)
	}
	if a.transport.failed != nil && ctx.Err() == nil { // nobody has taken it in
		if home, err := relay.Home(); err == nil {
			relay.RecordFailure(home, id, agent, term.Sanitize(a.transport.failed.Error()))
		}
		return "rewind: " + term.Sanitize(a.transport.failed.Error())
	}
	var told *api.Error
	if errors.As(err, &told) { // of rewind's own directory: no status will tell
		return "rewind: " + term.Sanitize(told.Message)
	}
	if err != nil {
		return ""
	}
	warn, _ := url.PathUnescape(resp.Header.Get(api.HeaderWarn))
	return warn
}
