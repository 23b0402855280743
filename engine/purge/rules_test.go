package purge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// The chunks of one large file go with it, those that it shares with another one stay, and what is left in its place
// says where it stood.
func TestPurgeChunksOfOneFile(t *testing.T) {
	p := enginetest.NewProject(t)
	secret, shared := canary(21, 200), canary(22, 9<<20)
	p.Write("dir/large", secret+shared)
	p.Write("other", shared)
	cp := p.Save("with")
	ent, err := tree.Lookup(p.E.Log.Objs, cp.Tree, "dir/large")
	p.Must(err)
	p.Remove("dir/large")
	p.Save("without")
	if r := p.Purge(purge.Options{Blobs: []string{ent.ID.String()}}); r.Contents != 1 {
		t.Errorf("%+v", r)
	}
	if found := p.Holding(secret); found != nil {
		t.Errorf("still in %q", found)
	}
	p.Verify()
	var stood []string
	p.Must(p.E.Log.Objs.WalkTombstones(func(_ objstore.Kind, _ objstore.Key, g objstore.Tombstone, err error) error {
		stood = append(stood, g.Text)
		return err
	}))
	enginetest.Equal(t, "where it stood", stood, []string{"dir/large"})
}

// Every session that had the text is captured no more, also once the store was opened again.
func TestPurgeTwoConversations(t *testing.T) {
	p, k := enginetest.Begun(t)
	secret := "key " + strings.Repeat("0123456789abcdef", 9)
	other, clean := p.Talker(2), p.Talker(3)
	k.Take("it is "+secret, p.Edits("f", "1"))
	other.Take("as I said, "+secret, p.Edits("f", "2"))
	clean.Take("nothing", p.Edits("f", "3"))
	p.Settle()
	r := p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}})
	want := []string{k.Name(), other.Name()}
	slices.Sort(want)
	enginetest.Equal(t, "sessions", r.Sessions, want)
	p.Must(p.E.Close())
	openOn(p, p.FS)
	for name, purged := range map[string]bool{k.Name(): true, other.Name(): true, clean.Name(): false} {
		if s := p.Session(name); s.Purged != purged {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// What cannot be read is passed over and counted, whatever it is.
func TestPurgeBesideDamage(t *testing.T) {
	for _, kind := range []objstore.Kind{objstore.Blob, objstore.Tree} {
		p := enginetest.NewProject(t)
		secret := canary(23, 200)
		p.Write("d/f", "other")
		cp := p.Save("with")
		p.Write("s", secret)
		p.Save("and the text")
		ent, err := tree.Lookup(p.E.Log.Objs, cp.Tree, "d/f")
		p.Must(err)
		dir, err := tree.Lookup(p.E.Log.Objs, cp.Tree, "d")
		p.Must(err)
		key := map[objstore.Kind]objstore.ID{objstore.Blob: ent.ID, objstore.Tree: dir.ID}[kind].Key()
		b := p.E.Log.DB.NewBatch()
		p.Must(b.Set(append([]byte{kv.PrefixObject, byte(kind)}, key[:]...), []byte("spoilt")))
		p.Must(b.Commit(enginetest.Bg, kv.Durable))
		p.Must(p.E.Close())
		openOn(p, p.FS)
		r, err := p.E.Purger.Purge(enginetest.Bg, purge.Options{Texts: [][]byte{[]byte(secret)}})
		if err != nil || r.Contents != 1 || r.Unread == 0 {
			t.Errorf("a spoilt %s: %+v, %v", kind, r, err)
		}
	}
}

// What restores have left is listed by its whole path. What is blank is nobody's secret.
func TestPurgeListsWhatWasLeft(t *testing.T) {
	p := enginetest.NewProject(t)
	secret := canary(24, 200)
	p.Write("s", secret)
	p.Write("blank", "\n")
	p.Write("f", "f")
	p.Save("1")
	stage := p.Path(project.MarkerDir + "/stage/x")
	p.Must(os.MkdirAll(stage, 0o700))
	for name, text := range map[string]string{"1.kept": secret, "2.kept": "\n"} {
		p.Must(os.WriteFile(filepath.Join(stage, name), []byte(text), 0o600))
	}
	r := p.Purge(purge.Options{Paths: []string{"s", "blank"}})
	enginetest.Equal(t, "removed", r.Files, []value.Text{value.Text(filepath.Join(stage, "1.kept"))})
	p.Slurp(filepath.Join(stage, "2.kept"))
}

// A text is looked for as JSON has it, with what is beyond ASCII escaped or not.
func TestNeedlesEscaped(t *testing.T) {
	for _, r := range []rune{'\u007f', '\u0080', 'ü', '\u2028', '\uffff'} {
		text := "secret" + string(r) + "key"
		want := []string{text, fmt.Sprintf(`secret\u%04xkey`, r)}
		if r < 0x80 {
			want = want[:1]
		}
		for _, w := range want {
			if !purge.NewHaystack(purge.Needles([]byte(text))).In([]byte(w)) {
				t.Errorf("%q is not looked for as %q", text, w)
			}
		}
	}
}

// What has the text and is nothing that a purge can write anew stays, and is counted.
func TestPurgeCountsWhatStays(t *testing.T) {
	p := enginetest.NewProject(t)
	secret := canary(25, 200)
	p.Write("s", secret)
	p.Save("with")
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set([]byte("~another version's"), []byte(secret)))
	p.Must(b.Commit(enginetest.Bg, kv.Durable))
	if r := p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}}); r.Prompts != 1 || r.Contents != 1 {
		t.Errorf("%+v", r)
	}
}
