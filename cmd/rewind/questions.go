package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"rewind/internal/term"
	"rewind/internal/textdiff"
)

// questions are asked one after the other, and answered by a line each. The end of the input is q.
type questions struct {
	ctx  context.Context //nolint:containedctx // it lasts as long as the questions
	a    *app
	in   *bufio.Reader
	done bool // no more is asked
}

func newQuestions(ctx context.Context, a *app) *questions {
	return &questions{ctx: ctx, a: a, in: bufio.NewReader(a.In)}
}

// keyHelp says what each key does.
var keyHelp = []struct {
	key  rune
	text string
}{
	{'y', "set this"},
	{'n', "leave this as it is"},
	{'q', "leave this and all that follows as it is, and set what was chosen"},
	{'a', "set this and all that follows in this file"},
	{'d', "leave this and all that follows in this file as it is"},
	{'s', "split this hunk into smaller ones"},
	{'e', "edit this hunk, and set what it is then"},
	{'?', "this list"},
}

// key asks until one of the keys is given.
func (q *questions) key(ask, keys string) (rune, error) {
	for {
		fmt.Fprint(q.a.Out, q.a.Styled(term.Bold, fmt.Sprintf("%s [%s,?]? ", ask, strings.Join(strings.Split(keys, ""), ","))))
		answer, err := q.line()
		if !q.a.InTTY { // nobody has typed the line's end
			fmt.Fprintln(q.a.Out)
		}
		if errors.Is(err, io.EOF) && answer == "" {
			return 'q', nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		answer = strings.TrimSpace(answer)
		if len(answer) == 1 && strings.Contains(keys, answer) {
			return rune(answer[0]), nil
		}
		for _, h := range keyHelp {
			if answer != "" && (h.key == '?' || strings.ContainsRune(keys, h.key)) {
				fmt.Fprintf(q.a.Out, "%c  %s\n", h.key, h.text)
			}
		}
	}
}

// line reads an answer, or ends with the interrupt: then nothing is done.
func (q *questions) line() (text string, err error) {
	read := make(chan struct{})
	var got string
	var failed error
	go func() {
		got, failed = q.in.ReadString('\n')
		close(read)
	}()
	select {
	case <-q.ctx.Done():
		fmt.Fprintln(q.a.Out)
		return "", q.ctx.Err()
	case <-read:
		return got, failed
	}
}

const editHelp = `# What becomes of this hunk:
# to keep a line that is removed, make its '-' a ' ';
# to leave out a line that is added, delete it; other lines can be added with '+'.
# Lines that begin with '#' are not read. With no line left the question is asked again.
`

// edit has a person change a hunk; where nothing comes of that it says why.
func (q *questions) edit(h textdiff.Hunk) (textdiff.Hunk, bool) {
	text, err := q.edited(append(h.Text(), editHelp...))
	if err == nil {
		h, err = h.Edited(text)
	}
	switch {
	case errors.Is(err, textdiff.ErrNoHunk):
		q.a.Say("no line is left: asking again")
	case err != nil:
		q.a.Say("this cannot be set: %s", term.Sanitize(err.Error()))
	}
	return h, err == nil
}

// edited gives a text to $VISUAL or $EDITOR.
func (q *questions) edited(text []byte) ([]byte, error) {
	f, err := os.CreateTemp("", "rewind-hunk-*.diff")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, bytes.NewReader(text))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	// with arguments as the user wrote them
	cmd := exec.CommandContext(q.ctx, "/bin/sh", "-c", editor+` "$@"`, editor, f.Name())
	cmd.Stdout, cmd.Stderr = q.a.Out, q.a.Err
	if q.a.InTTY { // else the answers to further questions are there
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	}
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s: %w", editor, err)
	}
	return os.ReadFile(f.Name())
}
