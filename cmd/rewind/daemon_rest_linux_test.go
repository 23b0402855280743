package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// process is what the system knows of a process.
type process struct {
	t   *testing.T
	dir string
}

// worked is how much it has run, in ticks of 10 ms.
func (p process) worked() (ticks int) {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "stat"))
	must(p.t, err)
	_, behind, _ := strings.Cut(string(b), ") ")
	var user, system int
	if f := strings.Fields(behind); len(f) > 12 {
		_, err = fmt.Sscan(f[11]+" "+f[12], &user, &system)
	}
	must(p.t, err)
	return user + system
}

// open are the files that it has open, sorted.
func (p process) open() (list []string) {
	p.t.Helper()
	all, err := os.ReadDir(filepath.Join(p.dir, "fd"))
	must(p.t, err)
	for _, fd := range all {
		to, err := os.Readlink(filepath.Join(p.dir, "fd", fd.Name()))
		must(p.t, err)
		list = append(list, to)
	}
	slices.Sort(list)
	return list
}

// rests waits until it has hardly run for three seconds.
func (p process) rests() {
	p.t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; {
		was := p.worked()
		time.Sleep(3 * time.Second)
		if p.worked()-was <= 1 {
			return
		}
	}
	p.t.Fatal("the daemon does not come to rest")
}

// TestDaemonAtRest: what was asked for has left nothing when it is answered: no file is open that was not before, and
// nothing runs.
func TestDaemonAtRest(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	h := newDaemonHome(t)
	h.run(program, "init")
	for n := range 20 {
		h.talk(fmt.Sprintf("5f1c0d2e-7a44-4c1b-9d55-%012d", n+1))
	}
	h.run(program, "sessions", "--import")
	ask := func() {
		for _, args := range [][]string{
			{"sessions"}, {"tree", "--all"}, {"forks", "list"}, {"turns", "5f1c0d2e-7a44-4c1b-9d55-000000000001"}, {"list"},
		} {
			h.run(program, args...)
		}
		ctx, cancel := context.WithCancel(t.Context())
		listens := exec.CommandContext(ctx, program, "-C", h.project, "events", "--json")
		listens.Env = h.command(program).Env
		out, err := listens.StdoutPipe()
		must(t, err)
		must(t, listens.Start())
		_, err = out.Read(make([]byte, 1)) // it is heard
		must(t, err)
		cancel()
		_ = listens.Wait() // it was killed
	}
	ask()
	p := process{t, fmt.Sprintf("/proc/%d", h.daemon(program).PID)}
	p.rests()
	before := p.open()
	for range 10 {
		ask()
	}
	p.rests()
	if after := p.open(); !slices.Equal(before, after) {
		t.Errorf("it has open\n%s\nbefore\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

// talk puts a session of Claude's, with one turn, where its agent would.
func (h *daemonHome) talk(id string) {
	h.t.Helper()
	slug := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(h.project)
	path := filepath.Join(h.home, ".claude", "projects", slug, id+".jsonl")
	must(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	text := fmt.Sprintf(`{"parentUuid":null,"type":"user","message":{"role":"user","content":"go on with %[1]s"},"uuid":"%[2]s",`+
		`"cwd":%[3]q,"sessionId":"%[1]s","timestamp":"2026-11-20T09:00:00.000Z"}`+"\n", id, "9"+id[1:], h.project)
	must(h.t, os.WriteFile(path, []byte(text), 0o600))
}
