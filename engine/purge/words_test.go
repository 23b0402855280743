package purge_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// worded is a project that has a text everywhere but in contents of files that are there: in a prompt, in messages, in
// a tag, in names of a file, a
// directory and an ignored one, which are gone from the project.
func worded(t *testing.T, secret string) (*enginetest.Project, *enginetest.Talker, []*model.Checkpoint) {
	t.Helper()
	p, k := enginetest.Begun(t)
	var all []*model.Checkpoint
	p.Write(".gitignore", "*.log\n")
	p.Write("d/"+secret+".txt", "a file")
	p.Write("x-"+secret+"/deep/f", "below")
	p.Write(secret+".log", "ignored")
	p.Write("keep", "kept")
	all = append(all, p.Save("with "+secret))
	all = append(all, p.Save("on it: "+secret)) // nothing has changed: it lies beside the checkpoint
	_, err := p.E.History.Tag(enginetest.Bg, "t-"+secret, "@", false)
	p.Must(err)
	k.Take("use "+secret+" please", p.Edits("f", "1"))
	p.Remove("d/" + secret + ".txt")
	p.Must(os.RemoveAll(p.Path("x-" + secret)))
	p.Remove(secret + ".log")
	k.Take("go on", p.Edits("f", "2"))
	p.Settle()
	return p, k, append(all, p.Save("after"))
}

// renew opens the store anew: a MANIFEST has keys, in which names are, until then.
func renew(p *enginetest.Project) {
	p.T.Helper()
	p.Must(p.E.Close())
	openOn(p, p.FS)
	p.Must(p.E.Log.DB.Scrub(enginetest.Bg))
}

// TestPurgeWords: a text goes out of prompts, messages, titles, tags and names too; ids stay, and every other file is
// as it was.
func TestPurgeWords(t *testing.T) {
	const secret = "Kx7vQ2mZ9pLw4TzR8sB1nYcJ"
	p, k, all := worded(t, secret)
	before, err := p.E.History.Show(enginetest.Bg, all[0].ID.String(), nil)
	p.Must(err)
	would := p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}, DryRun: true})
	r := p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}})
	if r.Words == 0 || r.Words != would.Words || r.Prompts != 0 || len(r.Names) != 0 || r.Unread != 0 || r.Operation == 0 {
		t.Errorf("%+v, was to be %+v", r, would)
	}
	for range 2 {
		renew(p)
		if found := p.Holding(secret); found != nil {
			t.Errorf("still in %q", found)
		}
		p.Verify()
		p.Gc(gc.Options{})
	}
	// The same moments, with other words.
	after, err := p.E.History.Show(enginetest.Bg, all[0].ID.String(), nil)
	p.Must(err)
	if after.ID != before.ID || len(after.Changes) != len(before.Changes) || !strings.HasPrefix(after.Cause.Message, "with purged-") {
		t.Errorf("%s %q %d changes, had %d", after.ID.Short(), after.Cause.Message, len(after.Changes), len(before.Changes))
	}
	tags, err := p.E.History.Tags(enginetest.Bg)
	p.Must(err)
	if len(tags) != 1 || !strings.HasPrefix(tags[0].Tag, "t-purged-") {
		t.Errorf("tags: %+v", tags)
	}
	// It can be gone to, and undone, and gone on from.
	p.Checkout(all[0].ID.String(), restore.Options{})
	if p.Slurp(p.Path("keep")) != "kept" {
		t.Error("another file is not as it was")
	}
	found := 0
	p.Must(tree.Walk(p.E.Log.Objs, all[0].Tree, func(path string, e tree.Entry) error {
		if e.Type == tree.TypeFile && strings.Contains(path, "purged-") {
			found++
			if text := p.Slurp(p.Path(path)); text != "a file" && text != "below" {
				t.Errorf("%s is %q", path, text)
			}
		}
		return nil
	}))
	if found != 2 {
		t.Errorf("%d files have other names", found)
	}
	k.Take("more", p.Edits("f", "3"))
	p.Settle()
	p.Save("more")
	p.Verify()
	renew(p)
	if found := p.Holding(secret); found != nil {
		t.Fatalf("came back in %q", found)
	}
	// Again, and another text: nothing is damaged, and nothing is left to do.
	again := p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}})
	if again.Words != 0 || again.Unread != 0 || again.Operation != 0 {
		t.Errorf("again: %+v", again)
	}
}

// TestPurgeNameInTheProject: the name of a file that is in the project stays, and is said; the words around it do not.
// Under another name it goes.
func TestPurgeNameInTheProject(t *testing.T) {
	const secret = "Kx7vQ2mZ9pLw4TzR8sB1nYcJ"
	p := enginetest.NewProject(t)
	p.Write("d/"+secret, "a file")
	p.Write("keep", "kept")
	p.Save("with " + secret + "!")
	r := p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}})
	enginetest.Equal(t, "names", r.Names, []value.Text{value.Text("d/" + secret)})
	if r.Prompts == 0 {
		t.Errorf("%+v", r)
	}
	p.Verify()
	p.Must(os.Rename(p.Path("d/"+secret), p.Path("d/other")))
	p.Save("renamed")
	r = p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}})
	if len(r.Names) != 0 || r.Prompts != 0 || r.Words == 0 {
		t.Errorf("%+v", r)
	}
	renew(p)
	if found := p.Holding(secret); found != nil {
		t.Fatalf("still in %q", found)
	}
	p.Verify()
	// Made again under its name, it is captured as it is.
	p.Must(os.Rename(p.Path("d/other"), p.Path("d/"+secret)))
	cp := p.Save("again")
	if p.Cat(cp, "d/"+secret) != "a file" {
		t.Error("not captured")
	}
	p.Verify()
}

// TestPurgeWordsInterrupted: who is interrupted has taken out nothing; the ids of all checkpoints stay good.
func TestPurgeWordsInterrupted(t *testing.T) {
	const secret = "Kx7vQ2mZ9pLw4TzR8sB1nYcJ"
	p, _, all := worded(t, secret)
	o := purge.Options{Texts: [][]byte{[]byte(secret)}}
	ctx, cancel := context.WithCancel(enginetest.Bg)
	cancel()
	if _, err := p.E.Purger.Purge(ctx, o); err == nil {
		t.Error("an interrupted one succeeded")
	}
	if p.Holding(secret) == nil {
		t.Error("an interrupted one did something")
	}
	p.Purge(o)
	renew(p)
	for _, cp := range all {
		if _, err := p.E.Log.Objs.Get(objstore.Checkpoint, cp.ID); err != nil {
			t.Error(err)
		}
	}
	if found := p.Holding(secret); found != nil {
		t.Fatalf("still in %q", found)
	}
}
