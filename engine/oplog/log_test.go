package oplog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/oplog"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// TestNotices: each is told once; they are recorded as a move or a copy.
func TestNotices(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	log.Notice("one")
	log.Notice("two")
	log.Notice("one")
	enginetest.Equal(t, "notices", log.Project.Notices, []string{"one", "two"})
	for copied, kind := range map[bool]refs.Kind{false: refs.KindMove, true: refs.KindCopy} {
		log.Project.Copied = copied
		before := log.DB.LastSeq()
		p.Must(log.RecordNotices(enginetest.Bg))
		for i, text := range log.Project.Notices {
			op, err := log.Refs.Operation(before + uint64(i) + 1)
			p.Must(err)
			if op.Kind != kind || op.Message != text {
				t.Errorf("copied %v: %s %q", copied, op.Kind, op.Message)
			}
		}
		if n := log.DB.LastSeq() - before; n != 2 {
			t.Errorf("copied %v: %d operations", copied, n)
		}
	}
}

// TestRemark: markers and settings that were passed over are told, and nothing else.
func TestRemark(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	log.Remark()
	if len(log.Project.Notices) != 0 {
		t.Errorf("nothing was passed over: %q", log.Project.Notices)
	}
	p.Must(os.RemoveAll(filepath.Join(project.Marker(p.Root), project.ConfigName)))
	p.Must(os.MkdirAll(filepath.Join(project.Marker(p.Root), project.ConfigName), 0o755))
	var err error
	log.Config, err = project.LoadConfig(p.Home, p.Root)
	p.Must(err)
	log.Project.Passed = make([]project.Passed, 1)
	log.Remark()
	got := log.Project.Notices
	help := "; 'rewind init' begins one of your own"
	if len(got) != 2 || !strings.HasSuffix(got[0], help) || got[1] != log.Config.Passed() {
		t.Errorf("%q", got)
	}
}

// TestRecord: an operation has the time, and moves refs; one that cannot leaves nothing open.
func TestRecord(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	log.Now = func() time.Time { return time.UnixMilli(1_800_000_000_000) }
	id := enginetest.TestID("x")
	tag := refs.Update{Name: refs.Tag("t"), New: id}
	p.Must(log.Record(enginetest.Bg, refs.Operation{Kind: refs.KindTag, Message: "t"}, tag))
	seq := log.DB.LastSeq()
	op, err := log.Refs.Operation(seq)
	if err != nil || op.Time != 1_800_000_000_000 || op.Message != "t" {
		t.Errorf("%+v, %v", op, err)
	}
	gives(t, "the tag", id)(log.Refs.ID(refs.Tag("t")))
	err = log.Record(enginetest.Bg, refs.Operation{Kind: refs.KindTag}, tag)
	if err == nil || log.DB.LastSeq() != seq {
		t.Errorf("a tag that is there: %v, operation %d", err, log.DB.LastSeq())
	}
	log.Objs.BeginAlone().Discard() // waits for open transactions
}

// wrapped is a directory in another one's place.
type wrapped struct{ worktreefs.Dir }

// TestRoot: the directory of the project, and no other that has its name.
func TestRoot(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	open := func(what string, fails error) worktreefs.Dir {
		t.Helper()
		d, err := log.Root()
		if !errors.Is(err, fails) || (err == nil) != (d != nil) {
			t.Fatalf("%s: %v, %v", what, d, err)
		}
		return d
	}
	d := open("as it was", nil)
	p.Must(log.CheckRoot(d))
	was := log.Project
	for what, set := range map[string]func(){
		"another inode":  func() { log.Project.Ino++ },
		"another device": func() { log.Project.Dev++ },
	} {
		set()
		open(what, project.ErrNotMounted)
		log.Project = was
	}
	log.Project.Ino, log.Project.Dev = 0, 0
	p.Must(open("not known", nil).Close())
	log.Project = was
	log.Wrap = func(d worktreefs.Dir) worktreefs.Dir { return wrapped{d} }
	w := open("wrapped", nil)
	if _, ok := w.(wrapped); !ok {
		t.Error("it is not wrapped")
	}
	p.Must(w.Close())
	p.Must(os.Rename(p.Root, p.Root+"-away"))
	open("gone", os.ErrNotExist)
	var of *value.OpError
	if err := log.CheckRoot(d); !errors.As(err, &of) || of.Subject != p.Root {
		t.Errorf("gone: %v", err)
	}
	p.Must(os.Mkdir(p.Root, 0o755))
	open("replaced", project.ErrNotMounted)
	var other *project.NotMountedError
	if err := log.CheckRoot(d); !errors.As(err, &other) || other.Project.Root != p.Root || other.Why == "" {
		t.Errorf("replaced: %v", err)
	}
	p.Must(d.Close())
	if err := log.CheckRoot(d); !errors.As(err, &of) {
		t.Errorf("closed: %v", err)
	}
	p.Must(os.Remove(p.Root))
	p.Must(os.Rename(p.Root+"-away", p.Root))
}

// TestSince: how long ago a time was; the zero time never was.
func TestSince(t *testing.T) {
	p := enginetest.NewProject(t)
	now := time.UnixMilli(1_800_000_000_000)
	p.E.Log.Now = func() time.Time { return now }
	for at, want := range map[time.Time]time.Duration{
		now: 0, now.Add(-time.Hour): time.Hour, now.Add(time.Hour): -time.Hour, {}: -1,
	} {
		if got := p.E.Log.Since(at); got != want {
			t.Errorf("%v: %v", at, got)
		}
	}
}

// TestView: a view has settings of its own, and shares what is known.
func TestView(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	other := log.Project
	other.Root = "/elsewhere"
	v := log.View(&other, project.Config{})
	v.Notice("seen")
	v.Rewrote()
	if v.Project.Root != "/elsewhere" || log.Project.Root != p.Root || len(log.Project.Notices) != 0 {
		t.Errorf("%+v, of %+v", v.Project, log.Project)
	}
	if v.Rewrites() != log.Rewrites() {
		t.Errorf("%d rewrites, of %d", v.Rewrites(), log.Rewrites())
	}
	now := time.UnixMilli(1_800_000_000_000)
	o := p.Options()
	if l := oplog.New(p.Home, &other, log.Config, log.DB, o); l.Since(time.Now()) < 0 {
		t.Error("without a clock it has none")
	}
	o.Now = func() time.Time { return now }
	if l := oplog.New(p.Home, &other, log.Config, log.DB, o); l.Since(now) != 0 {
		t.Error("it has another clock")
	}
}

// TestHeldFor: the lock is held by a command until that gives it back.
func TestHeldFor(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	log.Lock()
	if d := log.HeldFor(); d != 0 {
		t.Errorf("held by no command for %v", d)
	}
	log.Unlock()
	release := log.Hold()
	if d := log.HeldFor(); d <= 0 || log.TryLock() {
		t.Errorf("held for %v", d)
	}
	release()
	if d := log.HeldFor(); d != 0 || !log.TryLock() {
		t.Errorf("held for %v since it was given back", d)
	}
	log.Unlock()
}

// TestForget: nothing that was known stays, and readers see that the log may have changed.
func TestForget(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	p.Write("f", "1")
	p.Agent("a").Start()
	p.Save("")
	p.Must(log.CheckWhole())
	_, err := log.Sessions()
	p.Must(err)
	head, err := log.Head()
	p.Must(err)
	remember(p, &head, oplog.StoredNote{Id: enginetest.TestID("note")})
	ask := map[string]func() error{
		"the head":     func() error { _, err := log.Head(); return err },
		"the sessions": log.LoadSessions,
		"it is whole":  log.CheckWhole,
	}
	before := log.Rewrites()
	for what, fn := range ask {
		if n := asked(p, fn); n > 0 {
			t.Errorf("%s: %d keys are read", what, n)
		}
	}
	moved := enginetest.TestID("moved")
	gives(t, "the tag before", objstore.Zero)(log.Refs.ID(refs.Tag("t")))
	tx := log.Objs.Begin()
	p.Must(refs.Repoint(tx.Batch(), refs.Tag("t"), moved, log.DB.LastSeq()))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	forget(p)
	gives(t, "the tag that was moved", moved)(log.Refs.ID(refs.Tag("t")))
	if knowsHead(p) || !log.Noted().Id.IsZero() || log.NoSquashes() {
		t.Error("what was known is known still")
	}
	for what, fn := range ask {
		if asked(p, fn) == 0 {
			t.Errorf("%s is known still", what)
		}
	}
	if n := log.Rewrites() - before; n != 1 {
		t.Errorf("%d rewrites", n)
	}
}

// TestPinned: what the head and the last note name; an error ends it.
func TestPinned(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	noted := enginetest.TestID("noted")
	head := oplog.Head{Tree: enginetest.TestID("tree"), Note: enginetest.TestID("note")}
	log.Lock()
	defer log.Unlock()
	for _, tt := range []struct {
		known *oplog.Head
		want  []objstore.ID
	}{{&head, []objstore.ID{head.Tree, head.Note, noted}}, {nil, []objstore.ID{noted}}} {
		remember(p, tt.known, oplog.StoredNote{Id: noted})
		for end := range tt.want {
			var got []objstore.ID
			broken := errors.New("broken")
			err := log.Pinned(func(k objstore.Kind, id objstore.ID) error {
				if got = append(got, id); (k == objstore.Tree) != (id == head.Tree) {
					t.Errorf("%s %s", k, id.Short())
				}
				if len(got) > end {
					return broken
				}
				return nil
			})
			enginetest.Equal(t, "pinned", got, tt.want[:end+1])
			if !errors.Is(err, broken) {
				t.Errorf("the error is %v", err)
			}
		}
	}
	remember(p, nil, oplog.StoredNote{})
}

// TestStoredNote: the same list is one in the same memory.
func TestStoredNote(t *testing.T) {
	t.Parallel()
	list := []tree.Skip{{Path: "a"}, {Path: "b"}}
	n := oplog.StoredNote{Skips: list}
	for what, tt := range map[string]struct {
		note  oplog.StoredNote
		skips []tree.Skip
		want  bool
	}{
		"the same": {n, list, true}, "an equal one": {n, []tree.Skip{{Path: "a"}, {Path: "b"}}, false},
		"its beginning": {n, list[:1], false}, "its end": {n, list[1:], false}, "none": {n, nil, false},
		"both none": {oplog.StoredNote{}, nil, false}, "none of none": {oplog.StoredNote{}, list, false},
	} {
		if got := tt.note.Is(tt.skips); got != tt.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
