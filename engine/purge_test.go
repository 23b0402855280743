package engine

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

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/objstore/objtest"
	"rewind/refs"
	"rewind/tree"
)

// canary gives bytes that no compression changes, so that they are found in a file that has them.
func canary(seed byte, n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return string(b)
}

// pieces of a secret: a file that has a piece has not forgotten it.
func pieces(secret string) (out [][]byte) {
	for i := 0; i+24 <= len(secret); i += 24 + len(secret)/24 {
		out = append(out, []byte(secret[i:i+24]))
	}
	return out
}

// holding lists where a secret is: in which bytes of which file of the store, of rewind's home and of the project's marker, and, as far as
// these are compressed, in which stored values.
func (p *fixture) holding(secret string) (found []string) {
	p.t.Helper()
	h := purge.NewHaystack(pieces(secret))
	p.eachStoreFile(p.e.Log.Project.Store, func(path string, b []byte) {
		if h.In(b) {
			found = append(found, path)
		}
	})
	for _, dir := range []string{p.home.Dir, p.path(project.MarkerDir)} {
		p.must(filepath.WalkDir(dir, func(path string, ent fs.DirEntry, err error) error {
			if err != nil || !ent.Type().IsRegular() {
				return err
			}
			if b, err := os.ReadFile(path); err != nil || h.In(b) {
				found = append(found, path)
			}
			return nil
		}))
	}
	p.must(p.e.Log.DB.Scan(kv.Range{}, func(key, val []byte) error {
		if h.In(key) || h.In(val) {
			found = append(found, fmt.Sprintf("key %.20q", key))
		}
		return nil
	}))
	for _, k := range objtest.Kinds() {
		p.must(p.e.Log.Objs.Keys(bg, k, func(key objstore.Key, _ objstore.Info) error {
			id, err := p.e.Log.Objs.IDOf(k, key)
			var raw []byte
			if err == nil {
				raw, err = p.e.Log.Objs.Get(k, id)
			}
			if h.In(raw) {
				found = append(found, fmt.Sprintf("%s %s", k, key.Short()))
			}
			return err
		}))
	}
	return found
}

func (p *fixture) eachStoreFile(dir string, fn func(path string, b []byte)) {
	names, err := p.fs.List(dir)
	p.must(err)
	for _, name := range names {
		path := p.fs.PathJoin(dir, name)
		info, err := p.fs.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		p.must(err)
		if info.IsDir() {
			p.eachStoreFile(path, fn)
			continue
		}
		f, err := p.fs.Open(path)
		p.must(err)
		b, err := io.ReadAll(f)
		p.must(errors.Join(err, f.Close()))
		fn(path, b)
	}
}

func (p *fixture) purge(o purge.Options) *value.Purged {
	p.t.Helper()
	r, err := p.e.Purger.Purge(bg, o)
	if err != nil {
		p.t.Fatalf("purge: %v", err)
	}
	return r
}

// wantPurged holds what a purge promises: no byte is left, and every checkpoint gives all its other files.
func (p *fixture) wantPurged(secret string, all []*model.Checkpoint) {
	p.t.Helper()
	if found := p.holding(secret); found != nil {
		p.t.Fatalf("still in %q", found)
	}
	p.verify()
	for _, cp := range all {
		files, purged := 0, 0
		p.must(tree.Diff(p.e.Log.Objs, objstore.ID{}, cp.Tree, func(ch tree.Change) error {
			if !model.IsFile(ch.New) {
				return nil
			}
			files++
			_, err := p.e.Log.Objs.Get(objstore.Blob, ch.New.ID)
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
			p.t.Fatalf("%s: %d of %d files are purged", cp.ID.Short(), purged, files)
		}
	}
}

// histories are projects with a secret in them, the paths it stood at, and its checkpoints.
func histories() map[string]func(p *fixture) (secret string, o purge.Options, all []*model.Checkpoint) {
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
	return map[string]func(p *fixture) (string, purge.Options, []*model.Checkpoint){
		"small": func(p *fixture) (string, purge.Options, []*model.Checkpoint) {
			secret := canary(1, 3000)
			p.write("keep", "keep")
			p.write("d/secret", secret)
			p.write("copy", secret)
			all := []*model.Checkpoint{p.save("with")}
			p.write("d/secret", "clean")
			p.remove("copy")
			return secret, purge.Options{Paths: []string{"d/secret"}}, append(all, p.save("without"))
		},
		"delta base": func(p *fixture) (string, purge.Options, []*model.Checkpoint) {
			secret := canary(2, 96)
			var all []*model.Checkpoint
			var ids []string
			for n := range 24 {
				with := ""
				if n >= 5 && n < 12 {
					with = secret + "\n"
				}
				p.write("f", lines(n, with))
				cp := p.save(fmt.Sprint(n))
				all = append(all, cp)
				ent, err := tree.Lookup(p.e.Log.Objs, cp.Tree, "f")
				p.must(err)
				if with != "" {
					ids = append(ids, ent.ID.String())
				}
			}
			p.write("g", "g")
			return secret, purge.Options{Blobs: ids}, append(all[:5], all[12:]...)
		},
		"text in many files": func(p *fixture) (string, purge.Options, []*model.Checkpoint) {
			secret := canary(3, 96)
			var all []*model.Checkpoint
			for n := range 12 {
				p.write("a", lines(n, secret))
				p.write("b/c", lines(n, "")+secret)
				p.write("clean", lines(n, ""))
				all = append(all, p.save(fmt.Sprint(n)))
			}
			return secret, purge.Options{Text: []byte(secret)}, all
		},
		"chunks": func(p *fixture) (string, purge.Options, []*model.Checkpoint) {
			secret, body := canary(4, 480), canary(5, 9<<20)
			p.write("keep", "keep")
			p.write("large", body[:5<<20]+secret+body[5<<20:])
			all := []*model.Checkpoint{p.save("with")}
			p.write("large", body)
			return secret, purge.Options{Text: []byte(secret)}, append(all, p.save("without"))
		},
	}
}

// TestPurgeCanary: no byte of a purged secret is in any file or stored value, and it was there before; the checkpoints are.
func TestPurgeCanary(t *testing.T) {
	for name, make := range histories() {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			secret, o, all := make(p)
			if found := p.holding(secret); len(found) < 2 {
				t.Fatalf("before: only in %q", found)
			}
			o.DryRun = true
			would := p.purge(o)
			if len(p.holding(secret)) == 0 || would.Contents == 0 || would.Operation != 0 {
				t.Fatalf("dry run: %+v", would)
			}
			o.DryRun = false
			r := p.purge(o)
			if r.Contents != would.Contents || r.Checkpoints != would.Checkpoints || r.Checkpoints == 0 || r.Operation == 0 {
				t.Errorf("%+v, was to be %+v", r, would)
			}
			p.wantPurged(secret, all)
			again, err := p.e.Purger.Purge(bg, o)
			if err == nil && (again.Contents != 0 || again.Operation != 0) || err != nil && !errors.Is(err, objstore.ErrNotFound) {
				t.Errorf("again: %+v, %v", again, err)
			}
			// It does not come back.
			p.save("after")
			p.write("new", secret)
			p.save("and a new file")
			if strings.HasPrefix(name, "small") {
				p.wantPurged(secret, all)
			}
			p.must(p.e.Close())
			p.openOn(p.fs)
			if _, err := p.e.Restorer.Undo(bg, 1, restore.Options{}); err != nil && !errors.Is(err, model.ErrNotFound) {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

// openOn opens the store as it is in fs.
func (p *fixture) openOn(f *kvtest.CrashFS) {
	p.t.Helper()
	p.fs = f
	e, err := Open(bg, p.home, p.root, project.Options{KV: kv.Options{FS: f}})
	p.must(err)
	p.e = e
}

// TestPurgedFileInTheWorktree: a file that still has the content is listed, not captured, and left alone by every restore; changed, it is captured.
func TestPurgedFileInTheWorktree(t *testing.T) {
	p := newProject(t)
	p.write("f", "1")
	p.write("d/secret", "one")
	one := p.save("one")
	p.write("f", "2")
	p.write("d/secret", "hunter2")
	two := p.save("two")
	p.write("f", "3")
	p.save("three")
	// A restore over it, that is reverted later.
	res := p.checkout(one.ID.String(), restore.Options{})
	p.checkout("@", restore.Options{})
	_, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{})
	p.must(err)
	ent, err := tree.Lookup(p.e.Log.Objs, two.Tree, "d/secret")
	p.must(err)
	r := p.purge(purge.Options{Blobs: []string{ent.ID.String()}})
	equal(t, "paths", r.Paths, []value.Text{"d/secret"})
	equal(t, "present", r.Present, []value.Text{"d/secret"})

	for range 2 {
		cp := p.save("after")
		skips, err := p.e.Log.Note(cp)
		p.must(err)
		if !slices.Contains(skips, tree.Skip{Path: "d/secret", Reason: tree.ReasonPurged, Size: 7}) {
			t.Errorf("not listed: %+v", skips)
		}
		if _, err := p.e.Log.Lookup(cp, "d/secret"); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("captured: %v", err)
		}
		p.write("f", "4")
	}
	st := string(p.slurp(p.path("d/secret")))
	// To the checkpoint that has the purged content; to one that has another: that would lose what cannot be stored.
	got := p.checkout(two.ID.String(), restore.Options{})
	equal(t, "kept", p.keptNames(got), []string{"purged d/secret"})
	if p.slurp(p.path("f")) != "2" || p.slurp(p.path("d/secret")) != st {
		t.Error("the checkout did not leave it alone, or the others")
	}
	var unsaved *model.UnsavedError
	if _, err := p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{}); !errors.As(err, &unsaved) {
		t.Errorf("to one: %v", err)
	}
	// The user takes the secret out: it is captured again, and restored, but for the purged version.
	p.write("d/secret", "clean")
	clean := p.save("clean")
	if p.cat(clean, "d/secret") != "clean" {
		t.Error("not captured")
	}
	for _, exact := range []bool{false, true} {
		got = p.checkout(two.ID.String(), restore.Options{Scope: refs.Scope{Exact: exact}})
		equal(t, "kept", p.keptNames(got), []string{"purged d/secret"})
		if b, _ := os.ReadFile(p.path("d/secret")); string(b) != map[bool]string{false: "clean"}[exact] {
			t.Errorf("written or removed: %q", b)
		}
		p.remove("d/secret")
	}
	got = p.checkout(clean.ID.String(), restore.Options{})
	if p.slurp(p.path("d/secret")) != "clean" || len(got.Plan.Kept) > 0 {
		t.Errorf("kept %q", p.keptNames(got))
	}
	// The restore whose safety checkpoint had it.
	got, err = p.e.Restorer.UndoRestore(bg, res.Operation.Seq, restore.Options{})
	p.must(err)
	equal(t, "kept", p.keptNames(got), []string{"purged d/secret"})
	if p.slurp(p.path("d/secret")) != "clean" {
		t.Error("undo-restore wrote or removed it")
	}
	// The words.
	shown, err := p.e.History.Show(bg, two.ID.String(), nil)
	p.must(err)
	if shown.Gone["d/secret"] != "purged" {
		t.Errorf("show: %v", shown.Gone)
	}
	_, err = p.e.Diff(bg, DiffOptions{From: one.ID.String(), To: two.ID.String()}, func(d FileDiff) error {
		if (d.Gone == "purged") != (d.Path == "d/secret") || d.Gone != "" && d.Text.Hunks != nil {
			t.Errorf("diff: %+v", d)
		}
		return nil
	})
	p.must(err)
	if _, _, err := p.e.History.Cat(bg, two.ID.String(), "d/secret"); !errors.Is(err, objstore.ErrPurged) {
		t.Errorf("cat: %v", err)
	}
	if _, err := p.e.Restorer.UndoRestore(bg, r.Operation, restore.Options{}); !errors.Is(err, model.ErrUsage) || !strings.Contains(err.Error(), "cannot be undone") {
		t.Errorf("undo of the purge: %v", err)
	}
	p.verify()
}

// TestPurgeConversation: the text is found in a conversation, raw or escaped, and across two blocks; the conversation is captured no more.
func TestPurgeConversation(t *testing.T) {
	for _, across := range []bool{false, true} {
		p, k := begun(t)
		other := p.talker(2)
		secret := "key \"\u00fc<1>\" " + strings.Repeat("0123456789abcdef", 9)
		k.ask("one")
		if across {
			at := len(p.slurp(k.file))
			k.say(strings.Repeat("x", conversation.TranscriptBlock-at-330) + secret + strings.Repeat("y", 3000))
		} else {
			k.say("it is " + secret)
		}
		k.stop()
		k.take("two", p.edits("f", "2"))
		other.take("clean", p.edits("g", "1"))
		p.settle()
		before := p.holding(secret[40:])
		if len(before) == 0 {
			t.Fatal("not captured")
		}
		if across {
			h := purge.NewHaystack(purge.Needles([]byte(secret)))
			p.must(p.e.Log.Objs.Keys(bg, objstore.Blob, func(key objstore.Key, _ objstore.Info) error {
				id, err := p.e.Log.Objs.IDOf(objstore.Blob, key)
				p.must(err)
				if in, err := h.InBlob(p.e.Log.Objs, id); in || err != nil {
					t.Errorf("whole in one block: %v", err)
				}
				return nil
			}))
		}
		r := p.purge(purge.Options{Text: []byte("\n" + secret + "\n")})
		equal(t, "sessions", r.Sessions, []string{k.name()})
		equal(t, "agents' files", r.AgentFiles, []value.Text{value.Text(k.file)})
		if found := p.holding(secret[40:]); found != nil {
			t.Fatalf("across %v: still in %q", across, found)
		}
		p.verify()
		// Its file goes on, and has the secret still.
		k.take("three", p.edits("f", "3"))
		p.settle()
		if found := p.holding(secret[40:]); found != nil {
			t.Fatalf("across %v: came back in %q", across, found)
		}
		if s := p.session(k.name()); !s.Purged || !strings.Contains(s.Problem, "purged") {
			t.Errorf("the session: %+v", s)
		}
		if _, err := p.e.Restorer.Fork(bg, "turn:2", restore.Options{Env: p.env(), Session: model.SessionChoice{Session: k.name()}}); err == nil || !strings.Contains(err.Error(), "purged") {
			t.Errorf("fork: %v", err)
		}
		if s := p.session(other.name()); s.Purged || len(p.talk(s)) == 0 {
			t.Errorf("the other session: %+v", s)
		}
	}
}

// TestPurgeFilesBeside: what of rewind's own files has the secret goes with it.
func TestPurgeFilesBeside(t *testing.T) {
	p := newProject(t)
	secret := canary(7, 200)
	p.write("s", secret)
	p.write("f", "f")
	p.save("1")
	for name, text := range map[string]string{
		"backups/claude-1234-settings.json": "{}" + secret, "backups/claude-5678-settings.json": "{}", "run/daemon.log": secret, "run/daemon.log.1": "x" + secret,
	} {
		path := filepath.Join(p.home.Dir, name)
		p.must(os.MkdirAll(filepath.Dir(path), 0o700))
		p.must(os.WriteFile(path, []byte(text), 0o600))
	}
	stage := p.path(project.MarkerDir + "/stage/x")
	p.must(os.MkdirAll(stage, 0o700))
	p.must(os.WriteFile(filepath.Join(stage, "1.kept"), []byte(secret), 0o600))
	p.must(os.WriteFile(filepath.Join(stage, "2.kept"), []byte("work"), 0o600))
	aside := filepath.Join(p.e.Log.Project.Store, kv.QuarantineDir, "20261122-080000", "db")
	p.must(os.MkdirAll(aside, 0o700))
	p.must(os.WriteFile(filepath.Join(aside, "000001.sst"), []byte("what a repair has replaced, compressed"), 0o600))
	r := p.purge(purge.Options{Paths: []string{"s"}, Text: []byte(secret)})
	if _, err := os.Lstat(filepath.Dir(filepath.Dir(aside))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the quarantine is there: %v", err)
	}
	if found := p.holding(secret); found != nil || len(r.Files) != 5 {
		t.Errorf("removed %q, left %q", r.Files, found)
	}
	for _, path := range []string{filepath.Join(p.home.Dir, "backups/claude-5678-settings.json"), filepath.Join(stage, "2.kept")} {
		p.slurp(path)
	}
}

// TestPurgeRefused: while a checkout is half done, for what no checkpoint has, for the whole project, for nothing.
func TestPurgeRefused(t *testing.T) {
	p := newProject(t)
	secret := canary(8, 3000)
	p.write("s", secret)
	p.write("f", "1")
	one := p.save("1")
	p.write("f", "2")
	p.remove("s")
	p.save("2")
	for name, c := range map[string]struct {
		o    purge.Options
		want error
	}{
		"nothing":      {purge.Options{}, model.ErrUsage},
		"white space":  {purge.Options{Text: []byte(" \n")}, model.ErrUsage},
		"short":        {purge.Options{Text: []byte("abc")}, model.ErrUsage},
		"long":         {purge.Options{Text: bytes.Repeat([]byte("a"), purge.MaxNeedle+1)}, model.ErrUsage},
		"root":         {purge.Options{Paths: []string{"."}}, model.ErrUsage},
		"outside":      {purge.Options{Paths: []string{"../x"}}, model.ErrUsage},
		"unknown path": {purge.Options{Paths: []string{"s", "nothing"}}, model.ErrNotFound},
		"unknown blob": {purge.Options{Blobs: []string{"00000000"}}, objstore.ErrNotFound},
		"no id":        {purge.Options{Blobs: []string{"xyz"}}, model.ErrUsage},
	} {
		if _, err := p.e.Purger.Purge(bg, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.crashed(one.ID.String(), restore.Options{}, true, 0)
	if _, err := p.e.Purger.Purge(bg, purge.Options{Paths: []string{"s"}}); !errors.Is(err, model.ErrHalfDone) {
		t.Errorf("half done: %v", err)
	}
	if len(p.holding(secret)) == 0 {
		t.Error("something was purged")
	}
	_, err := p.e.Restorer.Continue(bg, value.AgentEnv{})
	p.must(err)
	p.purge(purge.Options{Paths: []string{"s"}})
	if found := p.holding(secret); found != nil {
		t.Errorf("still in %q", found)
	}
	op, err := p.e.Log.Refs.Operation(p.e.Log.DB.LastSeq())
	p.must(err)
	if op.Kind != refs.KindPurge || op.Message != "s" {
		t.Errorf("%+v", op)
	}
}

// TestPurgeEmptyFile: nobody's secret, and all empty files are one.
func TestPurgeEmptyFile(t *testing.T) {
	p := newProject(t)
	p.write("d/empty", "")
	p.write("d/s", "secret")
	p.write("other", "")
	p.save("1")
	if r := p.purge(purge.Options{Paths: []string{"d"}}); r.Contents != 1 {
		t.Errorf("%+v", r)
	}
	p.write("more", "1")
	if cp := p.save("2"); p.cat(cp, "d/empty") != "" || p.cat(cp, "other") != "" {
		t.Error("an empty file is purged")
	}
}

// TestPurgeKilled cuts before every call that a purge makes on the store, with none or all of what was not synced still there: nothing but the
// secret is ever missing, and begun again it ends.
func TestPurgeKilled(t *testing.T) {
	every := 5
	if torture.Full() {
		every = 1
	}
	for name, make := range histories() {
		if name == "chunks" && !torture.Full() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := openProject(t, t.TempDir(), t.TempDir())
			secret, o, all := make(p)
			p.must(p.e.Close())
			ffs := kvtest.NewFaultFS(p.fs)
			var cuts []*kvtest.CrashFS
			var mu sync.Mutex // calls come from several goroutines
			n := 0
			e, err := Open(bg, p.home, p.root, project.Options{KV: kv.Options{FS: ffs}})
			p.must(err)
			p.e = e
			ffs.Hook(func(c kvtest.Call) {
				if c.Kind == kvtest.Read {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if n++; n%every == 0 {
					cuts = append(cuts, p.fs.Clone(100*(n/every%2), uint64(n)))
				}
			})
			p.purge(o)
			ffs.Hook(nil)
			p.must(p.e.Close())
			half := 0
			for i, c := range cuts {
				p.openOn(c)
				if len(p.holding(secret)) > 0 {
					half++
				}
				for _, cp := range all {
					if _, err := p.e.History.Resolve(cp.ID.String()); err != nil {
						t.Fatalf("cut %d: %v", i, err)
					}
				}
				if _, err := p.e.Purger.Purge(bg, o); err != nil && !errors.Is(err, objstore.ErrNotFound) {
					t.Fatalf("cut %d: %v", i, err)
				}
				p.wantPurged(secret, all)
				p.must(p.e.Close())
			}
			t.Logf("%d calls, %d cuts, %d of them before its end", n, len(cuts), half)
			if half == 0 {
				t.Error("no cut came before its end")
			}
		})
	}
}
