package purge_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rewind/engine"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// canary gives bytes that no compression changes, so that they are found in a file that has them.
func canary(seed byte, n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return string(b)
}

// wantPurged holds what a purge promises: no byte is left, and every checkpoint gives all its other files.
func wantPurged(p *enginetest.Project, secret string, all []*model.Checkpoint) {
	p.T.Helper()
	if found := p.Holding(secret); found != nil {
		p.T.Fatalf("still in %q", found)
	}
	p.Verify()
	for _, cp := range all {
		files, purged := 0, 0
		p.Must(tree.Diff(p.E.Log.Objs, objstore.ID{}, cp.Tree, func(ch tree.Change) error {
			if !model.IsFile(ch.New) {
				return nil
			}
			files++
			_, err := p.E.Log.Objs.Get(objstore.Blob, ch.New.ID)
			if errors.Is(err, objstore.ErrPurged) {
				purged++
				return nil
			}
			if errors.Is(err, objstore.ErrTooLarge) {
				return nil
			}
			return err
		}))
		if files == 0 || purged == files {
			p.T.Fatalf("%s: %d of %d files are purged", cp.ID.Short(), purged, files)
		}
	}
}

// histories are projects with a secret in them, the paths it stood at, and its checkpoints.
func histories() map[string]func(p *enginetest.Project) (secret string, o purge.Options, all []*model.Checkpoint) {
	lines := func(n int, with string) string {
		var b strings.Builder
		for i := range 200 {
			if i == 100 {
				b.WriteString(with)
			}
			fmt.Fprintf(&b, "line %d of version %d\n", i, n*min(i%7, 1))
		}
		return b.String()
	}
	return map[string]func(p *enginetest.Project) (string, purge.Options, []*model.Checkpoint){
		"small": func(p *enginetest.Project) (string, purge.Options, []*model.Checkpoint) {
			secret := canary(1, 3000)
			p.Write("keep", "keep")
			p.Write("d/secret", secret)
			p.Write("copy", secret)
			all := []*model.Checkpoint{p.Save("with")}
			p.Write("d/secret", "clean")
			p.Remove("copy")
			return secret, purge.Options{Paths: []string{"d/secret"}}, append(all, p.Save("without"))
		},
		"delta base": func(p *enginetest.Project) (string, purge.Options, []*model.Checkpoint) {
			secret := canary(2, 96)
			var all []*model.Checkpoint
			var ids []string
			for n := range 24 {
				with := ""
				if n >= 5 && n < 12 {
					with = secret + "\n"
				}
				p.Write("f", lines(n, with))
				cp := p.Save(fmt.Sprint(n))
				all = append(all, cp)
				ent, err := tree.Lookup(p.E.Log.Objs, cp.Tree, "f")
				p.Must(err)
				if with != "" {
					ids = append(ids, ent.ID.String())
				}
			}
			p.Write("g", "g")
			return secret, purge.Options{Blobs: ids}, append(all[:5], all[12:]...)
		},
		"text in many files": func(p *enginetest.Project) (string, purge.Options, []*model.Checkpoint) {
			secret := canary(3, 96)
			var all []*model.Checkpoint
			for n := range 12 {
				p.Write("a", lines(n, secret))
				p.Write("b/c", lines(n, "")+secret)
				p.Write("clean", lines(n, ""))
				all = append(all, p.Save(fmt.Sprint(n)))
			}
			return secret, purge.Options{Texts: [][]byte{[]byte(secret)}}, all
		},
		"chunks": func(p *enginetest.Project) (string, purge.Options, []*model.Checkpoint) {
			secret, body := canary(4, 480), canary(5, 9<<20)
			p.Write("keep", "keep")
			p.Write("large", body[:5<<20]+secret+body[5<<20:])
			all := []*model.Checkpoint{p.Save("with")}
			p.Write("large", body)
			return secret, purge.Options{Texts: [][]byte{[]byte(secret)}}, append(all, p.Save("without"))
		},
	}
}

// TestPurgeCanary: no byte of a purged secret is in any file or stored value, and it was there before; the checkpoints
// are.
func TestPurgeCanary(t *testing.T) {
	for name, make := range histories() {
		t.Run(name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			secret, o, all := make(p)
			if found := p.Holding(secret); len(found) < 2 {
				t.Fatalf("before: only in %q", found)
			}
			o.DryRun = true
			would := p.Purge(o)
			if len(p.Holding(secret)) == 0 || would.Contents == 0 || would.Operation != 0 {
				t.Fatalf("dry run: %+v", would)
			}
			o.DryRun = false
			r := p.Purge(o)
			if r.Contents != would.Contents || r.Checkpoints != would.Checkpoints || r.Checkpoints == 0 ||
				r.Operation == 0 {
				t.Errorf("%+v, was to be %+v", r, would)
			}
			wantPurged(p, secret, all)
			again, err := p.E.Purger.Purge(enginetest.Bg, o)
			if err == nil && (again.Contents != 0 || again.Operation != 0) || err != nil &&
				!errors.Is(err, objstore.ErrNotFound) {
				t.Errorf("again: %+v, %v", again, err)
			}
			// It does not come back.
			p.Save("after")
			p.Write("new", secret)
			p.Save("and a new file")
			if strings.HasPrefix(name, "small") {
				wantPurged(p, secret, all)
			}
			p.Must(p.E.Close())
			openOn(p, p.FS)
			if _, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{}); err != nil &&
				!errors.Is(err, model.ErrNotFound) {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

// openOn opens the store as it is in fs.
func openOn(p *enginetest.Project, f *kvtest.CrashFS) {
	p.T.Helper()
	p.FS = f
	e, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: f}})
	p.Must(err)
	p.E = e
}

// TestPurgedFileInTheWorktree: a file that still has the content is listed, not captured, and left alone by every
// restore; changed, it is
// captured.
func TestPurgedFileInTheWorktree(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	p.Write("d/secret", "one")
	one := p.Save("one")
	p.Write("f", "2")
	p.Write("d/secret", "hunter2")
	two := p.Save("two")
	p.Write("f", "3")
	three := p.Save("three")
	// A restore over it, that is reverted later.
	res := p.Checkout(one.ID.String(), restore.Options{})
	p.Checkout(three.ID.String(), restore.Options{})
	ent, err := tree.Lookup(p.E.Log.Objs, two.Tree, "d/secret")
	p.Must(err)
	r := p.Purge(purge.Options{Blobs: []string{ent.ID.String()}})
	enginetest.Equal(t, "paths", r.Paths, []value.Text{"d/secret"})
	enginetest.Equal(t, "present", r.Present, []value.Text{"d/secret"})

	for range 2 {
		cp := p.Save("after")
		skips, err := p.E.Log.Note(cp)
		p.Must(err)
		if !slices.Contains(skips, tree.Skip{Path: "d/secret", Reason: tree.ReasonPurged, Size: 7}) {
			t.Errorf("not listed: %+v", skips)
		}
		if _, err := p.E.Log.Lookup(cp, "d/secret"); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("captured: %v", err)
		}
		p.Write("f", "4")
	}
	st := p.Slurp(p.Path("d/secret"))
	// To the checkpoint that has the purged content; to one that has another: that would lose what cannot be stored.
	got := p.Checkout(two.ID.String(), restore.Options{})
	enginetest.Equal(t, "kept", p.KeptNames(got), []string{"purged d/secret"})
	if p.Slurp(p.Path("f")) != "2" || p.Slurp(p.Path("d/secret")) != st {
		t.Error("the checkout did not leave it alone, or the others")
	}
	var unsaved *model.UnsavedError
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{}); !errors.As(err, &unsaved) {
		t.Errorf("to one: %v", err)
	}
	// The user takes the secret out: it is captured again, and restored, but for the purged version.
	p.Write("d/secret", "clean")
	clean := p.Save("clean")
	if p.Cat(clean, "d/secret") != "clean" {
		t.Error("not captured")
	}
	for _, exact := range []bool{false, true} {
		got = p.Checkout(two.ID.String(), restore.Options{Scope: refs.Scope{Exact: exact}})
		enginetest.Equal(t, "kept", p.KeptNames(got), []string{"purged d/secret"})
		if b, _ := os.ReadFile(p.Path("d/secret")); string(b) != map[bool]string{false: "clean"}[exact] {
			t.Errorf("written or removed: %q", b)
		}
		p.Remove("d/secret")
	}
	got = p.Checkout(clean.ID.String(), restore.Options{})
	if p.Slurp(p.Path("d/secret")) != "clean" || len(got.Plan.Kept) > 0 {
		t.Errorf("kept %q", p.KeptNames(got))
	}
	// The restore whose safety checkpoint had it.
	got, err = p.E.Restorer.UndoRestore(enginetest.Bg, res.Operation.Seq, restore.Options{})
	p.Must(err)
	enginetest.Equal(t, "kept", p.KeptNames(got), []string{"purged d/secret", "since f"})
	if p.Slurp(p.Path("d/secret")) != "clean" {
		t.Error("undo-restore wrote or removed it")
	}
	// The words.
	shown, err := p.E.History.Show(enginetest.Bg, two.ID.String(), nil)
	p.Must(err)
	if shown.Gone["d/secret"] != "purged" {
		t.Errorf("show: %v", shown.Gone)
	}
	_, err = p.E.Diff(enginetest.Bg, engine.DiffOptions{From: one.ID.String(), To: two.ID.String()},
		func(d engine.FileDiff) error {
			if (d.Gone == "purged") != (d.Path == "d/secret") || d.Gone != "" && d.Text.Hunks != nil {
				t.Errorf("diff: %+v", d)
			}
			return nil
		})
	p.Must(err)
	if _, _, err := p.E.History.Cat(enginetest.Bg, two.ID.String(), "d/secret"); !errors.Is(err, objstore.ErrPurged) {
		t.Errorf("cat: %v", err)
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, r.Operation, restore.Options{}); !errors.Is(err,
		model.ErrUsage) ||
		!strings.Contains(err.Error(), "cannot be undone") {
		t.Errorf("undo of the purge: %v", err)
	}
	p.Verify()
}

// TestPurgeConversation: the text is found in a conversation, raw or escaped, and across two blocks; the conversation
// is captured no more.
func TestPurgeConversation(t *testing.T) {
	for _, across := range []bool{false, true} {
		p, k := enginetest.Begun(t)
		other := p.Talker(2)
		secret := "key \"\u00fc<1>\" " + strings.Repeat("0123456789abcdef", 9)
		k.Ask("one")
		if across {
			at := len(p.Slurp(k.File))
			k.Say(strings.Repeat("x", conversation.TranscriptBlock-at-330) + secret + strings.Repeat("y", 3000))
		} else {
			k.Say("it is " + secret)
		}
		k.Stop()
		k.Take("two", p.Edits("f", "2"))
		other.Take("clean", p.Edits("g", "1"))
		p.Settle()
		before := p.Holding(secret[40:])
		if len(before) == 0 {
			t.Fatal("not captured")
		}
		if across {
			h := purge.NewHaystack(purge.Needles([]byte(secret)))
			p.Must(p.E.Log.Objs.Keys(enginetest.Bg, objstore.Blob, func(key objstore.Key, _ objstore.Info) error {
				id, err := p.E.Log.Objs.IDOf(objstore.Blob, key)
				p.Must(err)
				if in, err := h.InBlob(p.E.Log.Objs, id); in || err != nil {
					t.Errorf("whole in one block: %v", err)
				}
				return nil
			}))
		}
		r := p.Purge(purge.Options{Texts: [][]byte{[]byte("\n" + secret + "\n")}})
		enginetest.Equal(t, "sessions", r.Sessions, []string{k.Name()})
		enginetest.Equal(t, "agents' files", r.AgentFiles, []value.Text{value.Text(k.File)})
		if found := p.Holding(secret[40:]); found != nil {
			t.Fatalf("across %v: still in %q", across, found)
		}
		p.Verify()
		// Its file goes on, and has the secret still.
		k.Take("three", p.Edits("f", "3"))
		p.Settle()
		if found := p.Holding(secret[40:]); found != nil {
			t.Fatalf("across %v: came back in %q", across, found)
		}
		if s := p.Session(k.Name()); !s.Purged || !strings.Contains(s.Problem, "purged") {
			t.Errorf("the session: %+v", s)
		}
		if _, err := p.E.Restorer.Fork(enginetest.Bg, "turn:2", restore.Options{
			Env:     p.Env(),
			Session: model.SessionChoice{Session: k.Name()},
		}); err == nil || !strings.Contains(err.Error(), "purged") {
			t.Errorf("fork: %v", err)
		}
		if s := p.Session(other.Name()); s.Purged || len(p.Talk(s)) == 0 {
			t.Errorf("the other session: %+v", s)
		}
	}
}

// TestPurgeForked: what is purged out of a conversation is gone out of its forks, too, which say so; what lies behind a
// fork's place is nothing of the fork's. A fork's own title goes with its conversation.
func TestPurgeForked(t *testing.T) {
	const before, behind = "before-0123456789abcdef0123", "behind-0123456789abcdef0123"
	const named = "named-0123456789abcdef0123"
	p, k := enginetest.Begun(t)
	k.Ask("one")
	k.Say("it is " + before)
	k.Stop()
	k.Take("two", p.Edits("f", "2"))
	k.Ask("three")
	k.Say("it is " + behind)
	k.Stop()
	p.Settle()
	o := restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: k.Name()}}
	at := o
	at.Title = "called " + named
	fork, titled := p.Fork("turn:2", o), p.Fork("turn:2", at)
	read := func(session string) error {
		st, err := conversation.OpenTranscript(p.E.Log.Objs, ptr(p.Session(session)).BeganAs())
		if err == nil {
			_, err = st.WriteTo(io.Discard)
		}
		return err
	}
	r := p.Purge(purge.Options{Texts: [][]byte{[]byte(behind)}})
	enginetest.Equal(t, "sessions", r.Sessions, []string{k.Name()})
	if err := read(fork.Session); err != nil {
		t.Errorf("what is purged lies behind the fork: %v", err)
	}
	r = p.Purge(purge.Options{Texts: [][]byte{[]byte(named)}})
	enginetest.Equal(t, "sessions", r.Sessions, []string{titled.Session})
	if err := read(titled.Session); !errors.Is(err, objstore.ErrPurged) {
		t.Errorf("the fork's title is purged: %v", err)
	}
	p.Verify()
	r = p.Purge(purge.Options{Texts: [][]byte{[]byte(before)}})
	if !slices.Contains(r.Sessions, fork.Session) {
		t.Errorf("sessions %q", r.Sessions)
	}
	if err := read(fork.Session); !errors.Is(err, objstore.ErrPurged) {
		t.Errorf("what is purged lies before the fork: %v", err)
	}
	for _, secret := range []string{before, behind, named} {
		if found := p.Holding(secret); found != nil {
			t.Errorf("%s is still in %q", secret, found)
		}
	}
	p.Verify()
}

func ptr[T any](v T) *T { return &v }

// TestPurgeAgain: what was purged from a conversation is no damage for any later purge, with gc between, nor after the
// store was opened again.
func TestPurgeAgain(t *testing.T) {
	p, k := enginetest.Begun(t)
	first, second := "first "+strings.Repeat("0123456789abcdef", 9), "second "+strings.Repeat("fedcba9876543210", 9)
	k.Ask("one")
	k.Say(first)
	k.Say(strings.Repeat("x", 3*conversation.TranscriptBlock))
	k.Stop()
	p.Write("s", second)
	p.Save("with")
	p.Settle()
	if r := p.Purge(purge.Options{Texts: [][]byte{[]byte(first)}}); r.Contents == 0 || r.Unread != 0 {
		t.Fatalf("first: %+v", r)
	}
	for i, text := range []string{first, second, second, first, "a text that is nowhere"} {
		r := p.Purge(purge.Options{Texts: [][]byte{[]byte(text)}})
		if r.Unread != 0 {
			t.Errorf("purge %d: %d objects could not be searched", i, r.Unread)
		}
		if i == 1 {
			p.Gc(gc.Options{})
			p.Must(p.E.Close())
			openOn(p, p.FS)
		}
	}
	p.Verify()
}

// TestPurgePresent: still in the project is what the files say, not the newest checkpoint.
func TestPurgePresent(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a", "hunter2 and more")
	p.Write("d/b", "hunter2 and more")
	p.Write("c", "other")
	p.Save("with")
	p.Remove("d/b")
	r := p.Purge(purge.Options{Paths: []string{"d/b"}, DryRun: true})
	enginetest.Equal(t, "present, dry run", r.Present, []value.Text{"a"})
	p.Write("a", "changed by now")
	r = p.Purge(purge.Options{Paths: []string{"d/b"}})
	if len(r.Present) != 0 || r.Contents != 1 {
		t.Errorf("%+v", r)
	}
}

// TestPurgeFilesBeside: what of rewind's own files has the secret goes with it.
func TestPurgeFilesBeside(t *testing.T) {
	p := enginetest.NewProject(t)
	secret := canary(7, 200)
	p.Write("s", secret)
	p.Write("f", "f")
	p.Save("1")
	for name, text := range map[string]string{
		"backups/claude-1234-settings.json": "{}" + secret, "backups/claude-5678-settings.json": "{}",
		"run/daemon.log":   secret,
		"run/daemon.log.1": "x" + secret,
	} {
		path := filepath.Join(p.Home.Dir, name)
		p.Must(os.MkdirAll(filepath.Dir(path), 0o700))
		p.Must(os.WriteFile(path, []byte(text), 0o600))
	}
	stage := p.Path(project.MarkerDir + "/stage/x")
	p.Must(os.MkdirAll(stage, 0o700))
	p.Must(os.WriteFile(filepath.Join(stage, "1.kept"), []byte(secret), 0o600))
	p.Must(os.WriteFile(filepath.Join(stage, "2.kept"), []byte("work"), 0o600))
	aside := filepath.Join(p.E.Log.Project.Store, kv.QuarantineDir, "20261122-080000", "db")
	p.Must(os.MkdirAll(aside, 0o700))
	p.Must(os.WriteFile(filepath.Join(aside, "000001.sst"), []byte("what a repair has replaced, compressed"), 0o600))
	r := p.Purge(purge.Options{Paths: []string{"s"}, Texts: [][]byte{[]byte(secret)}})
	if _, err := os.Lstat(filepath.Dir(filepath.Dir(aside))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the quarantine is there: %v", err)
	}
	if found := p.Holding(secret); found != nil || len(r.Files) != 5 {
		t.Errorf("removed %q, left %q", r.Files, found)
	}
	for _, path := range []string{
		filepath.Join(p.Home.Dir, "backups/claude-5678-settings.json"),
		filepath.Join(stage, "2.kept"),
	} {
		p.Slurp(path)
	}
}

// TestPurgeRefused: while a checkout is half done, for what no checkpoint has, for the whole project, for nothing.
func TestPurgeRefused(t *testing.T) {
	p := enginetest.NewProject(t)
	secret := canary(8, 3000)
	p.Write("s", secret)
	p.Write("f", "1")
	one := p.Save("1")
	p.Write("f", "2")
	p.Remove("s")
	p.Save("2")
	for name, c := range map[string]struct {
		o    purge.Options
		want error
	}{
		"nothing":      {purge.Options{}, model.ErrUsage},
		"white space":  {purge.Options{Texts: [][]byte{[]byte(" \n")}}, model.ErrUsage},
		"short":        {purge.Options{Texts: [][]byte{[]byte("abc")}}, model.ErrUsage},
		"long":         {purge.Options{Texts: [][]byte{bytes.Repeat([]byte("a"), purge.MaxNeedle+1)}}, model.ErrUsage},
		"root":         {purge.Options{Paths: []string{"."}}, model.ErrUsage},
		"outside":      {purge.Options{Paths: []string{"../x"}}, model.ErrUsage},
		"unknown path": {purge.Options{Paths: []string{"s", "nothing"}}, model.ErrNotFound},
		"unknown blob": {purge.Options{Blobs: []string{"00000000"}}, objstore.ErrNotFound},
		"no id":        {purge.Options{Blobs: []string{"xyz"}}, model.ErrUsage},
	} {
		if _, err := p.E.Purger.Purge(enginetest.Bg, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Crashed(one.ID.String(), restore.Options{}, true, 0)
	if _, err := p.E.Purger.Purge(enginetest.Bg, purge.Options{Paths: []string{"s"}}); !errors.Is(err, model.ErrHalfDone) {
		t.Errorf("half done: %v", err)
	}
	if len(p.Holding(secret)) == 0 {
		t.Error("something was purged")
	}
	_, err := p.E.Restorer.Continue(enginetest.Bg, value.AgentEnv{})
	p.Must(err)
	p.Purge(purge.Options{Paths: []string{"s"}})
	if found := p.Holding(secret); found != nil {
		t.Errorf("still in %q", found)
	}
	op, err := p.E.Log.Refs.Operation(p.E.Log.DB.LastSeq())
	p.Must(err)
	if op.Kind != refs.KindPurge || op.Message != "s" {
		t.Errorf("%+v", op)
	}
}

// TestPurgeEmptyFile: nobody's secret, and all empty files are one.
func TestPurgeEmptyFile(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("d/empty", "")
	p.Write("d/s", "secret")
	p.Write("other", "")
	p.Save("1")
	if r := p.Purge(purge.Options{Paths: []string{"d"}}); r.Contents != 1 {
		t.Errorf("%+v", r)
	}
	p.Write("more", "1")
	if cp := p.Save("2"); p.Cat(cp, "d/empty") != "" || p.Cat(cp, "other") != "" {
		t.Error("an empty file is purged")
	}
}

// TestPurgeKilled cuts before every call that a purge makes on the store, with none or all of what was not synced still
// there: nothing but
// the secret is ever missing, and begun again it ends.
func TestPurgeKilled(t *testing.T) {
	for name, make := range histories() {
		if name == "chunks" && !torture.Full() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := enginetest.OpenProject(t, t.TempDir(), t.TempDir())
			secret, o, all := make(p)
			p.Must(p.E.Close())
			ffs := kvtest.NewFaultFS(p.FS)
			var cuts []*kvtest.CrashFS
			var mu sync.Mutex // calls come from several goroutines
			n := 0
			e, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: ffs}})
			p.Must(err)
			p.E = e
			ffs.Hook(func(c kvtest.Call) {
				if c.Kind == kvtest.Read {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				n++
				cuts = append(cuts, p.FS.Clone(100*(n%2), uint64(n)))
			})
			p.Purge(o)
			ffs.Hook(nil)
			p.Must(p.E.Close())
			half := 0
			for i, c := range cuts {
				openOn(p, c)
				if len(p.Holding(secret)) > 0 {
					half++
				}
				for _, cp := range all {
					if _, err := p.E.History.Resolve(cp.ID.String()); err != nil {
						t.Fatalf("cut %d: %v", i, err)
					}
				}
				if _, err := p.E.Purger.Purge(enginetest.Bg, o); err != nil && !errors.Is(err, objstore.ErrNotFound) {
					t.Fatalf("cut %d: %v", i, err)
				}
				wantPurged(p, secret, all)
				p.Must(p.E.Close())
			}
			t.Logf("%d calls, %d cuts, %d of them before its end", n, len(cuts), half)
			if half == 0 {
				t.Error("no cut came before its end")
			}
		})
	}
}
