package term

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestColorDecision(t *testing.T) {
	for _, c := range []struct {
		mode ColorMode
		tty  bool
		env  string // space separated
		want bool
	}{
		{colorAuto, true, "", true},
		{colorAuto, false, "", false},
		{colorAuto, true, "NO_COLOR=1", false},
		{colorAuto, true, "NO_COLOR=", true},
		{colorAuto, true, "TERM=dumb", false},
		{colorAuto, false, "CLICOLOR_FORCE=1", true},
		{colorAuto, false, "CLICOLOR_FORCE=0", false},
		{colorAuto, true, "CLICOLOR_FORCE=1 NO_COLOR=1", false},
		{colorAuto, true, "CLICOLOR_FORCE=1 TERM=dumb", true},
		{colorAlways, false, "NO_COLOR=1 TERM=dumb", true},
		{colorNever, true, "CLICOLOR_FORCE=1", false},
	} {
		s, _, _ := Test("", c.tty, strings.Fields(c.env)...)
		s.SetColor(c.mode)
		if s.ColorOut() != c.want || s.colorErr != c.want {
			t.Errorf("%s, terminal %v, %q: %v/%v, want %v", c.mode, c.tty, c.env, s.ColorOut(), s.colorErr, c.want)
		}
	}
	s, _, _ := Test("", true)
	s.ErrTTY = false
	s.SetColor(colorAuto)
	if !s.ColorOut() || s.colorErr {
		t.Error("the streams are not decided apart")
	}
	for _, in := range []string{"auto", "always", "never"} {
		if m, err := ParseColorMode(in); err != nil || string(m) != in {
			t.Errorf("ParseColorMode(%q) = %q, %v", in, m, err)
		}
	}
	if _, err := ParseColorMode("yes"); err == nil {
		t.Error("ParseColorMode takes yes")
	}
}

func TestStyled(t *testing.T) {
	s, _, _ := Test("", true)
	for _, c := range []struct {
		style    Style
		in, want string
	}{
		{Added, "x", "\x1b[32mx\x1b[0m"},
		{Removed, "a\nb\n", "\x1b[31ma\x1b[0m\n\x1b[31mb\x1b[0m\n"},
		{Plain, "x", "x"},
		{Bold, "", ""},
		{Bold, "\n", "\n"},
		{Style(200), "x", "x"},
	} {
		if got := s.Styled(c.style, c.in); got != c.want {
			t.Errorf("style %d of %q: %q, want %q", c.style, c.in, got, c.want)
		}
	}
	s.SetColor(colorNever)
	if got := s.Styled(Error, "x") + s.StyledErr(Error, "x"); got != "xx" {
		t.Errorf("without colour: %q", got)
	}
}

func TestTimes(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "now"},
		{999 * time.Millisecond, "now"},
		{time.Second, "1s ago"},
		{59 * time.Second, "59s ago"},
		{3*time.Minute + 50*time.Second, "3m ago"},
		{59*time.Minute + 59*time.Second, "59m ago"},
		{23 * time.Hour, "23h ago"},
		{24 * time.Hour, "1d ago"},
		{29 * 24 * time.Hour, "29d ago"},
		{30 * 24 * time.Hour, "2026-10-21"},
		{-2 * time.Minute, "in 2m"},
		{-90 * 24 * time.Hour, "2027-02-18"},
	} {
		if got := Ago(now, now.Add(-c.d)); got != c.want {
			t.Errorf("%v: %q, want %q", c.d, got, c.want)
		}
	}
	at := time.Date(2026, 11, 20, 13, 57, 1, 5e8, time.FixedZone("", 2*3600))
	for tty, want := range map[bool]string{true: "2m ago", false: "2026-11-20T11:57:01Z"} {
		s, _, _ := Test("", tty)
		s.Now = func() time.Time { return now }
		if got := s.Time(at); got != want {
			t.Errorf("terminal %v: %q, want %q", tty, got, want)
		}
		if got := s.Time(time.Time{}); got != "-" {
			t.Errorf("zero time: %q", got)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 512: "512 B", 1023: "1023 B", 1024: "1.0 KiB", 1_234_567: "1.2 MiB", 15 << 20: "15 MiB",
		1 << 40: "1.0 TiB", -2048: "-2.0 KiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPager(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "less"), []byte("#!/bin/sh\nexec sed s/^/less:/\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		name string
		tty  bool
		env  string
		want string
	}{
		{"terminal", true, "PAGER=sed s/^/paged:/", "paged:one\npaged:two\n"},
		{"pipe", false, "PAGER=sed s/^/paged:/", "one\ntwo\n"},
		{"cat", true, "PAGER=cat", "one\ntwo\n"},
		{"not set", true, "TERM=xterm", "less:one\nless:two\n"},
		{"empty", true, "PAGER=", "one\ntwo\n"},
		{"no such program", true, "PAGER=no-such-pager -x", "one\ntwo\n"},
		{"less gets FRX", true, "PAGER=sh -c 'cat >&2; echo $LESS'", "FRX\n"},
	} {
		s, out, _ := Test("", c.tty, c.env)
		w, end := s.Pager()
		if _, err := io.WriteString(w, "one\ntwo\n"); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := end(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, out, c.want)
		}
	}
}

// TestPagerReaderLeaves: quitting the pager is no error, however much follows.
func TestPagerReaderLeaves(t *testing.T) {
	s, out, _ := Test("", true, "PAGER=head -n 1")
	w, end := s.Pager()
	for range 10_000 {
		if _, err := io.WriteString(w, strings.Repeat("x", 99)+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if out.Len() != 100 {
		t.Errorf("%d bytes, want one line", out.Len())
	}
}

func TestProgress(t *testing.T) {
	const clear = "\r\x1b[K"
	run := func(tty bool, step time.Duration, total int64) string {
		s, out, errs := Test("", tty)
		p := s.Progress("reading \x1b[31mfiles")
		time.Sleep(step / 2) // between two drawings
		for i := range int64(20) {
			time.Sleep(step)
			if i > 10 {
				p.Set("", i*1000, total)
			}
		}
		p.Set("writing "+strings.Repeat("x", 100), 19_000, total)
		time.Sleep(2 * step)
		p.End()
		p.Set("", 1, total)
		p.Note("interrupted")
		if out.Len() > 0 {
			t.Errorf("progress on stdout: %q", out)
		}
		return errs.String()
	}
	synctest.Test(t, func(t *testing.T) {
		if got := run(false, time.Second, 20_000); got != "" {
			t.Errorf("drawn off a terminal: %q", got)
		}
		if got := run(true, 10*time.Millisecond, 20_000); got != "" {
			t.Errorf("drawn within 300 ms: %q", got)
		}
		for _, total := range []int64{20_000, 0} {
			got := run(true, 100*time.Millisecond, total)
			for _, want := range []string{`⠙ reading \x1b[31mfiles [0s]`, `files 15,000`, "writing xxx", "… 19,000", "[2s]"} {
				if !strings.Contains(got, want) {
					t.Errorf("of %d: no %q in %q", total, want, got)
				}
			}
			if strings.Contains(got, "/20,000") != (total > 0) {
				t.Errorf("of %d: %q", total, got)
			}
			if !strings.HasSuffix(got, clear) || strings.Contains(got, "\n") {
				t.Errorf("of %d: the line is not cleared: %q", total, got)
			}
			for frame := range strings.SplitSeq(got, clear) {
				if w := Width(frame); w >= fallbackWidth {
					t.Errorf("of %d: %d columns: %q", total, w, frame)
				}
			}
		}
	})
}

// TestProgressNote: who interrupts sees at once that it was heard, also before anything else is drawn.
func TestProgressNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, errs := Test("", true)
		p := s.Progress("writing")
		p.Note("interrupted")
		if got, want := errs.String(), "\r\x1b[K⠋ interrupted, writing [0s]"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		p.End()
		if !strings.HasSuffix(errs.String(), "\r\x1b[K") {
			t.Errorf("the line is not cleared: %q", errs)
		}
	})
}

func TestSystem(t *testing.T) {
	s := System()
	if s.In != os.Stdin || s.Out != os.Stdout || s.Err != os.Stderr || s.Now == nil {
		t.Error("not the streams of the process")
	}
	if s.OutTTY != (s.Width > 0) {
		t.Errorf("terminal %v, width %d", s.OutTTY, s.Width)
	}
}

func TestTestStreams(t *testing.T) {
	s, out, errs := Test("input", true)
	in, err := io.ReadAll(s.In)
	if err != nil || string(in) != "input" {
		t.Errorf("in: %q, %v", in, err)
	}
	io.WriteString(s.Out, "o")
	io.WriteString(s.Err, "e")
	if out.String() != "o" || errs.String() != "e" || !s.InTTY || !s.OutTTY || !s.ErrTTY || s.Width != 80 {
		t.Errorf("%+v", s)
	}
	if !bytes.Equal(out.Bytes(), []byte("o")) {
		t.Error("out")
	}
}
