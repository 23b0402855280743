package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// cleanUp is what a person types who is short of space: find ~ -name '*.log' -delete.
func (s *aStore) cleanUp() (n int) {
	s.t.Helper()
	must(s.t, filepath.WalkDir(s.home, func(path string, f fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".log" && f.Type().IsRegular() {
			err = os.Remove(path)
			n++
		}
		return err
	}))
	return n
}

// TestT22Promise01LogsDeleted: every file called *.log below the home is deleted. While the daemon runs nothing is
// lost, neither by a kill after the next save nor by a clean stop; after a kill what is lost is said by every command,
// and repaired as far as can be.
func TestT22Promise01LogsDeleted(t *testing.T) {
	t.Parallel()
	program, err := realProgram()
	must(t, err)
	saves := func(s *aStore, what string, n int) {
		for i := range n {
			s.save(program, fmt.Sprintf("%s %d", what, i))
		}
	}
	kill := func(s *aStore) {
		pid := s.daemon(program).PID
		must(t, syscall.Kill(pid, syscall.SIGKILL))
		eventuallyGone(t, pid)
	}
	whole := func(s *aStore, when string) {
		t.Helper()
		code, ids, errs := s.listed(program)
		if code != 0 || s.lacks(ids) > 0 {
			t.Errorf("%s: list ends with %d and lacks %d of %d\n%s", when, code, s.lacks(ids), len(s.holds), errs)
		}
		if code, out, errs := s.alone(program, "verify"); code != 0 {
			t.Errorf("%s: verify ends with %d\n%s%s", when, code, out, errs)
		}
	}
	s := newStore(t, "")
	s.run(program, "init")
	saves(s, "before", 5)
	if s.cleanUp() == 0 {
		t.Fatal("there is no log")
	}
	saves(s, "after", 1)
	if out, _ := s.command(program, "validate", "--json").Output(); !strings.Contains(string(out), ".log was removed from ") {
		t.Errorf("validate does not say that a log was removed: %s", out)
	}
	kill(s)
	whole(s, "killed after the save that followed")

	saves(s, "again", 3)
	s.cleanUp()
	s.run(program, "daemon", "stop")
	whole(s, "stopped")

	// Of a store that rests, and of one whose daemon has ended, nothing hangs on the log.
	saves(s, "more", 3)
	s.run(program, "daemon", "stop")
	s.cleanUp()
	whole(s, "deleted after a clean stop")

	saves(s, "last", 3)
	kill(s)
	s.cleanUp()
	last := ""
	for id, text := range s.holds {
		if text == "last 2" {
			last = id
		}
	}
	for _, args := range [][]string{
		{"list"},
		{"list", "--json"},
		{"ops"},
		{"show", last},
		{"cat", last + ":a"},
		{"verify"},
		{"verify", "--quick"},
		{"save"},
	} {
		code, out, errs := s.alone(program, args...)
		if code != 16 || !strings.Contains(out+errs, ".log: corrupt: missing") {
			t.Errorf("deleted after a kill: rewind %s ends with %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
	}
	code, ids, errs := s.listed(program)
	if code != 16 || s.lacks(ids) != 3 || !strings.Contains(errs, "operations ") ||
		!strings.Contains(errs, " are missing") {
		t.Errorf("deleted after a kill: list ends with %d and lacks %d\n%s", code, s.lacks(ids), errs)
	}
	if code, out, errs := s.alone(program, "verify", "--repair"); code != 15 ||
		!strings.Contains(out, "known lost: operations ") {
		t.Errorf("repair ends with %d\n%s%s", code, out, errs)
	}
	if code, ids, errs := s.listed(program); code != 0 || s.lacks(ids) != 3 {
		t.Errorf("repaired: list ends with %d and lacks %d\n%s", code, s.lacks(ids), errs)
	}
}
