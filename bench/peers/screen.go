package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"rewind/internal/ptytest"
)

// look opens the picker on a terminal again and again: how long until rows are there, and how long a key takes.
func (f *finding) look(got series) {
	for range f.opt.rounds {
		first, key := f.pick()
		if first == 0 {
			return // there are no terminals here
		}
		took, _ := f.w.c.run(f.bench.rewind, "list", "-n", "30")
		got["picker"], got["key"], got["thirty"] = append(got["picker"], first), append(got["key"], key), append(got["thirty"], took)
	}
}

// pick opens the picker once.
func (f *finding) pick() (first, key float64) {
	cmd := exec.CommandContext(f.ctx, f.bench.rewind)
	cmd.Dir, cmd.Env = f.w.c.dir, append(f.w.c.env[:len(f.w.c.env):len(f.w.c.env)], "TERM=xterm-256color")
	began := time.Now()
	keys, err := ptytest.Start(cmd, 40, 120)
	if errors.Is(err, errors.ErrUnsupported) {
		return 0, 0
	}
	must(err)
	defer keys.Close()
	s := &screen{file: keys}
	s.until("change number")
	first = ms(time.Since(began))
	s.quiet()
	began = time.Now()
	get(keys.WriteString("\x1b[B")) // Down
	s.until("\x1b")
	key = ms(time.Since(began))
	must(cmd.Process.Signal(syscall.SIGTERM))
	s.quiet()
	_ = cmd.Wait() // it was told to end
	return first, key
}

// A screen is what a program prints on a terminal.
type screen struct {
	file *os.File
	text []byte
}

// patience is how long something may take to be printed.
const patience = 10 * time.Second

// until reads on until a text was printed.
func (s *screen) until(text string) {
	s.text = s.text[:0]
	must(s.file.SetReadDeadline(time.Now().Add(patience)))
	for !bytes.Contains(s.text, []byte(text)) {
		s.text = append(s.text, s.more()...)
	}
}

// quiet reads on until nothing was printed for a while.
func (s *screen) quiet() {
	for {
		must(s.file.SetReadDeadline(time.Now().Add(200 * time.Millisecond)))
		if _, err := s.file.Read(make([]byte, 1<<16)); err != nil {
			return
		}
	}
}

func (s *screen) more() []byte {
	b := make([]byte, 1<<16)
	return b[:get(s.file.Read(b))]
}
