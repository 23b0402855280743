package restore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/manage"
	"rewind/engine/restore"
	"rewind/objstore"
	"rewind/refs"
)

// objectBytes counts the bytes of a store's conversations.
func objectBytes(p *enginetest.Project) (size int64) {
	p.T.Helper()
	for _, k := range []objstore.Kind{objstore.Blob, objstore.Transcript} {
		p.Must(p.E.Log.Objs.Keys(enginetest.Bg, k, func(_ objstore.Key, info objstore.Info) error {
			size += info.Stored
			return nil
		}))
	}
	return size
}

// long is a session with two turns, the first of which says what no compression makes less of.
func long(t *testing.T) (*enginetest.Project, *enginetest.Talker) {
	p, k := enginetest.Begun(t)
	k.Ask("one")
	r := rand.New(rand.NewPCG(4, 1))
	for range 400 {
		words := ""
		for range 50 {
			words += fmt.Sprintf("%x ", r.Uint64())
		}
		k.Say(words)
	}
	k.Stop()
	k.Take("two", p.Edits("f", "2"))
	p.Settle()
	return p, k
}

// TestForkIsNotStoredAgain: neither when it is made nor when its agent goes on with it. It is whole when it was deleted
// and brought back, and when its original is gone.
func TestForkIsNotStoredAgain(t *testing.T) {
	p, k := long(t)
	was := objectBytes(p)
	f := p.Fork("turn:1@"+k.Name(), restore.Options{Env: p.Env()})
	made := p.Slurp(f.Path)
	if now := objectBytes(p); now > was+1000 {
		t.Errorf("a fork of %d bytes takes %d", len(made), now-was)
	}
	o := p.Opened(f.Fork)
	o.Take("more", p.Edits("f", "3"))
	p.Settle()
	p.Reopen()
	if now := objectBytes(p); now > was+6000 {
		t.Errorf("gone on with, a fork of %d bytes takes %d", len(made), now-was)
	}
	s := p.Session(f.Session)
	if got := string(p.Talk(s)); got != p.Slurp(f.Path) || !strings.HasPrefix(got, made) {
		t.Errorf("%d bytes are captured of a file of %d", len(got), len(p.Slurp(f.Path)))
	}
	if s.Cursor.Last == "" {
		t.Error("its newest record is not known")
	}
	p.Verify()

	remove := manage.Request{Kind: refs.KindDelete, Sessions: []string{f.Session}, Env: p.Env(), LastCopy: true}
	_, err := p.E.Restorer.Manage(enginetest.Bg, remove)
	p.Must(err)
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	if got := p.Slurp(f.Path); !strings.HasPrefix(got, made) || len(got) == len(made) {
		t.Errorf("brought back, its file has %d bytes, made were %d", len(got), len(made))
	}
	p.Must(os.Remove(k.File)) // the original
	p.Reopen()
	for n := range 2 {
		p.E.Log.Now = func() time.Time { return time.Now().Add(time.Duration(n+1) * 90 * enginetest.ADay) }
		p.Write("later", enginetest.Big(string(rune('a'+n))))
		p.Save("later")
		p.Gc(gc.Options{Keep: 1})
		p.Verify()
	}
	o.Take("at last", p.Edits("f", "4"))
	p.Settle()
	if got := string(p.Talk(p.Session(f.Session))); got != p.Slurp(f.Path) {
		t.Error("after gc its conversation is another one")
	}
}
