package term

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	xterm "golang.org/x/term"
)

// fallbackWidth is the width in columns of a terminal that does not tell its own.
const fallbackWidth = 80

// Streams are the three standard streams and what is known about them. The
// fields are set once, before the first use; methods may then be called from
// several goroutines, though what they write to Out and Err is not serialised.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	// InTTY, OutTTY and ErrTTY tell for each stream whether a person sits at
	// the other end.
	InTTY, OutTTY, ErrTTY bool

	// Width is the number of columns of the terminal behind Out, 0 when Out is
	// not a terminal. Nothing is truncated or wrapped when it is 0.
	Width int

	// Now is the clock that relative times and progress use.
	Now func() time.Time

	lookupEnv          func(string) (string, bool)
	colorOut, colorErr bool
	screen             io.Writer // the terminal behind Out, however Out was wrapped since; nil where there is none
}

// System returns the streams of this process, with colour decided as for
// [colorAuto].
func System() *Streams {
	s := &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:     xterm.IsTerminal(int(os.Stdin.Fd())),
		OutTTY:    xterm.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY:    xterm.IsTerminal(int(os.Stderr.Fd())),
		Now:       time.Now,
		lookupEnv: os.LookupEnv,
	}
	if s.OutTTY {
		s.screen = os.Stdout
		s.Width = terminalWidth(os.Stdout, s.getenv)
	}
	s.SetColor(colorAuto)
	return s
}

// Test returns streams for a test: In reads in, Out and Err are the returned
// buffers, all three are terminals of 80 columns or none is. env holds
// "NAME=value" pairs; nothing is taken from the environment of the process.
func Test(in string, tty bool, env ...string) (s *Streams, out, err *bytes.Buffer) {
	vars := make(map[string]string, len(env))
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	s = &Streams{
		In: strings.NewReader(in), Out: out, Err: err,
		InTTY: tty, OutTTY: tty, ErrTTY: tty,
		Now: time.Now,
		lookupEnv: func(name string) (string, bool) {
			value, is := vars[name]
			return value, is
		},
	}
	if tty {
		s.screen, s.Width = out, fallbackWidth
	}
	s.SetColor(colorAuto)
	return s, out, err
}

func (s *Streams) getenv(name string) string {
	value, _ := s.lookupEnv(name)
	return value
}

// terminalWidth asks the terminal, then COLUMNS, then assumes 80.
func terminalWidth(f *os.File, getenv func(string) string) int {
	if w, _, err := xterm.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	if w, err := strconv.Atoi(getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return fallbackWidth
}
