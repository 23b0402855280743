package history_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/value"
)

// listed is the only session of a list.
func listed(p *enginetest.Project) model.SessionInfo {
	p.T.Helper()
	time.Sleep(25 * time.Millisecond) // so that the file's stamp tells it from the next one
	all, _, err := p.E.History.SessionList(enginetest.Bg, true, 0)
	p.Must(err)
	if len(all) != 1 {
		p.T.Fatalf("%d sessions", len(all))
	}
	return all[0]
}

// stored is what the store knows of sessions.
func stored(p *enginetest.Project) (list []*model.Known) {
	p.T.Helper()
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixKnown}, From: model.KnownFrom()}, func(_, raw []byte) error {
		known, err := model.DecodeKnown(raw)
		list = append(list, known)
		return err
	}))
	return list
}

// put has the store know something else of a session, and opens it anew.
func put(p *enginetest.Project, name string, raw []byte) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set(model.KnownKey(name), raw))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	p.Reopen()
}

// A session's file is read when it is another one than what is known of, and only then, also by the next process. What
// cannot be read, is
// of another program, or of no session, is as if it was not there.
func TestSessionsAreKnown(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	first := listed(p)
	if first.Turns != 2 || first.Title != "one" || first.Messages < 6 {
		t.Fatalf("%+v", first)
	}
	is := stored(p)
	if len(is) != 1 || is[0].Title != "one" || is[0].Stamp.Size != first.Bytes {
		t.Fatalf("the store knows %+v", is)
	}
	is[0].Title, is[0].Turns = "known and not read", 7
	put(p, k.Name(), is[0].Encode())
	if got := listed(p); got.Title != "known and not read" || got.Turns != 7 {
		t.Errorf("the file was read: %+v", got)
	}
	other := *is[0]
	other.Read++
	for what, raw := range map[string][]byte{"garbage": []byte("garbage"), "another program's": other.Encode()} {
		put(p, k.Name(), raw)
		if got := listed(p); got.Title != "one" || got.Turns != 2 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	put(p, "claude/nobody", is[0].Encode())
	listed(p)
	if is := stored(p); len(is) != 1 || is[0].Title != "one" {
		t.Errorf("the store knows %+v", is)
	}
	k.Take("three", nil)
	if got := listed(p); got.Turns != 3 || got.Title != "one" {
		t.Errorf("after an append: %+v", got)
	}
	text := strings.ReplaceAll(p.Slurp(k.File), `"content":"one"`, `"content":"two"`)
	p.Must(os.WriteFile(k.File, []byte(text), 0o600))
	if got := listed(p); got.Turns != 3 || got.Title != "two" {
		t.Errorf("after a rewrite of the same size: %+v", got)
	}
	p.Settle()
	p.Must(os.Truncate(k.File, 0))
	if got := listed(p); got.Turns != 0 || got.Missing {
		t.Errorf("of an empty file: %+v", got)
	}
}

// Of a session whose file is gone what was captured is known, by its transcript.
func TestSessionsWithoutAFileAreKnown(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	p.Must(os.Remove(k.File))
	if got := listed(p); got.Turns != 2 || !got.Missing {
		t.Fatalf("%+v", got)
	}
	is := stored(p)
	if len(is) != 1 || is[0].Transcript != p.Session(k.Name()).Cursor.Transcript {
		t.Fatalf("the store knows %+v", is)
	}
	is[0].Title = "known and not read"
	put(p, k.Name(), is[0].Encode())
	if got := listed(p); got.Title != "known and not read" {
		t.Errorf("%+v", got)
	}
}

// What is purged is not kept by what is known, nor learnt again, though the agent's own file has it still.
func TestKnownIsPurged(t *testing.T) {
	const secret = "hunter22-of-the-long-forgotten-field"
	p, k := enginetest.Begun(t)
	k.Take(secret, p.Edits("f", "1"))
	k.Take("two", p.Edits("f", "2"))
	p.Settle()
	if got := listed(p); got.Title != secret || len(p.Holding(secret)) == 0 {
		t.Fatalf("%+v", got)
	}
	p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}})
	for range 2 {
		listed(p)
		for _, known := range stored(p) {
			if strings.Contains(known.Title, secret) {
				t.Errorf("the store knows %+v", known)
			}
		}
		p.Reopen()
	}
}

// What a list says of its rows' sessions waits for nobody: while somebody holds the log it is what was told before.
func TestKinWaitsForNobody(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	told := func() (string, int) {
		t.Helper()
		kin, err := p.E.History.Kin()
		p.Must(err)
		return kin(k.Name(), 1)
	}
	free := p.E.Log.Hold()
	if title, forks := told(); title != "" || forks != 0 { // nothing was told yet
		t.Errorf("%q, %d", title, forks)
	}
	free()
	kid := p.Fork("turn:1", restore.Options{Title: "another way"}).Fork.Session
	_, _, err := p.E.History.SessionList(enginetest.Bg, true, 0)
	p.Must(err)
	if title, forks := told(); title != "one" || forks != 1 {
		t.Errorf("%q, %d", title, forks)
	}
	release := p.E.Log.Hold()
	if title, _ := told(); title != "one" {
		t.Errorf("%q while somebody is at the project", title)
	}
	p.E.Log.Rewrote() // perhaps a title was purged
	if title, forks := told(); title != "" || forks != 0 {
		t.Errorf("%q, %d once something is taken out of the log", title, forks)
	}
	release()
	for standing, want := range map[value.Standing]int{value.MainLine: 1, value.Archived: 1, value.Deleted: 0} {
		recorded(p, kid, func(s *model.Session) { s.Standing = standing })
		if _, forks := told(); forks != want {
			t.Errorf("%d forks, of which one is %q", forks, standing)
		}
	}
}
