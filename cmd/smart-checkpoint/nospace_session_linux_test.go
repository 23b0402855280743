package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// grow makes the small file system as large again.
func (s *site) grow() {
	s.Helper()
	s.check(syscall.Mount("tmpfs", s.home, "tmpfs", syscall.MS_REMOUNT|syscall.MS_NOSUID|syscall.MS_NODEV,
		fmt.Sprintf("size=%d", 2*smallDisk)))
}

// tree is what the project holds: every name, with what is in the files. The directory that restores work in is there
// once one was tried; what is in it counts.
func (s *site) tree() map[string]string {
	s.Helper()
	held := map[string]string{}
	s.check(filepath.WalkDir(s.project, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || strings.HasSuffix(path, ".agent/rewind/stage"):
			return err
		case !d.Type().IsRegular():
			held[path] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		held[path] = string(b)
		return err
	}))
	return held
}

// TestT4Promise07DiskFullSession: an agent works until the disk of the store is full, and beyond. Hooks stay in time,
// status says why, and how often; what is stored is read; what would need a safety checkpoint touches nothing. With
// space again the same daemon goes on, and nothing is lost.
func TestT4Promise07DiskFullSession(t *testing.T) {
	s := newSite(t)
	s.onSmallDisk()
	s.write("kept", "kept\n")
	s.must("init")
	s.edit("before")
	s.mustCapture("session", "before")
	daemon, first := s.daemon(), s.events()[0].Checkpoint
	acked, may := []string{"before"}, map[string]bool{"before": true}
	hook := func(call string, size int) {
		s.write("edits/"+call, call+noise(uint64(len(may)), size))
		may[call] = true
		s.inTime(finish(s.client(int(defaultDeadline/time.Millisecond), "post-tool-use", s.payload("session", call))))
	}
	for i := range 30 {
		call := fmt.Sprintf("full-%d", i)
		hook(call, 4<<20)
		// a late hook goes on behind its deadline
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if v := s.status(); v.Degraded != nil || len(v.Changes) == 0 || time.Now().After(end) {
				break
			}
		}
		if s.status().Degraded != nil {
			break
		}
		acked = append(acked, call)
	}
	count := s.refusals(t, 1)
	s.fill(0)
	for i := range 3 {
		hook(fmt.Sprintf("none-%d", i), 10)
		count = s.refusals(t, count+1)
	}
	if text := s.status().Degraded.Error; !strings.Contains(text, " 0.0 MiB free") {
		t.Errorf("status does not speak of the last hook: %q", text)
	}
	s.noSpin(s.daemon())

	s.write("kept", "changed\n")
	held := s.tree()
	for _, args := range [][]string{
		{"checkout", first}, {"checkout", first, "--", "kept"}, {"checkout", first, "--exact"}, {"undo"}, {"save"},
	} {
		r := s.rewind(args...)
		if r.code != 18 || !strings.Contains(r.stderr, "hint: free some space") || args[0] != "save" &&
			!strings.Contains(r.stderr, "nothing was changed") {
			t.Errorf("rewind %v: exit %d, %s%s", args, r.code, r.stdout, r.stderr)
		}
		if now := s.tree(); !maps.Equal(now, held) {
			t.Fatalf("rewind %v has changed the project", args)
		}
	}
	if out := s.must("list", "--all", "--steps"); !strings.Contains(out, first[:6]) {
		t.Errorf("list does not have %s:\n%s", first, out)
	}
	s.must("show", first)
	s.must("diff", first, "--stat")
	s.must("checkout", first, "--dry-run")
	if got := s.must("cat", first+":edits/before"); got != "before" {
		t.Errorf("cat: %q", got)
	}
	elsewhere := filepath.Join(t.TempDir(), "first")
	s.must("checkout", first, "--into", elsewhere)
	if got, err := os.ReadFile(filepath.Join(elsewhere, "edits", "before")); err != nil || string(got) != "before" {
		t.Errorf("laid out elsewhere: %q, %v", got, err)
	}
	if r := s.rewind("validate"); r.code != 1 || !spaceWords.MatchString(r.stdout) {
		t.Errorf("validate: exit %d, %s%s", r.code, r.stdout, r.stderr)
	}

	s.relieve()
	s.grow()
	s.edit("after")
	s.mustCapture("session", "after")
	acked, may["after"] = append(acked, "after"), true
	if v := s.status(); v.Degraded != nil || len(v.Changes) != 0 {
		t.Errorf("after space came back: %+v, unsaved %v", v.Degraded, v.Changes)
	}
	s.holds(s.recorded(acked, may), 0)
	held = s.tree()
	s.must("checkout", first)
	if _, err := os.Stat(filepath.Join(s.project, "edits", "after")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("checkout: %v", err)
	}
	s.must("undo-restore")
	if now := s.tree(); !maps.Equal(now, held) {
		t.Error("undo-restore does not give the state before the checkout back")
	}
	if now := s.daemon(); now != daemon {
		t.Errorf("the daemon is another one: %d, was %d", now, daemon)
	}
	s.clean()
}

// refusals waits until status counts so many hooks that could not do their work, and returns how many it counts.
func (s *site) refusals(t *testing.T, least int) int {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		v := s.status()
		if v.Degraded != nil && v.Degraded.Count >= least {
			return v.Degraded.Count
		}
		if time.Now().After(end) {
			t.Fatalf("status counts %+v, want %d", v.Degraded, least)
		}
	}
}
