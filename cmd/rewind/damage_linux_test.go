package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/procstate"
	"rewind/internal/torture"
)

// aStore is a store that the real program and its daemon made and left, with copies of earlier moments.
type aStore struct {
	*daemonHome
	end   string
	dir   string            // the store
	whole string            // a copy of it as it was left
	was   []string          // earlier copies, oldest first
	files []string          // of it, relative
	holds map[string]string // what the file a is in each checkpoint that was acknowledged and synced, by id
}

func newStore(t *testing.T, end string) *aStore {
	t.Helper()
	home := memoryDir(t)
	s := &aStore{
		daemonHome: &daemonHome{t: t, home: home, project: filepath.Join(home, "p")}, end: end,
		holds: map[string]string{},
	}
	write(t, s.project, map[string]string{"a": "one"})
	t.Cleanup(func() {
		program, err := realProgram()
		must(t, err)
		_ = s.command(program, "daemon", "stop").Run()
	})
	return s
}

func (s *aStore) copyTo(to string) {
	s.t.Helper()
	if out, err := exec.Command("cp", "-a", s.dir, to).CombinedOutput(); err != nil {
		s.t.Fatalf("cp: %v\n%s", err, out)
	}
}

// save takes a checkpoint, and keeps what it holds.
func (s *aStore) save(program, text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.project, "a"), []byte(text), 0o644))
	var v struct{ Checkpoint struct{ ID string } }
	must(s.t, json.Unmarshal([]byte(s.run(program, "save", "--json", text)), &v))
	s.holds[v.Checkpoint.ID] = text
}

// damagedStores makes a store for each end.
func damagedStores(t *testing.T, program string) []*aStore {
	t.Helper()
	var all []*aStore
	for _, end := range []string{"clean stop", "kill -9", "kill -9 in the first life"} {
		s := newStore(t, end)
		write(t, s.project, map[string]string{"large": noise(1, 3<<20)}) // a snapshot that goes into tables at once
		s.run(program, "init")
		list, err := filepath.Glob(filepath.Join(s.home, ".rewind/storage/*"))
		must(t, err)
		s.dir = list[0]
		saves := func(n int, what string) {
			for i := range n {
				s.save(program, fmt.Sprintf("%s %d", what, i))
			}
		}
		moment := func() {
			to := filepath.Join(s.home, fmt.Sprint("was", len(s.was)))
			s.copyTo(to)
			s.was = append(s.was, to)
		}
		saves(4, "first life")
		if end != "kill -9 in the first life" {
			moment()
			s.run(program, "daemon", "stop")
			saves(3, "second life")
			moment()
			s.run(program, "daemon", "stop")
			saves(3, "third life")
		}
		moment()
		saves(6, "last")
		pid := s.daemon(program).PID
		if end == "clean stop" {
			s.run(program, "daemon", "stop")
		} else {
			must(t, syscall.Kill(pid, syscall.SIGKILL))
		}
		eventuallyGone(t, pid)
		s.whole = filepath.Join(s.home, "whole")
		s.copyTo(s.whole)
		must(t, filepath.WalkDir(s.dir, func(path string, f fs.DirEntry, err error) error {
			if err == nil && f.Type().IsRegular() {
				rel, _ := filepath.Rel(s.dir, path)
				s.files = append(s.files, rel)
			}
			return err
		}))
		all = append(all, s)
	}
	return all
}

// restore puts the store back as it was left.
func (s *aStore) restore() {
	s.t.Helper()
	list, err := os.ReadDir(s.dir)
	must(s.t, err)
	for _, e := range list {
		must(s.t, os.RemoveAll(filepath.Join(s.dir, e.Name())))
	}
	if out, err := exec.Command("cp", "-a", s.whole+"/.", s.dir).CombinedOutput(); err != nil {
		s.t.Fatalf("cp: %v\n%s", err, out)
	}
}

// earlier are the paths of what a file was before, and of earlier files of its kind that are not there any more.
func (s *aStore) earlier(file string) (paths []string) {
	now, err := os.ReadFile(filepath.Join(s.dir, file))
	must(s.t, err)
	kind := func(name string) string { return strings.Trim(filepath.Base(name), "0123456789") }
	for _, was := range s.was {
		list, _ := os.ReadDir(filepath.Join(was, filepath.Dir(file)))
		for _, f := range list {
			path := filepath.Join(was, filepath.Dir(file), f.Name())
			b, err := os.ReadFile(path)
			same := f.Name() == filepath.Base(file)
			if err == nil && kind(f.Name()) == kind(file) &&
				(same && !bytes.Equal(b, now) || !same &&
					!slices.Contains(s.files, filepath.Join(filepath.Dir(file), f.Name()))) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// alone runs the program without a daemon.
func (s *aStore) alone(program string, args ...string) (code int, out, errs string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := s.command(program, args...)
	cmd.Env = append(cmd.Env, "REWIND_DAEMON=off")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// listed are the ids that list gives.
func (s *aStore) listed(program string) (code int, ids []string, errs string) {
	s.t.Helper()
	code, out, errs := s.alone(program, "list", "--all", "--limit", "0", "--json")
	var v struct{ Checkpoints []struct{ ID string } }
	if code == 0 || out != "" {
		must(s.t, json.Unmarshal([]byte(out), &v))
	}
	for _, c := range v.Checkpoints {
		ids = append(ids, c.ID)
	}
	return code, ids, errs
}

func (s *aStore) lacks(ids []string) (n int) {
	for id := range s.holds {
		if !slices.Contains(ids, id) {
			n++
		}
	}
	return n
}

// TestT22Promise06DamagedStore: the real program over a store of its own in which anything has happened to one file,
// after a clean stop, a kill -9, and one in the store's first life. What was acknowledged is there, or list ends with
// an error; verify never finds nothing where something is gone; nothing is removed; what can be had is there after a
// repair, and what cannot is named.
func TestT22Promise06DamagedStore(t *testing.T) {
	t.Parallel()
	m := torture.Begin(t)
	program, err := realProgram()
	must(t, err)
	type point struct {
		*aStore
		file   string
		damage torture.Damage
	}
	var logs, rest []point
	for _, s := range damagedStores(t, program) {
		for _, file := range s.files {
			for _, d := range torture.Damages {
				if p := (point{s, file, d}); strings.HasSuffix(file, ".log") {
					logs = append(logs, p)
				} else {
					rest = append(rest, p)
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(m.Seed, 2222))
	points, count := torture.Alternate(r, logs, rest), map[string]int{}
	for i := range m.Points {
		p := points[i%len(points)]
		p.restore()
		did, err := p.damage.Do(r, filepath.Join(p.dir, p.file), p.earlier(p.file))
		must(t, err)
		m.Point()
		if did == "" {
			continue
		}
		m.Fired(1)
		m.Acked(len(p.holds))
		word, lost := p.judge(t, program, r, fmt.Sprintf("%s, %s: %s", p.end, p.file, did))
		count[word]++
		m.Lost(lost)
	}
	t.Logf("%d points there are; %v", len(points), count)
}

// judge looks at a damaged store as a person would. lost counts the checkpoints that are gone without a word.
func (s *aStore) judge(t *testing.T, program string, r *rand.Rand, what string) (word string, lost int) {
	t.Helper()
	code, ids, errs := s.listed(program)
	if code == 0 {
		if n := s.lacks(ids); n > 0 {
			t.Errorf("%s: SILENT: list ends with 0 and lacks %d of %d checkpoints", what, n, len(s.holds))
			return "SILENT", n
		}
		checked, out, _ := s.alone(program, "verify")
		id := ids[r.IntN(len(ids))]
		read, text, errs := s.alone(program, "cat", id+":a")
		if want, ok := s.holds[id]; read == 0 && ok && text != want || read != 0 && checked == 0 {
			t.Errorf("%s: verify ends with %d, and cat %.12s gives %q, exit code %d\n%s%s", what, checked, id, text,
				read, errs, out)
			return "SILENT", 1
		}
		if checked != 0 {
			return fmt.Sprintf("verify %d", checked), 0
		}
		return "all there", 0
	}
	if !slices.Contains([]int{10, 16, 17}, code) || !strings.Contains(errs, `"message"`) {
		t.Errorf("%s: list ends with %d\n%s", what, code, errs)
	}
	word = fmt.Sprintf("list %d", code)
	if strings.Contains(errs, ": open ") || strings.Contains(errs, "open project") {
		s.nothingGone(t, what) // else it was opened to be written, and what was in the log is in tables
	}
	checked, out, errs := s.alone(program, "verify")
	if checked == 0 {
		t.Errorf("%s: list ends with %d, verify with 0\n%s%s", what, code, out, errs)
	}
	if code != 16 {
		return word, 0
	}
	repaired, out, errs := s.alone(program, "verify", "--repair")
	after, ids, _ := s.listed(program)
	switch {
	case repaired != 0 && repaired != 15 || after != 0:
		t.Errorf("%s: repair ends with %d, list then with %d\n%s%s", what, repaired, after, out, errs)
	case repaired == 0 && s.lacks(ids) > 0:
		t.Errorf("%s: SILENT: repair ends with 0, and %d of %d checkpoints are gone\n%s%s", what, s.lacks(ids),
			len(s.holds), out, errs)
		return "SILENT", s.lacks(ids)
	}
	return word + ", repaired", 0
}

// nothingGone: no table and no log of the store was removed that had been there.
func (s *aStore) nothingGone(t *testing.T, what string) {
	t.Helper()
	for _, file := range s.files {
		if ext := filepath.Ext(file); ext != ".sst" && ext != ".log" {
			continue
		}
		_, err := os.Stat(filepath.Join(s.dir, file))
		_, aerr := os.Stat(filepath.Join(s.dir, "db/archive", filepath.Base(file)))
		ours := strings.Contains(what, file+": removed") || strings.Contains(what, filepath.Base(file)+" is gone")
		if err != nil && aerr != nil && !ours {
			t.Errorf("%s: %s is gone", what, file)
		}
	}
}

// eventuallyGone waits for a process to end. A zombie has ended: its parent may never ask what became of it.
func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	for range 1000 {
		if procstate.See(pid).State == procstate.Gone {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("process %d does not end", pid)
}
