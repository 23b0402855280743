package apply_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
	"rewind/tree/apply"
)

// TestT12ApplyRefuses: paths that are never written become conflicts, whatever the store says; the rest is done.
func TestT12ApplyRefuses(t *testing.T) {
	names := []string{
		".git", ".GIT", ".git/config", ".Git/hooks/pre-commit", "sub/.git", "sub/.git/HEAD", "sub/.gIt ", ".git.",
		".git. .", "git~1",
		"GIT~1/config", "sub/git~1",
		".git::$INDEX_ALLOCATION", ".git:x", ".g\u200cit/config", "\ufeff.git", ".git\u200d/x", "sub\\.git\\config",
		".git\\config",
		".g\u00adit",
		".agent/rewind", ".agent/rewind/store", ".AGENT/Rewind/config.json", ".agent./rewind /x", ".ag\u200cent/rewind",
		"../out", "a/../../out", "..", ".", "", "/etc/passwd", "sub//x", "sub/./x", "sub/../x", "nul\x00byte", "sub/",
		strings.Repeat("n", 256), "sub/" + strings.Repeat("n", 300),
	}
	for i, n := range names {
		for _, kind := range []string{"create", "link", "mkdir", "delete"} {
			t.Run(fmt.Sprint(i, kind), func(t *testing.T) {
				base := applyDir(t)
				dir := filepath.Join(base, "in")
				from := applyState{
					"sub": nd(0o755), "f": nf("f", 0o644), ".git": nd(0o755), ".git/HEAD": nf("head", 0o644),
					".git/config": nf("c", 0o644),
				}
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				buildState(t, dir, from)
				s := tree.Change{Path: n}
				switch kind {
				case "create":
					s.New = nf("evil", 0o755).entry(n)
				case "link":
					s.New = nl("evil").entry(n)
				case "mkdir":
					s.New = nd(0o755).entry(n)
				case "delete":
					s.Old = nf("head", 0o644).entry(n)
				}
				to := applyState{"f": nf("g", 0o644)}
				b := applyBlobs{}.add(from).add(to).add(applyState{"x": nf("evil", 0)})
				steps := []tree.Change{s, {Path: "f", Old: from["f"].entry("f"), New: to["f"].entry("f")}}
				r, err := runApply(t, dir, steps, b, &faultfs.Script{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Done != 1 || len(r.Conflicts) != 1 || string(r.Conflicts[0].Path) != n {
					t.Errorf("%+v", r)
				}
				from["f"] = to["f"]
				if d := readState(t, dir).diff(from); d != "" {
					t.Errorf("tree differs:\n%s", d)
				}
				if list, _ := os.ReadDir(base); len(list) != 1 {
					t.Errorf("beside the root: %v", list)
				}
				if left := stageHolds(t, dir); len(left) > 0 {
					t.Errorf("stage holds %q", left)
				}
			})
		}
	}
}

func TestApplyBadSteps(t *testing.T) {
	f := nf("f", 0o644).entry("f")
	for i, steps := range [][]tree.Change{
		{{Path: "f"}},
		{{Path: "f", New: f}, {Path: "f", Old: f}},
		{{Path: "f", New: &tree.Entry{Name: "f", Type: 'x'}}},
	} {
		if _, err := runApply(t, applyDir(t), steps, nil, &faultfs.Script{}); !errors.Is(err, apply.BadSteps) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestT12ParentSwapped: before every call, a directory is moved away and something else put in its place: a link that
// leads out, one that leads elsewhere inside, a loop, a file, another directory. Nothing outside is touched, and no
// bytes are lost.
func TestT12ParentSwapped(t *testing.T) {
	from := applyState{
		"p": nd(0o755), "p/d": nd(0o755), "p/d/e": nf("e before", 0o644), "p/d/gone": nf("gone before", 0o644),
		"p/d/x": nf("x before",
			0o644),
		"p/d/t": nf("t before", 0o644), "q": nd(0o755), "q/e": nf("q's e", 0o644), "p/ro": nd(0o555),
		"p/ro/f": nf("ro before", 0o644),
	}
	to := applyState{
		"p": nd(0o755), "p/d": nd(0o755), "p/d/e": nf("e after", 0o644), "p/d/x": nf("x before", 0o755),
		"p/d/n": nf("n after",
			0o644), "p/d/m": nd(0o755),
		"p/d/m/o": nf("o after", 0o644), "p/d/t": nd(0o755), "p/d/t/u": nl("out"), "q": nd(0o755), "q/e": nf("q's e",
			0o644), "p/ro": nd(0o555), "p/ro/f": nf("ro after", 0o644),
	}
	b := applyBlobs{}.add(from).add(to)
	steps := stepsBetween(from, to)
	cases := 0
	for _, victim := range []string{"p", "p/d", "p/ro"} {
		for _, kind := range []string{"out", "inside", "loop", "file", "dir", "nothing"} {
			for n := 1; ; n++ {
				base := applyDir(t)
				dir, out := filepath.Join(base, "in"), filepath.Join(base, "out")
				for _, d := range []string{dir, out, filepath.Join(out, "d")} {
					if err := os.Mkdir(d, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				precious := applyState{
					"d": nd(0o755), "e": nf("out e", 0o644), "gone": nf("out gone", 0o644), "d/e": nf("out d/e", 0o644),
					"f": nf("out f", 0o644),
				}
				for p, x := range precious {
					if x.typ == tree.TypeFile {
						if err := os.WriteFile(filepath.Join(out, p), []byte(x.data), 0o644); err != nil {
							t.Fatal(err)
						}
					}
				}
				buildState(t, dir, from)
				full := filepath.Join(dir, victim)
				hit := false
				s := &faultfs.Script{Before: func(i int, _ faultfs.Call) {
					if i != n {
						return
					}
					hit = true
					if err := os.Rename(full, filepath.Join(dir, "moved")); err != nil {
						t.Fatal(err)
					}
					var err error
					switch kind {
					case "out":
						err = os.Symlink(out, full)
					case "inside":
						err = os.Symlink(filepath.Join(dir, "q"), full)
					case "loop":
						err = os.Symlink(filepath.Base(full), full)
					case "file":
						err = os.WriteFile(full, []byte("racing file"), 0o644)
					case "dir":
						err = os.Mkdir(full, 0o755)
					}
					if err != nil {
						t.Fatal(err)
					}
				}}
				r, err := runApply(t, dir, steps, b, s)
				if err != nil {
					t.Fatalf("%s by %s before call %d: %v", victim, kind, n, err)
				}
				if !hit {
					break
				}
				cases++
				savedExist(t, dir, r)
				if d := readState(t, out).diff(precious); d != "" {
					t.Errorf("outside was touched:\n%s", d)
				}
				got := readState(t, dir)
				if got["q/e"] != from["q/e"] {
					t.Errorf("what the link led to was touched: %v", got["q/e"])
				}
				if kind == "file" && got[victim].data != "racing file" {
					t.Errorf("the racing file is lost: %v", got[victim])
				}
				if t.Failed() {
					t.Fatalf("%s by %s before call %d of\n%s\n%+v", victim, kind, n, s.Log(), r.Conflicts)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 150 {
		t.Errorf("only %d cases", cases)
	}
}

// TestT12SymlinkParent: a parent that is a link from the start is named, not followed, for every kind of step.
func TestT12SymlinkParent(t *testing.T) {
	for _, target := range []string{"real", ".", "..", "/", "p", "none", "/etc"} {
		dir := applyDir(t)
		disk := applyState{"real": nd(0o755), "real/f": nf("f", 0o644), "real/g": nf("g", 0o644), "p": nl(target)}
		buildState(t, dir, disk)
		old, x := nf("f", 0o644), nf("new", 0o644)
		b := applyBlobs{}.add(disk).add(applyState{"x": x})
		steps := []tree.Change{
			{Path: "p/f", Old: old.entry("f"), New: x.entry("f")},
			{Path: "p/g", Old: nf("g", 0o644).entry("g")},
			{Path: "p/new", New: x.entry("new")},
			{Path: "p/sub", New: nd(0o755).entry("sub")},
			{Path: "p/sub/deep", New: x.entry("deep")},
		}
		r, err := runApply(t, dir, steps, b, &faultfs.Script{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Done != 0 || len(r.Conflicts) != len(steps) {
			t.Errorf("%s: %+v", target, r)
		}
		for _, c := range r.Conflicts {
			if !strings.Contains(c.Reason, "its directory p is now") {
				t.Errorf("%s: %+v", target, c)
			}
		}
		if d := readState(t, dir).diff(disk); d != "" {
			t.Errorf("%s: touched:\n%s", target, d)
		}
	}
}

// TestT12Surprises: what is at a path is neither From nor To: it stays, byte and mode, and is named.
func TestT12Surprises(t *testing.T) {
	there := map[string]applyNode{
		"file": nf("surprise", 0o644), "same size": nf("bEfore", 0o644), "mode": nf("before", 0o600),
		"dir": nd(0o755), "link": nl("elsewhere"), "nothing": {},
	}
	froms := map[string]*applyNode{
		"file": new(nf("before", 0o644)), "link": new(nl("before")), "dir": new(nd(0o700)),
		"nothing": nil,
	}
	tos := map[string]*applyNode{
		"file": new(nf("after!", 0o644)), "link": new(nl("after!")), "dir": new(nd(0o711)),
		"nothing": nil,
	}
	cases := 0
	for what, disk := range there {
		for fname, from := range froms {
			for tname, to := range tos {
				s := tree.Change{Path: "x"}
				if from != nil {
					s.Old = from.entry("x")
				}
				if to != nil {
					s.New = to.entry("x")
				}
				if s.Old == nil && s.New == nil {
					continue
				}
				absent := what == "nothing"
				if absent && (s.Old == nil || s.New == nil || s.Old.Type == tree.TypeDir ||
					s.New.Type == tree.TypeDir) || what == "dir" &&
					fname == "dir" && tname != "dir" {
					continue // not a surprise
				}
				cases++
				t.Run(what+" for "+fname+" to "+tname, func(t *testing.T) {
					dir := applyDir(t)
					there := applyState{"x": disk}
					if absent {
						there = applyState{}
					}
					buildState(t, dir, there)
					b := applyBlobs{}.add(applyState{"1": nf("after!", 0)})
					r, err := runApply(t, dir, []tree.Change{s}, b, &faultfs.Script{})
					if err != nil {
						t.Fatal(err)
					}
					if len(r.Conflicts) != 1 || r.Conflicts[0].Path != "x" || r.Conflicts[0].Reason == "" ||
						r.Done != 0 {
						t.Errorf("%+v", r)
					}
					if d := readState(t, dir).diff(there); d != "" {
						t.Errorf("touched:\n%s", d)
					}
					if left := stageHolds(t, dir); len(left) > 0 {
						t.Errorf("stage holds %q", left)
					}
				})
			}
		}
	}
	t.Logf("%d cases", cases)
}

// TestT12Deep: steps deeper than any path can be long.
func TestT12ApplyDeep(t *testing.T) {
	const depth = 300
	name := strings.Repeat("d", 30)
	var steps []tree.Change
	path := ""
	for range depth {
		path = tree.Join(path, name)
		steps = append(steps, tree.Change{Path: path, New: nd(0o755).entry(path)})
	}
	leaf := nf("leaf", 0o444)
	steps = append(steps, tree.Change{Path: path + "/leaf", New: leaf.entry("leaf")},
		tree.Change{Path: path + "/link", New: nl("leaf").entry("link")})
	b := applyBlobs{}.add(applyState{"1": leaf, "2": nl("leaf")})
	dir := applyDir(t)
	for _, s := range [][]tree.Change{steps, steps, tree.Reverse(steps), tree.Reverse(steps)} {
		r, err := runApply(t, dir, s, b, &faultfs.Script{})
		if err != nil || len(r.Conflicts) > 0 || r.Done != len(s) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if d := readState(t, dir).diff(applyState{}); d != "" {
		t.Error(d)
	}
}

// foldDir is a directory on a file system that holds names for the same that differ in case or composition alone.
type foldDir struct{ worktreefs.Dir }

func (d foldDir) Unwrap() worktreefs.Dir { return d.Dir }

func foldName(n string) string { return strings.ToLower(strings.ReplaceAll(n, "e\u0301", "é")) }

// real gives the spelling of a name that is there.
func (d foldDir) real(n string) string {
	list, _ := d.ReadDir()
	for _, e := range list {
		if foldName(e.Name) == foldName(n) {
			return e.Name
		}
	}
	return n
}

func (d foldDir) taken(n string) error {
	if _, err := d.Dir.Lstat(d.real(n)); err == nil {
		return worktreefs.ErrExist
	}
	return nil
}

func (d foldDir) Lstat(n string) (worktreefs.Stat, error) { return d.Dir.Lstat(d.real(n)) }
func (d foldDir) Readlink(n string) (string, error)       { return d.Dir.Readlink(d.real(n)) }
func (d foldDir) Remove(n string) error                   { return d.Dir.Remove(d.real(n)) }
func (d foldDir) Rmdir(n string) error                    { return d.Dir.Rmdir(d.real(n)) }
func (d foldDir) Chmod(n string, p uint16) error          { return d.Dir.Chmod(d.real(n), p) }

func (d foldDir) CreateFile(n string, p uint16) (worktreefs.WFile, error) {
	if err := d.taken(n); err != nil {
		return nil, err
	}
	return d.Dir.CreateFile(n, p)
}

func (d foldDir) Mkdir(n string, p uint16) error {
	if err := d.taken(n); err != nil {
		return err
	}
	return d.Dir.Mkdir(n, p)
}

func (d foldDir) Symlink(target, n string) error {
	if err := d.taken(n); err != nil {
		return err
	}
	return d.Dir.Symlink(target, n)
}

func (d foldDir) Open(n string) (worktreefs.File, worktreefs.Stat, error) {
	return d.Dir.Open(d.real(n))
}

func (d foldDir) OpenDir(n string) (worktreefs.Dir, error) {
	below, err := d.Dir.OpenDir(d.real(n))
	return foldDir{below}, err
}

func unfold(d worktreefs.Dir) foldDir {
	for {
		if f, ok := d.(foldDir); ok {
			return f
		}
		d = d.(interface{ Unwrap() worktreefs.Dir }).Unwrap()
	}
}

func (d foldDir) Move(n string, to worktreefs.Dir, toName string) error {
	if err := unfold(to).taken(toName); err != nil {
		return err
	}
	return d.Dir.Move(d.real(n), to, toName)
}

func (d foldDir) Exchange(n string, o worktreefs.Dir, oName string) error {
	return d.Dir.Exchange(d.real(n), o, unfold(o).real(oName))
}

// TestT12Collisions: on a file system that folds names, renames of case work, and two names for one entry never
// overwrite.
func TestT12Collisions(t *testing.T) {
	one, two := nf("one", 0o644), nf("two", 0o644)
	for _, c := range []struct {
		name           string
		from, to, want applyState
		conflicts      int
	}{
		{"rename of case", applyState{"Foo": one}, applyState{"foo": one}, applyState{"foo": one}, 0},
		{"rename and edit", applyState{"Foo": one}, applyState{"foo": two}, applyState{"foo": two}, 0},
		{
			"directory",
			applyState{"Dir": nd(0o755), "Dir/a": one, "Dir/b": one},
			applyState{"dir": nd(0o755), "dir/a": one, "dir/b": two},
			applyState{"dir": nd(0o755), "dir/a": one, "dir/b": two},
			0,
		},
		{"two of one", applyState{}, applyState{"A": one, "a": two}, applyState{"A": one}, 1},
		{"two of one, same", applyState{}, applyState{"A": one, "a": one}, applyState{"A": one}, 1},
		{
			"two of one in a new directory",
			applyState{},
			applyState{
				"n": nd(0o755), "n/A": one, "n/a": two, "n/D": nd(0o755), "n/D/x": one, "n/d": nd(0o755), "n/d/y": two,
				"n/d/e": nd(0o755), "n/d/e/z": two,
			},
			applyState{"n": nd(0o755), "n/A": one, "n/D": nd(0o755), "n/D/x": one},
			5,
		},
		{
			"two directories",
			applyState{},
			applyState{"D": nd(0o755), "D/x": one, "d": nd(0o755), "d/x": two, "d/y": two},
			applyState{"D": nd(0o755), "D/x": one},
			3,
		},
		{"composition", applyState{"caf\u00e9": one}, applyState{"cafe\u0301": two}, applyState{"cafe\u0301": two}, 0},
		{
			"two compositions",
			applyState{},
			applyState{"caf\u00e9": one, "cafe\u0301": two},
			applyState{"cafe\u0301": two},
			1,
		},
		{"link and file", applyState{}, applyState{"L": nl("x"), "l": one}, applyState{"L": nl("x")}, 1},
		{"directory and file", applyState{}, applyState{"D": nd(0o755), "d": one}, applyState{"D": nd(0o755)}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := applyDir(t)
			buildState(t, dir, c.from)
			real, err := worktreefs.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer real.Close()
			root := foldDir{real}
			stage, err := apply.OpenStage(root, testStage)
			if err != nil {
				t.Fatal(err)
			}
			defer stage.Close()
			b := applyBlobs{}.add(c.from).add(c.to)
			r, err := apply.Run(context.Background(),
				apply.Options{Root: root, Stage: stage, Op: "7", Steps: stepsBetween(c.from, c.to), Open: b.open})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Conflicts) != c.conflicts {
				t.Errorf("%+v", r)
			}
			if d := readState(t, dir).diff(c.want); d != "" {
				t.Errorf("tree differs:\n%s", d)
			}
			if left := stageHolds(t, dir); len(left) > 0 {
				t.Errorf("stage holds %q", left)
			}
		})
	}
}

// plain is a file system without exchange.
type plain struct{ worktreefs.Dir }

func (d plain) Unwrap() worktreefs.Dir { return d.Dir }

func (d plain) OpenDir(n string) (worktreefs.Dir, error) {
	below, err := d.Dir.OpenDir(n)
	return plain{below}, err
}

func (d plain) Exchange(string, worktreefs.Dir, string) error { return worktreefs.ErrUnsupported }

// TestT10WithoutExchange: the way by two renames, cut short at every call.
func TestT10WithoutExchange(t *testing.T) {
	eachScenario(t, func(t *testing.T, from, to applyState, b applyBlobs) {
		steps := stepsBetween(from, to)
		run := func(dir string, steps []tree.Change, s *faultfs.Script) (apply.Result, error) {
			real, err := worktreefs.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer real.Close()
			s.NoSync = true
			root := plain{faultfs.Wrap(real, s)}
			stage, err := worktreefs.OpenPath(root, testStage)
			if err != nil {
				t.Fatal(err)
			}
			defer stage.Close()
			return apply.Run(context.Background(),
				apply.Options{Root: root, Stage: stage, Op: "7", Steps: steps, Open: b.open})
		}
		for n := 1; ; n++ {
			dir := applyDir(t)
			if err := os.MkdirAll(filepath.Join(dir, testStage), 0o700); err != nil {
				t.Fatal(err)
			}
			buildState(t, dir, from)
			s := &faultfs.Script{CrashAt: n}
			_, err := run(dir, steps, s)
			want, again := to, steps
			if n%2 == 0 {
				want, again = from, tree.Reverse(steps)
			}
			if err == nil {
				want, again = to, steps
			}
			r, err2 := run(dir, again, &faultfs.Script{})
			if err2 != nil || len(r.Conflicts) > 0 {
				t.Fatalf("cut at %d: %+v %v", n, r, err2)
			}
			if d := readState(t, dir).diff(want); d != "" {
				t.Fatalf("cut at %d:\n%s\n%s", n, d, s.Log())
			}
			if err == nil {
				break
			}
		}
	})
}

// half tells the test binary that it is started for one purpose: "nobody" or "mounts".
const half = "TREE_TEST_HALF"

// again runs tests in another process.
func again(t *testing.T, run, as string, attr *syscall.SysProcAttr) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("missing tool: superuser")
	}
	base, err := os.MkdirTemp("", "half")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	exe, work := filepath.Join(base, "test"), filepath.Join(base, "work")
	if err := errors.Join(os.WriteFile(exe, data, 0o755), os.Mkdir(work, 0o777), os.Chmod(base, 0o755), os.Chmod(work, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", run)
	cmd.Dir, cmd.SysProcAttr = work, attr
	cmd.Env = append(os.Environ(), half+"="+as, "TMPDIR="+work)
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("missing tool: " + as)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestApplyUnprivileged runs the tests of read-only directories and sealed files as a user that is refused things.
func TestApplyUnprivileged(t *testing.T) {
	if os.Getenv(half) != "" {
		t.Skip("missing tool: privileges to drop")
	}
	again(t, "^(TestApplyReachesTarget|TestT10Crash|TestApplyForeign)$", "nobody",
		&syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
}

// TestApplyForeign: what the system refuses is a conflict, and the rest is done.
func TestApplyForeign(t *testing.T) {
	if os.Getenv(half) != "nobody" {
		return // only of use without privileges: see TestApplyUnprivileged
	}
	dir := onDisk(t)
	from := applyState{"a": nf("a", 0o644)}
	buildState(t, dir, from)
	if err := os.Symlink("/", filepath.Join(dir, "root")); err != nil {
		t.Fatal(err)
	}
	real, err := worktreefs.OpenRoot("/proc/sys") // directories of another owner
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	x := nf("x", 0o644)
	steps := []tree.Change{{Path: "kernel/new", New: x.entry("new")}}
	stage, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	b := applyBlobs{}.add(applyState{"x": x})
	if r, err := apply.Run(context.Background(),
		apply.Options{Root: real, Stage: stage, Op: "7", Steps: steps, Open: b.open}); err == nil &&
		len(r.Conflicts) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestApplyMounts runs TestApplyOtherFileSystem where it can mount.
func TestApplyMounts(t *testing.T) {
	if os.Getenv(half) != "" {
		t.Skip("missing tool: mounts")
	}
	again(t, "^TestApplyOtherFileSystem$", "mounts", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS})
}

// TestApplyOtherFileSystem: steps on a mount inside the tree, and on a bind mount of the tree's own device, are staged
// beside their target, cut short at every call.
func TestApplyOtherFileSystem(t *testing.T) {
	if os.Getenv(half) != "mounts" {
		return // only of use in its own mount namespace: see TestApplyMounts
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	from := applyState{
		"f": nf("f", 0o644), "mnt": nd(0o755), "mnt/f": nf("mf", 0o644), "mnt/d": nd(0o555), "mnt/d/g": nf("g", 0o600),
		"bind": nd(0o755), "bind/h": nf("h", 0o644),
	}
	to := applyState{
		"f": nf("ff", 0o644), "mnt": nd(0o755), "mnt/f": nl("x"), "mnt/d": nd(0o555), "mnt/d/g": nf("gg", 0o644),
		"mnt/n": nd(0o755), "mnt/n/o": nf("o", 0o644), "bind": nd(0o755), "bind/i": nf("i", 0o644),
	}
	b := applyBlobs{}.add(from).add(to)
	steps := stepsBetween(from, to)
	for n := 1; ; n++ {
		base := onDisk(t)
		dir, bound := filepath.Join(base, "in"), filepath.Join(base, "bound")
		for _, d := range []string{dir, bound, filepath.Join(dir, "mnt"), filepath.Join(dir, "bind")} {
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		mnt, bind := filepath.Join(dir, "mnt"), filepath.Join(dir, "bind")
		if err := errors.Join(syscall.Mount("none", mnt, "tmpfs", 0, "mode=755"),
			syscall.Mount(bound, bind, "", syscall.MS_BIND, "")); err != nil {
			t.Fatal(err)
		}
		done := func() bool {
			defer func() {
				if err := errors.Join(syscall.Unmount(mnt, 0), syscall.Unmount(bind, 0)); err != nil {
					t.Fatal(err)
				}
			}()
			rest := applyState{}
			for p, x := range from {
				if p != "mnt" && p != "bind" {
					rest[p] = x
				}
			}
			buildState(t, dir, rest)
			_, err := runApply(t, dir, steps, b, &faultfs.Script{CrashAt: n})
			if err == nil || n%2 == 1 {
				mustReach(t, dir, steps, b, to)
			} else {
				mustReach(t, dir, tree.Reverse(steps), b, from)
			}
			return err == nil
		}()
		if t.Failed() {
			t.Fatalf("cut at %d", n)
		}
		if done {
			if n < 20 {
				t.Errorf("only %d calls", n)
			}
			break
		}
	}
}

// sortedSyncs sorts every run of syncs in a call log: they are made at once, each by its own goroutine.
func sortedSyncs(log string) string {
	lines := strings.SplitAfter(log, "\n")
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && strings.HasPrefix(lines[to], "sync") {
			to++
		}
		slices.Sort(lines[from:to])
		from = to + 1
	}
	return strings.Join(lines, "")
}

// TestApplyCallLog holds the order of create, sync, rename and sync of the directory against a golden file.
func TestApplyCallLog(t *testing.T) {
	from := applyState{
		"a": nf("one", 0o644), "d": nd(0o755), "d/gone": nf("g", 0o644), "p": nf("p", 0o644), "ro": nd(0o555),
		"ro/f": nf("f", 0o644), "t": nf("t", 0o644),
	}
	to := applyState{
		"a": nf("two", 0o755), "l": nl("a"), "p": nf("p", 0o600), "ro": nd(0o555), "ro/f": nf("ff", 0o644),
		"t":    nd(0o755),
		"t/in": nf("in", 0o644),
	}
	dir := applyDir(t)
	buildState(t, dir, from)
	s := &faultfs.Script{}
	if _, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), s); err != nil {
		t.Fatal(err)
	}
	log := strings.ReplaceAll(sortedSyncs(s.Log()), testStage, "STAGE")
	for _, st := range []applyState{from, to} {
		for p := range st {
			log = strings.ReplaceAll(log, apply.KeyOf(p), "["+p+"]")
		}
	}
	const golden = "testdata/calls.golden"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(log), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if log != string(want) {
		t.Errorf("calls are\n%s\nwant\n%s", log, want)
	}
}
