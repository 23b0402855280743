package project_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/project"
)

// A place is a directory with a project in it, at root/a, and what belongs to it.
type place struct {
	*testing.T
	home project.Home
	root string // symlinks resolved
	id   string
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *place) dir(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *place) write(name, text string) {
	p.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.dir(name)), 0o755))
	p.must(os.WriteFile(p.dir(name), []byte(text), 0o644))
}

// git runs git in a directory, without anybody's configuration.
func (p *place) git(name string, args ...string) {
	p.Helper()
	p.must(os.MkdirAll(p.dir(name), 0o755))
	as := []string{"-c", "user.name=n", "-c", "user.email=e", "-C", p.dir(name)}
	cmd := exec.Command("git", append(as, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func newPlace(t *testing.T, mode project.Mode) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	p := &place{T: t, home: project.Home{Dir: t.TempDir()}, root: root}
	p.must(err)
	p.write("a/f", "1")
	p.id = p.set("a", mode)
	return p
}

// set makes a directory a project.
func (p *place) set(name string, mode project.Mode) (id string) {
	p.Helper()
	e, _, err := engine.Init(enginetest.Bg, p.home, p.dir(name), mode, patient)
	p.must(err)
	id = e.Project().ID
	p.must(e.Close())
	return id
}

// patient waits for a store: until a program is started, the process that is to be it has the lock of a store that
// another test had open.
var patient = project.Options{LockWait: time.Minute}

// found is which project is found in a directory, and what is said of it.
func (p *place) found(name string) string {
	is, err := project.Find(context.Background(), p.home, p.dir(name), time.Second)
	if err != nil {
		return "error: " + p.short(err.Error())
	}
	out := p.short(is.Root)
	if is.ID != p.id {
		out += ", another"
	}
	if is.Copied {
		out += ", copied"
	}
	for _, said := range is.Notices {
		out += " | " + p.short(said)
	}
	return out
}

func (p *place) short(text string) string {
	return strings.NewReplacer(p.root+"/", "", p.root, "root", p.id, "ID", p.home.Dir, "HOME").Replace(text)
}

// path is a name below the place, or below HOME; ID stands for the id of its project.
func (p *place) path(name string) string {
	name = strings.ReplaceAll(name, "ID", p.id)
	if rest, ok := strings.CutPrefix(name, "HOME"); ok {
		return p.home.Dir + rest
	}
	return p.dir(name)
}

// said is what an error says; "": there is none.
func (p *place) said(err error) string {
	if err == nil {
		return ""
	}
	return p.short(err.Error())
}

// stores are those that are known, and what is wrong with them.
func (p *place) stores() string {
	var out []string
	for _, s := range p.home.Stores() {
		one := p.short(string(s.Root))
		if s.Wrong != "" {
			one += ": " + p.short(string(s.Wrong))
		}
		if s.Orphan {
			one += " (orphan)"
		}
		out = append(out, one)
	}
	return strings.Join(out, ", ")
}

// TestPlaces: which project is found where a directory was moved, copied, emptied or stripped of its marker, at first
// and then, and the stores that are known behind that.
func TestPlaces(t *testing.T) {
	const none = "error: find project of b: not a rewind project"
	const empty = "error: open project a: the directory is not the one that was set up: it is empty; " +
		"a disk that is not mounted looks like that"
	const missing = "error: open project a: the store is missing: "
	const moved = "b | the project has moved here from a"
	const copied = "b, another, copied | this is a copy of a: " +
		"it has a store of its own now, with the history up to here"
	const gone = "a: the directory is gone, or not mounted (orphan)"
	const nobody = "error: open project b: the store is missing: HOME/storage/00000000000000000000000000000000; " +
		"the marker may be another machine's or user's"
	const noID = "error: open project b: the store is missing: the marker names none"
	const again = "a | the marker .agent/rewind did not name this project's store and has been written again"
	unknown := strings.Repeat("0", 32) + "\n"
	remove := func(names ...string) func(*place) {
		return func(p *place) {
			for _, name := range names {
				p.must(os.RemoveAll(p.dir(name)))
			}
		}
	}
	rename := func(p *place) { p.must(os.Rename(p.dir("a"), p.dir("b"))) }
	clone := func(p *place) { p.must(os.CopyFS(p.dir("b"), os.DirFS(p.dir("a")))) }
	all := func(list ...func(*place)) func(*place) {
		return func(p *place) {
			for _, do := range list {
				do(p)
			}
		}
	}
	for _, tt := range []struct {
		what          string
		do            func(p *place)
		at            string    // where it is looked for
		global, local [3]string // at first, then (the same where that is empty), and the stores
	}{
		{"as it was", all(), "a", [3]string{"a", "", "a"}, [3]string{"a", "", "a"}},
		{
			"below it", func(p *place) { p.write("a/b/c/x", "1") }, "a/b/c",
			[3]string{"a", "", "a"},
			[3]string{"a", "", "a"},
		},
		{"beside it", func(p *place) { p.write("b/x", "1") }, "b", [3]string{none, "", "a"}, [3]string{none, "", "a"}},
		{"moved", rename, "b", [3]string{moved, "b", "b"}, [3]string{moved, "b", "b"}},
		{"copied", clone, "b", [3]string{copied, "b, another", "a, b"}, [3]string{copied, "b, another", "a, b"}},
		{
			"copied, and the original is gone", all(clone, remove("a")), "b",
			[3]string{moved, "b", "b"},
			[3]string{moved, "b", "b"},
		},
		{
			"without its marker", remove("a/.agent"), "a",
			[3]string{"a | the marker .agent/rewind was gone and has been written again", "a", "a"},
			[3]string{missing + "a/.agent/rewind/store, which lay in the project", "", "a: the store is missing"},
		},
		{
			"moved without its marker", all(remove("a/.agent"), rename), "b",
			[3]string{none, "", gone},
			[3]string{none, "", gone},
		},
		{
			"emptied", all(rename, func(p *place) { p.must(os.Mkdir(p.dir("a"), 0o755)) }, remove("b")), "a",
			[3]string{empty, "", "a: the directory is empty and not the one that was set up: not mounted?"},
			[3]string{empty, "", "a: the store is missing"},
		},
		{
			"a marker that names nobody", func(p *place) { p.write("b/.agent/rewind/id", unknown) }, "b",
			[3]string{nobody, "", "a"},
			[3]string{nobody, "", "a"},
		},
		{
			"a marker that names no id", func(p *place) { p.write("b/.agent/rewind/id", "../a\n") }, "b",
			[3]string{noID, "", "a"},
			[3]string{noID, "", "a"},
		},
		{
			"its marker names another one", func(p *place) { p.write("a/.agent/rewind/id", unknown) }, "a",
			[3]string{again, "a", "a"},
			[3]string{again, "a", "a"},
		},
	} {
		for mode, want := range map[project.Mode][3]string{
			project.ModeGlobal:  tt.global,
			project.ModeProject: tt.local,
		} {
			t.Run(tt.what+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, mode)
				tt.do(p)
				want[1] = cmp.Or(want[1], want[0])
				if got := [3]string{p.found(tt.at), p.found(tt.at), p.stores()}; got != want {
					t.Errorf("%s\nwant\n%s", strings.Join(got[:], "\n"), strings.Join(want[:], "\n"))
				}
			})
		}
	}
}

// TestPlanned: what init would make of a directory, and which stores it offers.
func TestPlanned(t *testing.T) {
	p := newPlace(t, project.ModeGlobal)
	p.write("a/.gitignore", "out/\n")
	p.write("a/out/x", "1")
	p.write("a/src/x", "1")
	p.write("was/x/f", "1")
	p.set("was/x", project.ModeGlobal)
	p.must(os.RemoveAll(p.dir("was")))
	p.write("new/x/f", "1")
	p.write("new/y/f", "1")
	p.write("was/z/f", "1")
	p.set("was/z", project.ModeProject)
	p.must(os.RemoveAll(p.dir("was")))
	p.write("new/z/f", "1")
	p.write("new/a/f", "1")
	for name, want := range map[string]string{
		"a": "a, which is there", "a/src": "a, which is there", "new": "new", "new/x": "new/x, 1 offered",
		"new/y": "new/y", "new/z": "new/z", "new/a": "new/a",
		"a/out": "a/out: not part of a: .gitignore:1 ignores it (out/)",
	} {
		plan, err := project.PlanInit(context.Background(), p.home, p.dir(name), "", time.Second)
		p.must(err)
		got := p.short(plan.Root)
		if plan.Exists {
			got += ", which is there"
		}
		if plan.Own != "" {
			got += ": " + p.short(plan.Own)
		}
		if n := len(plan.Offers); n > 0 {
			got += fmt.Sprintf(", %d offered", n)
		}
		if got != want || plan.Mode != project.ModeGlobal {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestAges: how ages are written.
func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "2m": 2 * time.Minute, "36h": 36 * time.Hour, "30d": 30 * day, "2w": 14 * day, "0s": 0,
		"forever": project.Forever, "": -1, "s": -1, "3": -1, "3y": -1, "-3d": -1, "1.5h": -1, "4294967296s": -1,
		"4294967295w": -1, "4294967295s": 4294967295 * time.Second, "15250w": 15250 * 7 * day, "15251w": -1,
	} {
		got, err := project.ParseKeepAge(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if got, err := project.ParseAge(text); (err != nil) != (want <= 0) || err == nil && got != want {
			t.Errorf("%q as a person's: %v, %v", text, got, err)
		} else if err != nil && want != 0 && !strings.Contains(err.Error(), "such as 36h") {
			t.Errorf("%q: it is not said what one is like: %v", text, err)
		}
	}
}

// TestDoubtful: of a project's own settings those are asked about by which less is remembered, or agents get more.
func TestDoubtful(t *testing.T) {
	p := newPlace(t, project.ModeGlobal)
	for _, tt := range []struct {
		key, value string
		want       bool
	}{
		{"limits.file_size", "1K", true},
		{"limits.file_size", "1T", false},
		{"gc.grace", "1s", true},
		{"gc.grace", "900d", false},
		{"gc.max_size", "1G", true},
		{"gc.max_size", "0", false},
		{"gc.max_size", "1", true},
		{"gc.max_size", "20GiB", false},
		{"gc.min_free", "1GiB", false},
		{"agents.commands", "false", false}, // the first of all
		{"secrets.mode", "off", true},
		{"secrets.mode", "skip", false},
		{"secrets.store", "true", true},
		{"secrets.store", "false", false},
		{"forks.detect", "false", true},
		{"forks.detect", "true", false},
		{"forks.prune.auto", "true", true},
		{"forks.prune.auto", "false", false},
		{"limits.file_size", "1073741824", false},
		{"forks.prune.keep", "9", true},
		{"forks.prune.keep", "11", false},
		{"forks.prune.age", "29d", true},
		{"forks.prune.age", "30d", false},
		{"forks.prune.kind", "agent", true},
		{"gc.max_size", "30G", false},
		{"gc.min_free", "2G", true},
		{"gc.min_free", "1M", false},
		{"gc.keep_all", "1h", true},
		{"gc.keep_daily", "900d", true},
		{"gc.keep_safety", "1d", true},
		{"gc.keep_turns", "1d", true},
		{"gc.auto", "false", false},
		{"agents.mcp", "true", true},
		{"agents.mcp", "false", false},
		{"agents.commands", "true", true},
		{"secrets.mode", "flag", false},
		{"secrets.patterns", "x", true},
		{"secrets.allow", "x", true},
		{"tiers.balanced.runtime.antiSpam.minIntervalSeconds", "90", true},
		{"tiers.balanced.runtime.antiSpam.minIntervalSeconds", "30", false},
		{"exclude.defaults", "x", true},
		{"tier", "aggressive", true},
		{"tier", "balanced", false},
		{"hooks.enabled", "false", false},
	} {
		p.must(project.SetConfig(p.home, p.dir("a"), tt.key, []string{tt.value}))
		c, err := project.LoadConfig(p.home, p.dir("a"))
		p.must(err)
		list, err := c.Doubtful(p.home)
		p.must(err)
		if (len(list) > 0) != tt.want || tt.want && list[0].Key != tt.key {
			t.Errorf("%s %s: %+v", tt.key, tt.value, list)
		}
		p.must(os.Remove(filepath.Join(project.Marker(p.dir("a")), project.ConfigName)))
	}
	// What a project says is measured by what holds for the user, not by what is built in.
	p.must(project.SetConfig(p.home, "", "gc.max_size", []string{"0"}))
	p.must(project.SetConfig(p.home, "", "forks.detect", []string{"false"}))
	p.must(project.SetConfig(p.home, p.dir("a"), "gc.max_size", []string{"900G"}))
	p.must(project.SetConfig(p.home, p.dir("a"), "forks.detect", []string{"false"}))
	list, err := p.config("a").Doubtful(p.home)
	if p.must(err); len(list) != 1 || list[0].Key != "gc.max_size" {
		t.Errorf("%+v", list)
	}
	p.must(project.SetConfig(p.home, p.dir("a"), "forks.detect", []string{"true"}))
	p.must(project.SetConfig(p.home, p.dir("a"), "gc.max_size", nil))
	if list, err := p.config("a").Doubtful(p.home); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	p.must(project.SetConfig(p.home, "", "secrets.mode", []string{"off"}))
	p.must(project.SetConfig(p.home, "", "secrets.store", []string{"true"}))
	for _, mode := range []string{"off", "flag"} { // as the user has it, and safer
		p.must(project.SetConfig(p.home, p.dir("a"), "secrets.mode", []string{mode}))
		p.must(project.SetConfig(p.home, p.dir("a"), "secrets.store", []string{strconv.FormatBool(mode == "off")}))
		if list, err := p.config("a").Doubtful(p.home); err != nil || len(list) > 0 {
			t.Errorf("%+v, %v", list, err)
		}
	}
	// A tier that the user does not have says all that it changes.
	p.write("a/.agent/rewind/config.json", `{"tier": "aggressive", "tiers": {"aggressive": {"runtime": {
		"antiSpam": {"minIntervalSeconds": 90}}}}}`)
	if list, err := p.config("a").Doubtful(p.home); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	p.must(os.WriteFile(filepath.Join(p.home.Dir, project.ConfigName), []byte("{"), 0o600))
	if _, err := (project.Config{}).Doubtful(p.home); err == nil {
		t.Error("settings that cannot be read are no doubt")
	}
}

// TestTrashFound: what was removed is found by the beginning of its id, and comes back with its settings where its
// directory is still there; else as a store of no directory.
func TestTrashFound(t *testing.T) {
	const gone = "error: resolve a: lstat a: no such file or directory"
	for _, tt := range []struct {
		mode project.Mode
		what string
		want string // the store that is back, whether the settings are, and what is found
	}{
		{project.ModeGlobal, "there", "of a global, settings true, found a"},
		{project.ModeGlobal, "moved", "of a global, settings false, found " + gone},
		{project.ModeGlobal, "set up anew", "of  global, settings false, found a, another"},
		{project.ModeProject, "there", "of a project, settings true, found a"},
		{project.ModeProject, "moved", "of  global, settings false, found " + gone},
		{project.ModeProject, "moved without its seal", "of  global, settings false, found " + gone},
		{project.ModeProject, "set up anew", "of  global, settings false, found a, another"},
	} {
		p, now := newPlace(t, tt.mode), time.Now()
		p.must(project.SetConfig(p.home, p.dir("a"), "gc.grace", []string{"9d"}))
		is, err := project.Find(context.Background(), p.home, p.dir("a"), time.Second)
		p.must(err)
		if strings.HasSuffix(tt.what, "seal") {
			p.must(os.Remove(p.dir("a/.agent/rewind/store/seal")))
		}
		_, err = p.home.PutInTrash(project.Trashed{Record: p.home.RecordOf(is), Mode: tt.mode, Removed: now}, is.Store)
		p.must(err)
		p.must(project.RemoveMarker(is))
		switch tt.what {
		case "moved", "moved without its seal":
			p.must(os.Rename(p.dir("a"), p.dir("b")))
		case "set up anew":
			p.set("a", project.ModeGlobal)
		}
		var found []string
		for _, id := range []string{"", p.id, p.id[:4], "x" + p.id} {
			if _, err := p.home.FindTrashed(id, now); err == nil {
				found = append(found, p.short(id))
			} else if !errors.Is(err, project.ErrNoStore) {
				t.Error(err)
			}
		}
		if !slices.Equal(found, []string{"ID", p.id[:4]}) {
			t.Errorf("%s, %s: found by %s", tt.mode, tt.what, found)
		}
		lies, err := p.home.FindTrashed(p.id, now)
		p.must(err)
		back, err := p.home.Restore(context.Background(), lies, time.Second)
		p.must(err)
		config, err := project.LoadConfig(p.home, p.dir("a"))
		p.must(err)
		got := fmt.Sprintf("of %s %s, settings %v, found %s",
			p.short(string(back.Root)), back.Mode, config.IsSet("gc.grace"), p.found("a"))
		if got != tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.mode, tt.what, got, tt.want)
		}
		if _, err := os.Lstat(filepath.Join(string(back.Store), "seal")); (err == nil) != (back.Mode == "project") {
			t.Errorf("%s, %s: the seal: %v", tt.mode, tt.what, err)
		}
	}
}
