package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"rewind/internal/term"
)

const (
	pageBytes    = 24_000  // of an answer if nothing else is asked for: some 8,000 tokens
	maxPage      = 100_000 // of what may be asked for
	maxTold      = 4_000   // bytes of what a command says beside its answer
	goodBye      = 5 * time.Second
	nothingFound = 1 // the exit code of grep that says nothing
)

// searched reports whether a search was a search to its end, whatever it found.
func searched(command []string, told string) bool {
	return command[0] == "grep" && !strings.Contains(told, "rewind: error:")
}

// answer runs a command and returns the part of its text that is wanted. failed: the command did not do what it was
// asked, and the text says why.
func (s *server) answer(ctx context.Context, command words, p page) (text string, failed bool, err error) {
	if p.Offset < 0 || p.MaxBytes < 0 || p.MaxBytes > maxPage {
		return "", false, fmt.Errorf("offset must not be negative, and max_bytes is at most %d", maxPage)
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = pageBytes
	}
	got := &window{skip: p.Offset, want: p.MaxBytes}
	told, err := s.run(ctx, command, got)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case got.more: // its output was not read to the end, which it may have taken amiss
		told = ""
	case errors.As(err, &exit) && exit.ExitCode() == nothingFound && searched(command, told):
		// notes of what was not searched may stand beside it
		return strings.TrimSuffix("nothing matches\n"+told, "\n"), false, nil
	case errors.As(err, &exit):
		failed = true
	case err != nil:
		return "", false, fmt.Errorf("rewind could not be run: %w", err)
	}
	return got.text(p.Offset) + told, failed, nil
}

// run runs rewind until it ends, or window has enough, and returns what it said on standard error.
func (s *server) run(ctx context.Context, command words, got *window) (told string, err error) {
	cmd := exec.CommandContext(ctx, s.program, append([]string{"--color", "never", "-C", s.dir}, command...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // a daemon is told
	cmd.WaitDelay = goodBye
	errs := &window{want: maxTold}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if _, err := io.Copy(got, out); errors.Is(err, errFull) {
		_ = out.Close() // who writes on is told by that
		_ = cmd.Process.Signal(os.Interrupt)
	}
	err = cmd.Wait()
	return term.SanitizeText(strings.ToValidUTF8(errs.buf.String(), "?")), err
}

// errFull ends the reading of what nobody wants.
var errFull = errors.New("enough")

// window keeps a part of what is written to it. It takes everything else, too, up to the first byte behind the part.
type window struct {
	skip, want int
	buf        bytes.Buffer
	more       bool // there was something behind it
}

func (w *window) Write(b []byte) (int, error) {
	n := len(b)
	pass := min(w.skip, len(b))
	w.skip, b = w.skip-pass, b[pass:]
	take := min(w.want-w.buf.Len(), len(b))
	w.buf.Write(b[:take])
	if take < len(b) {
		w.more = true
		return n, errFull
	}
	return n, nil
}

// text is the part as text, with what was left out; offset is where it begins.
func (w *window) text(offset int) string {
	b := w.buf.Bytes()
	if w.more {
		b = b[:wholeLines(b)]
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return fmt.Sprintf("[no text: %d bytes of a binary file, from byte %d, are not shown]\n", len(b), offset)
	}
	text := term.SanitizeText(string(b))
	switch {
	case w.more:
		text += fmt.Sprintf("\n[cut: bytes %d to %d are shown, and there is more. To go on, call again with offset %d; for less, name "+
			"paths, a session or a limit.]\n", offset, offset+len(b), offset+len(b))
	case len(b) == 0 && offset > 0:
		text += fmt.Sprintf("[nothing lies behind byte %d]\n", offset)
	}
	return text
}

// wholeLines is how much of a cut text to show: up to the end of its last line, if that is not long, else of its last
// character.
func wholeLines(b []byte) int {
	if i := bytes.LastIndexByte(b, '\n'); i >= len(b)/2 {
		return i + 1
	}
	for n := len(b); n > max(0, len(b)-utf8.UTFMax); n-- {
		if r, size := utf8.DecodeLastRune(b[:n]); r != utf8.RuneError || size > 1 {
			return n
		}
	}
	return len(b)
}
