package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"rewind/internal/guard"
	"rewind/internal/relay"
)

// guardWord is the word of the guard: registered only when asked for, and the one thing of this program that may exit
// with 2, which agents read as "do not make this call".
const guardWord = "guard"

const refusal = 2

// judge is the guard: it reads the payload of a tool call, and gives the status to exit with. What is late or cannot be
// read passes.
func judge(o options, started time.Time) (status int) {
	defer func() {
		if p := recover(); p != nil {
			say("internal error: " + panicText(p))
			status = 0
		}
	}()
	in := newPayload(started.Add(o.deadline - min(reserve, o.deadline/2)))
	b, err := io.ReadAll(io.LimitReader(in, guard.MaxPayload+1))
	if err != nil || len(b) > guard.MaxPayload {
		in.drain()
		return 0
	}
	home, err := relay.Home()
	if err != nil {
		return 0
	}
	p := guard.Context{Home: filepath.Clean(home), User: os.Getenv("HOME"), Links: followed}
	p.Cwd, _ = syscall.Getwd()
	why := guard.Check(b, p)
	if why == "" {
		return 0
	}
	writeAll(stderr, append([]byte("rewind guard: "+clean(why, maxLine)), '\n'))
	return refusal
}

// followed follows the links of what is there of a path.
func followed(path string) string {
	rest := ""
	for dir := path; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up, name := filepath.Split(filepath.Clean(dir))
		if up == "" || up == dir || name == "" {
			return path
		}
		dir, rest = filepath.Clean(up), filepath.Join(name, rest)
	}
}
