package confine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// place is a project and a scratch directory of a state of it, as bisect lays one out.
type place struct {
	t     *testing.T
	root  string
	view  *View
	level Level
}

func newPlace(t *testing.T, level Level) *place {
	t.Helper()
	if level != None && !slices.Contains(levels(t), level) {
		t.Skipf("missing: a view of level %v", level)
	}
	dir := t.TempDir()
	p := &place{t: t, root: filepath.Join(dir, "a, project:x"), level: level}
	session := filepath.Join(dir, "session")
	p.write("src/now", "now")
	p.write("build/out", "built")
	p.write("build/deep/er", "built")
	p.write("data/model.bin", "weights")
	p.write("local", "ignored file")
	p.link("build/abs", filepath.Join(p.root, "data"))
	tree := filepath.Join(session, "tree")
	for path, text := range map[string]string{"src/then": "then", "Makefile": "test:\n\trm -rf build/* data/*\n"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(tree, path)), 0o755))
		must(t, os.WriteFile(filepath.Join(tree, path), []byte(text), 0o644))
	}
	must(t, os.Symlink(filepath.Join(p.root, "data"), filepath.Join(tree, "tracked")))
	p.view = &View{Root: p.root, Tree: tree, Layers: filepath.Join(session, "layers")}
	switch level {
	case Overlay:
		p.view.Overlaid = []string{"build", "data"}
	case ReadOnly:
		p.view.ReadOnly = []string{"build", "data"}
		for _, name := range p.view.ReadOnly {
			must(t, os.Mkdir(filepath.Join(tree, name), 0o755))
		}
	}
	t.Cleanup(func() { removeLayers(session) })
	return p
}

// levels are those that work here, for who runs the test.
func levels(t *testing.T) (list []Level) {
	t.Helper()
	root, dir := t.TempDir(), t.TempDir()
	defer removeLayers(dir)
	for _, l := range []Level{Overlay, ReadOnly} {
		if try(context.Background(), l, root, filepath.Join(dir, l.String())) {
			list = append(list, l)
		}
	}
	return list
}

func (p *place) write(path, text string) {
	p.t.Helper()
	full := filepath.Join(p.root, path)
	must(p.t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(p.t, os.WriteFile(full, []byte(text), 0o644))
}

func (p *place) link(path, to string) { must(p.t, os.Symlink(to, filepath.Join(p.root, path))) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// state is all of a directory: names, modes, owners, contents, times.
func state(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case fi.Mode().IsRegular():
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = string(raw)
		case fi.Mode()&fs.ModeSymlink != 0:
			what, _ = os.Readlink(path)
		}
		st := fi.Sys().(*syscall.Stat_t)
		fmt.Fprintln(&b, strings.TrimPrefix(path, root), fi.Mode(), st.Uid, st.Gid, st.Nlink,
			fi.ModTime().UnixNano(), what)
		return nil
	}))
	return b.String()
}

// run runs a shell command in the view.
func (p *place) run(script string) (Outcome, string, error) {
	p.t.Helper()
	var out bytes.Buffer
	o, err := Run(context.Background(), p.command(&out, script))
	return o, out.String(), err
}

func (p *place) command(out *bytes.Buffer, script string) Command {
	return Command{
		Argv: []string{"sh", "-c", script}, Dir: p.view.Tree, Fallback: p.root,
		Env: append(os.Environ(), "P="+p.root), Stdout: out, Stderr: out,
		Level: p.level, View: p.view,
	}
}

// harms are what commands do to directories that no checkpoint has.
var harms = []string{
	"rm -rf build/* data/*",
	"rm -rf build data",
	"rm -rf build && mkdir build && echo new > build/out",
	"make test",
	"echo more >> build/out; : > data/model.bin",
	"chmod -R 777 build data; chmod 000 build/out",
	"mv build data/; mv data gone",
	"cd build && ln out second; ln -s out third; touch -d 2001-01-01 out",
	"dd if=/dev/zero of=data/model.bin bs=1 count=3 conv=notrunc",
	"rm -rf tracked/* build/abs/*", // by links with absolute paths
	"cd \"$P\"; rm -rf build/* data/*; echo x >> local; chmod 600 src/now; mkdir new; mv src gone",
	"rm -rf \"$P\"/*",
	"find build data -type f -delete; mkdir -p build/x; cp build/x build/y; truncate -s 0 data/model.bin",
	"(sleep 0.2; rm -rf build/* \"$P\"/build/*) & exit 0",
	"setsid sh -c 'sleep 0.2; rm -rf build/* \"$P\"/build/*' & exit 0",
}

// TestT27Promise20Harm: no command changes a byte, a mode or a name of the project, where the system has mounts.
func TestT27Promise20Harm(t *testing.T) {
	for _, level := range []Level{Overlay, ReadOnly} {
		t.Run(level.String(), func(t *testing.T) {
			for _, script := range harms {
				p := newPlace(t, level)
				before := state(t, p.root)
				_, out, err := p.run(script)
				if err != nil {
					t.Errorf("%s: %v\n%s", script, err, out)
				}
				if after := state(t, p.root); after != before {
					t.Errorf("%s changed the project from\n%s\nto\n%s", script, before, after)
				}
			}
		})
	}
}

// What the command sees: the state, the directories that were asked for, and by an absolute path the project as it is.
func TestView(t *testing.T) {
	p := newPlace(t, Overlay)
	for _, c := range [][2]string{
		{"ls", "Makefile\nbuild\ndata\nsrc\ntracked\n"},
		{"ls src; cat build/out", "then\nbuilt"},
		{"rm -rf build && ls && mkdir build", "Makefile\ndata\nsrc\ntracked\n"},
		{"ls build", ""}, // what was removed stays removed
		{"cat \"$P\"/local; ls \"$P\"/src", "ignored filenow\n"},
		{"echo x > \"$P\"/n; cat \"$P\"/n; pwd", "x\n" + p.view.Tree + "\n"},
	} {
		if o, out, err := p.run(c[0]); err != nil || o.Code != 0 || out != c[1] {
			t.Errorf("%s: %q, %+v, %v; want %q", c[0], out, o, err, c[1])
		}
	}
	if fi, err := os.Lstat(filepath.Join(p.root, "n")); err == nil {
		t.Errorf("it is in the project: %v", fi)
	}
}

// What is named to be written through is.
func TestThrough(t *testing.T) {
	for _, level := range []Level{Overlay, ReadOnly} {
		p := newPlace(t, level)
		p.write("cache/c", "c")
		p.view.Through = []string{"cache"}
		must(t, os.Symlink(filepath.Join(p.root, "cache"), filepath.Join(p.view.Tree, "cache")))
		if o, out, err := p.run("echo new > cache/c && echo more > \"$P\"/cache/d"); err != nil || o.Code != 0 {
			t.Fatalf("%v: %+v, %v\n%s", level, o, err, out)
		}
		for _, name := range []string{"c", "d"} {
			if raw, err := os.ReadFile(filepath.Join(p.root, "cache", name)); err != nil ||
				!strings.HasSuffix(string(raw), "\n") {
				t.Errorf("%v: %s is %q, %v", level, name, raw, err)
			}
		}
	}
}

// leavers leave processes behind; each writes its number to the file in $F.
var leavers = []string{
	"sleep 300 & echo $! > $F",
	"setsid sh -c 'echo $$ > $F; exec sleep 300' & until test -s $F; do sleep 0.01; done",
	"nohup setsid sh -c 'trap \"\" TERM INT HUP; echo $$ > $F; while :; do sleep 1; done' > /dev/null 2>&1 & " +
		"until test -s $F; do sleep 0.01; done",
	"(setsid sh -c '(setsid sh -c \"echo \\$\\$ > $F; exec sleep 300\" &) &' &); until test -s $F; do sleep 0.01; done",
	"setsid sh -c 'echo $$ > $F; kill -STOP $$; sleep 300' & until test -s $F; do sleep 0.01; done",
}

// leaversOf are all of them, or where only mounts differ the first ones.
func leaversOf(level Level) []string {
	if level == None {
		return leavers
	}
	return leavers[:2]
}

func (p *place) leave(script string) (file string, env []string) {
	file = filepath.Join(p.t.TempDir(), "id")
	return file, append(os.Environ(), "F="+file, "P="+p.root)
}

// alive reports whether the process whose number is in a file runs.
func alive(t *testing.T, file string) bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	must(t, err)
	id, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	must(t, err)
	for _, q := range processes() {
		if q.id == id && !q.ended {
			return true
		}
	}
	return false
}

// gone fails unless the process ends soon.
func gone(t *testing.T, what, file string) {
	t.Helper()
	for until := time.Now().Add(hard); alive(t, file); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			raw, _ := os.ReadFile(file)
			id, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
			_ = syscall.Kill(id, syscall.SIGKILL)
			t.Errorf("%s: a process is left", what)
			return
		}
	}
}

// TestT27Promise20Leavers: nothing that a command started outlives it, at its end, after a time, or after an interrupt.
func TestT27Promise20Leavers(t *testing.T) {
	for _, level := range []Level{None, ReadOnly, Overlay} {
		for _, script := range leaversOf(level) {
			p := newPlace(t, level)
			for _, how := range []string{"end", "timeout", "interrupt"} {
				var out bytes.Buffer
				c := p.command(&out, script)
				file, env := p.leave(script)
				c.Env = env
				ctx, cancel := context.WithCancel(context.Background())
				if how != "end" {
					c.Argv[2] += "; sleep 300"
				}
				if how == "timeout" {
					c.Timeout = 500 * time.Millisecond
				}
				if how == "interrupt" {
					go func() {
						for fi, err := os.Stat(file); err != nil || fi.Size() == 0; fi, err = os.Stat(file) {
							time.Sleep(time.Millisecond)
						}
						cancel()
					}()
				}
				o, err := Run(ctx, c)
				switch {
				case how == "end" && (err != nil || o.Late), how == "timeout" && (err != nil || !o.Late),
					how == "interrupt" && !errors.Is(err, context.Canceled), len(o.Left) > 0:
					t.Errorf("%v, %s, %s: %+v, %v\n%s", level, script, how, o, err, out.String())
				}
				cancel()
				if alive(t, file) {
					gone(t, fmt.Sprint(level, script, how, ": when it returned"), file)
					t.Errorf("%v, %s, %s: it runs after Run", level, script, how)
				}
			}
		}
	}
}

// TestT27Promise20WatcherKilled: who asked is killed, or its supervisor is.
func TestT27Promise20WatcherKilled(t *testing.T) {
	if dir := os.Getenv("CONFINE_TEST_DIR"); dir != "" {
		level, _ := strconv.Atoi(os.Getenv("CONFINE_TEST_LEVEL"))
		v := &View{Root: dir, Tree: os.Getenv("CONFINE_TEST_TREE"), Layers: os.Getenv("CONFINE_TEST_LAYERS")}
		_, err := Run(context.Background(), Command{
			Argv: []string{"sh", "-c", os.Getenv("CONFINE_TEST_SCRIPT")}, Dir: v.Tree, Env: os.Environ(),
			Level: Level(level), View: v,
		})
		fmt.Println("ended:", err)
		return
	}
	for _, level := range []Level{None, ReadOnly, Overlay} {
		for _, script := range leaversOf(level) {
			for _, victim := range []string{"client", "supervisor"} {
				p := newPlace(t, level)
				file, env := p.leave(script)
				cmd := exec.Command("/proc/self/exe", "-test.run=^TestT27Promise20WatcherKilled$")
				cmd.Env = append(env, "CONFINE_TEST_DIR="+p.root, "CONFINE_TEST_TREE="+p.view.Tree,
					"CONFINE_TEST_LAYERS="+p.view.Layers,
					fmt.Sprint("CONFINE_TEST_LEVEL=", int(level)), "CONFINE_TEST_SCRIPT="+script+"; sleep 300")
				must(t, cmd.Start())
				for fi, err := os.Stat(file); err != nil || fi.Size() == 0; fi, err = os.Stat(file) {
					time.Sleep(time.Millisecond)
				}
				id := cmd.Process.Pid
				if victim == "supervisor" {
					id = childOf(t, id)
				}
				must(t, syscall.Kill(id, syscall.SIGKILL))
				_ = cmd.Wait()
				gone(t, fmt.Sprintf("%v, %s, %s killed", level, script, victim), file)
			}
		}
	}
}

// TestTornList: a list in which a process has a parent that is not in it was read while that one ended.
func TestTornList(t *testing.T) {
	whole := []process{{id: 1}, {id: 2, parent: 1}, {id: 9, parent: 2}, {id: 5, parent: 0}}
	if torn(whole) || torn(nil) || !torn(append(whole, process{id: 7, parent: 6})) {
		t.Error("a list is torn where a parent is missing, and only there")
	}
}

func childOf(t *testing.T, parent int) int {
	t.Helper()
	for _, p := range processes() {
		if p.parent == parent && !p.ended {
			return p.id
		}
	}
	t.Fatalf("process %d has no child", parent)
	return 0
}

// What a command ends with, and what it gets.
func TestRun(t *testing.T) {
	for _, level := range []Level{None, ReadOnly, Overlay} {
		p := newPlace(t, level)
		for script, code := range map[string]int{
			"exit 0": 0, "exit 125": 125, "exit 7": 7, "kill -SEGV $$": 139,
			"test -z \"$(cat)\"": 0,
		} {
			if o, out, err := p.run(script); err != nil || o.Code != code || o.Late || len(o.Left) > 0 {
				t.Errorf("%v: %s: %+v, %v\n%s", level, script, o, err, out)
			}
		}
		c := p.command(&bytes.Buffer{}, "")
		c.Dir += "/nosuch"
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrNoDir) {
			t.Errorf("%v: %v, want ErrNoDir", level, err)
		}
		c = p.command(&bytes.Buffer{}, "")
		c.Argv = []string{"./nosuch"}
		var bad *StartError
		if _, err := Run(context.Background(), c); !errors.As(err, &bad) || !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%v: %v, want a *StartError", level, err)
		}
		p.write("run.sh", "#!/bin/sh\nexit 9\n")
		must(t, os.Chmod(filepath.Join(p.root, "run.sh"), 0o755))
		c = p.command(&bytes.Buffer{}, "")
		fell := false
		c.Argv, c.Started = []string{"./run.sh"}, func(s Started) { fell = s.Fell }
		if o, err := Run(context.Background(), c); err != nil || o.Code != 9 || !fell {
			t.Errorf("%v: %+v, %v, fell %v", level, o, err, fell)
		}
	}
}

// A command has no more rights than who asked, and the mounts are nobody else's.
func TestNoRightsAndNoMountsLeft(t *testing.T) {
	p := newPlace(t, Overlay)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	_, out, err := p.run("grep -E 'CapEff|CapAmb|CapPrm' /proc/self/status; umount \"$P\" && echo unmounted")
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 && (strings.Count(out, "0000000000000000") != 3 || strings.Contains(out, "unmounted")) {
		t.Errorf("it has rights:\n%s", out)
	}
	after, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	if !bytes.Equal(mounts, after) {
		t.Errorf("mounts are left:\n%s", after)
	}
}
