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

// Pane returns streams for a part of the screen behind Out: what is printed to either goes to the buffer, with the
// colour, clock and words of a terminal that is so many columns wide.
func (s *Streams) Pane(width int) (pane *Streams, text *bytes.Buffer) {
	text = new(bytes.Buffer)
	return &Streams{
		In: strings.NewReader(""), Out: text, Err: text, OutTTY: true, Width: width, Now: s.Now,
		lookupEnv: s.lookupEnv, colorOut: s.colorOut, colorErr: s.colorOut,
	}, text
}

// Keep remembers how the terminal behind In is set. restore sets it so again, and takes back what a program that draws
// on the whole screen had asked of it: for one that was killed before it could.
func (s *Streams) Keep() (restore func()) {
	f, ok := s.In.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := xterm.GetState(int(f.Fd()))
	return func() {
		if err == nil {
			_ = xterm.Restore(int(f.Fd()), state)
		}
		if s.screen != nil {
			_, _ = io.WriteString(s.screen, leaveScreen)
		}
	}
}

// leaveScreen turns off what full screen programs turn on: the mouse, pasting in brackets, reports of keys and of
// focus, the second screen; then the cursor is shown.
const leaveScreen = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[?2026l\x1b[<u\x1b[>4m" +
	"\x1b[?1049l\x1b[?25h\x1b[0m\r"

// Dumb reports whether the terminal can do nothing but print lines.
func (s *Streams) Dumb() bool { t := s.getenv("TERM"); return t == "dumb" || t == "" }

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
