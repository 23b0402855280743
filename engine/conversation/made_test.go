package conversation_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/internal/kv"
	"rewind/internal/record/recordtest"
	"rewind/objstore"
	"rewind/transcript"
)

const (
	originID = "11111111-1111-4111-8111-111111111111"
	forkedID = "22222222-2222-4222-8222-222222222222"
)

// records are n records of a Claude session, each with about so many bytes that nothing compresses.
func records(id string, n, size int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(uint64(n), uint64(size)))
	parent := "null"
	for i := range n {
		uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", i+1, r.Uint64()>>16)
		text := make([]byte, size)
		for k := range text {
			text[k] = "0123456789abcdef"[r.IntN(16)]
		}
		role, said := "user", `"`+string(text)+`"`
		if i%2 == 1 {
			role, said = "assistant", `[{"type":"text","text":"`+string(text)+`"}]`
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},"uuid":%q,`+
			`"timestamp":"2026-11-20T10:00:00.000Z","cwd":"/p","sessionId":%q,"version":"2.1.328"}`+"\n",
			parent, role, role, said, uuid, id)
		parent = `"` + uuid + `"`
	}
	return b.Bytes()
}

func forkOf(cut int, id string) transcript.Fork {
	return transcript.Fork{
		Cut: int64(cut), ID: id, Title: "[Fork] a title", From: originID, Time: time.UnixMilli(1_800_000_000_000),
	}
}

// putFork stores a fork of a stored transcript, and returns what it has to be.
func putFork(t enginetest.Fataler, tx *objstore.Tx, of objstore.ID, f transcript.Fork) (objstore.ID, []byte) {
	t.Helper()
	st, err := conversation.OpenTranscript(tx, of)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	src := transcript.Source{ReaderAt: st, Size: st.Size, Name: "/x/a.jsonl", Ended: true}
	var b bytes.Buffer
	if err := transcript.WriteFork(&b, transcript.Claude, src, f); err != nil {
		t.Fatalf("fork: %v", err)
	}
	id, n, err := conversation.PutFork(tx, st, transcript.Claude, src.Name, f, func(w io.Writer) error {
		return transcript.WriteFork(w, transcript.Claude, src, f)
	})
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("put: %d of %d bytes, %v", n, b.Len(), err)
	}
	return id, b.Bytes()
}

func open(t enginetest.Fataler, get objstore.Getter, id objstore.ID) *conversation.Stored {
	t.Helper()
	st, err := conversation.OpenTranscript(get, id)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return st
}

// objectsOf counts what is in a store, and the bytes of it.
func objectsOf(t *testing.T, s *objstore.Store) (n int, size int64) {
	for _, k := range []objstore.Kind{objstore.Blob, objstore.Transcript} {
		err := s.Keys(enginetest.Bg, k, func(_ objstore.Key, info objstore.Info) error {
			n, size = n+1, size+info.Stored
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n, size
}

// TestForkIsItsRule: what is stored of a fork is a rule; the same bytes are read as of one that is stored whole.
func TestForkIsItsRule(t *testing.T) {
	p := enginetest.NewProject(t)
	objs := p.E.Log.Objs
	of := records(originID, 3000, 6000) // over two windows
	tx := objs.Begin()
	id := putAll(t, tx, &conversation.Writer{Tx: tx}, of)
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	n, size := objectsOf(t, objs)
	tx = objs.Begin()
	fork, want := putFork(t, tx, id, forkOf(len(of), forkedID))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	if m, now := objectsOf(t, objs); m > n+2 || now > size+600 {
		t.Errorf("a fork of %d bytes takes %d bytes in %d objects", len(want), now-size, m-n)
	}
	st := open(t, objs, fork)
	if got := enginetest.ReadAll(t, objs, fork); !bytes.Equal(got, want) {
		t.Fatal("it is read as something else")
	}
	var all bytes.Buffer
	if _, err := st.WriteTo(&all); err != nil || !bytes.Equal(all.Bytes(), want) {
		t.Fatalf("it is written as something else: %v", err)
	}
	for _, at := range []int{len(want) - 100, 0, 9 << 20, 8<<20 - 50} {
		buf := make([]byte, 100)
		if _, err := st.ReadAt(buf, int64(at)); err != nil || !bytes.Equal(buf, want[at:at+100]) {
			t.Errorf("at %d it is something else: %v", at, err)
		}
	}
	if same, err := st.Begins(bytes.NewReader(want), int64(len(want))); err != nil || same != int64(len(want)) {
		t.Errorf("its own bytes are the same up to %d of %d: %v", same, len(want), err)
	}
	other := bytes.Clone(want)
	other[len(other)-70_000] ^= 1
	same, err := st.Begins(bytes.NewReader(other), int64(len(other)))
	if at := len(other) - 70_000; err != nil || same > int64(at) || same < int64(at)-conversation.TranscriptBlock {
		t.Errorf("of bytes that differ at %d the first %d are the same: %v", at, same, err)
	}
}

// TestForkGoesOn: the same bytes behind a fork have the same id, wherever captures ended, and what is made of a fork is
// known as going on from what it was.
func TestForkGoesOn(t *testing.T) {
	p := enginetest.NewProject(t)
	objs := p.E.Log.Objs
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{10, 700}).Draw(t, "size")
		of := records(originID, rapid.IntRange(2, 200).Draw(t, "records"), size)
		tx := objs.Begin()
		defer tx.Discard()
		id := putAll(t, tx, &conversation.Writer{Tx: tx}, of)
		fork, want := putFork(t, tx, id, forkOf(len(of), forkedID))
		more := records(forkedID, rapid.IntRange(1, 300).Draw(t, "more"), 600)
		all := append(bytes.Clone(want), more...)

		ids := map[objstore.ID]bool{}
		for range 3 {
			w, err := conversation.ResumeTranscript(tx, fork)
			if err != nil {
				t.Fatalf("resume: %v", err)
			}
			at := rapid.IntRange(0, len(more)).Draw(t, "captured")
			mid := putAll(t, tx, w, more[:at])
			if w, err = conversation.ResumeTranscript(tx, mid); err != nil {
				t.Fatalf("resume: %v", err)
			}
			end := putAll(t, tx, w, more[at:])
			ids[end] = true
			st := open(t, tx, end)
			for _, begin := range []objstore.ID{fork, mid, end} {
				if on, err := st.GoesOn(open(t, tx, begin)); err != nil || !on {
					t.Fatalf("it does not go on from %s: %v", begin.Short(), err)
				}
			}
			if on, err := open(t, tx, mid).GoesOn(st); err != nil || on != (mid == end) {
				t.Fatalf("a part goes on from all: %v, %v", on, err)
			}
		}
		whole, n, err := conversation.PutPart(tx, bytes.NewReader(all), int64(len(all)), fork)
		if ids[whole] = true; err != nil || n != int64(len(all)) || len(ids) != 1 {
			t.Fatalf("the same bytes have %d ids: %v", len(ids), err)
		}
		written, _, err := conversation.PutBytes(tx, whole, func(w io.Writer) error {
			_, err := w.Write(all)
			return err
		})
		if ids[written] = true; err != nil || len(ids) != 1 {
			t.Fatalf("written, they have another: %v", err)
		}
		if got := enginetest.ReadAll(t, tx, whole); !bytes.Equal(got, all) {
			t.Fatalf("%d bytes are read as something else", len(all))
		}
		same, _, err := conversation.PutPart(tx, bytes.NewReader(want), int64(len(want)), fork)
		if err != nil || same != fork {
			t.Fatalf("the fork as it began is not that fork: %v", err)
		}
		cut := rapid.IntRange(1, len(all)).Draw(t, "cut")
		part, _, err := conversation.PutPart(tx, bytes.NewReader(all), int64(cut), whole)
		if err != nil {
			t.Fatalf("cut: %v", err)
		}
		if got := enginetest.ReadAll(t, tx, part); !bytes.Equal(got, all[:cut]) {
			t.Fatalf("cut at %d of %d, it is read as something else", cut, len(all))
		}
		w, err := conversation.ResumeTranscript(tx, part)
		if err != nil {
			t.Fatalf("resume: %v", err)
		}
		got := enginetest.ReadAll(t, tx, putAll(t, tx, w, []byte("x\n")))
		if !bytes.Equal(got, append(bytes.Clone(all[:cut]), "x\n"...)) {
			t.Fatalf("gone on with behind %d of %d bytes, it is something else", cut, len(all))
		}
	})
}

// TestForksOfForks: each is read as it is, and not more rules than a few are needed for one.
func TestForksOfForks(t *testing.T) {
	p := enginetest.NewProject(t)
	objs := p.E.Log.Objs
	tx := objs.Begin()
	defer tx.Discard()
	id := putAll(t, tx, &conversation.Writer{Tx: tx}, records(originID, 300, 500))
	for n := range 10 {
		st := open(t, tx, id)
		next, want := putFork(t, tx, id, forkOf(int(st.Size)*9/10, fmt.Sprintf("%08d-2222-4222-8222-222222222222", n)))
		if got := enginetest.ReadAll(t, tx, next); !bytes.Equal(got, want) {
			t.Fatalf("fork %d is read as something else", n)
		}
		deep := 0
		for id := next; !id.IsZero(); {
			raw, err := tx.Get(objstore.Transcript, id)
			p.Must(err)
			node, err := conversation.DecodeNode(id, raw)
			p.Must(err)
			if id = node.Parent; node.Made {
				deep++
			}
		}
		if deep > 4 {
			t.Errorf("fork %d needs %d rules", n, deep)
		}
		id = next
	}
}

// TestRuleDamaged: where the rule is damaged, or makes other bytes than it did, nothing is read as if it were right.
func TestRuleDamaged(t *testing.T) {
	p := enginetest.NewProject(t)
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	of := records(originID, 200, 900)
	id := putAll(t, tx, &conversation.Writer{Tx: tx}, of)
	fork, want := putFork(t, tx, id, forkOf(len(of), forkedID))
	node, rule := ruleOf(p, tx, fork)
	title := putBlob(t, tx, bytes.Replace(rule, []byte("title"), []byte("tatle"), 1))
	for what, n := range map[string]conversation.Node{
		"the title": {Length: node.Length, Parent: node.Parent, Made: true, Tail: title},
		"a byte": {
			Length: node.Length, Parent: node.Parent, Made: true, Tail: putBlob(t, tx, append(bytes.Clone(rule), 1)),
		},
		"the source": {
			Length: node.Length, Made: true, Tail: node.Tail,
			Parent: putAll(t, tx, &conversation.Writer{Tx: tx}, bytes.Replace(of, []byte("0"), []byte("1"), 1)),
		},
		"the length": {Length: node.Length + 1, Parent: node.Parent, Made: true, Tail: node.Tail},
		// its blocks alone would fill the memory
		"all lengths": {Length: 1 << 53, Parent: node.Parent, Made: true, Tail: node.Tail},
	} {
		wrong, err := tx.Put(objstore.Transcript, n.Encode(), objstore.ID{})
		p.Must(err)
		st := open(t, tx, wrong)
		if _, err := st.ReadAt(make([]byte, 10), 0); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s is another one, read: %v", what, err)
		}
		if _, err := st.WriteTo(io.Discard); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s is another one, written: %v", what, err)
		}
		if _, err := conversation.ResumeTranscript(tx, wrong); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s is another one, gone on with: %v", what, err)
		}
		if err := conversation.CheckMade(tx, &n); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s is another one, checked: %v", what, err)
		}
	}
	if err := conversation.CheckMade(tx, node); err != nil {
		t.Errorf("checked, the right one: %v", err)
	}
	same, err := open(t, tx, fork).Begins(bytes.NewReader(want), node.Length)
	if err != nil || same != node.Length {
		t.Errorf("%d of %d, %v", same, node.Length, err)
	}
}

// ruleOf is the record of a fork, and its rule.
func ruleOf(p *enginetest.Project, tx *objstore.Tx, fork objstore.ID) (*conversation.Node, []byte) {
	raw, err := tx.Get(objstore.Transcript, fork)
	p.Must(err)
	node, err := conversation.DecodeNode(fork, raw)
	p.Must(err)
	rule, err := tx.Get(objstore.Blob, node.Tail)
	p.Must(err)
	return node, rule
}

func putBlob(t *testing.T, tx *objstore.Tx, raw []byte) objstore.ID {
	id, err := tx.Put(objstore.Blob, raw, objstore.ID{})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestRuleFormat: its fields are those of the page.
func TestRuleFormat(t *testing.T) {
	p := enginetest.NewProject(t)
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	of := records(originID, 4, 9)
	f := forkOf(len(of), forkedID)
	f.Clone, f.Root, f.To = true, "/p", "/q"
	fork, _ := putFork(t, tx, putAll(t, tx, &conversation.Writer{Tx: tx}, of), f)
	_, rule := ruleOf(p, tx, fork)
	recordtest.Documented(t, rule, "Transcript", 1)
}

// FuzzRule: whatever is in the place of a rule, what is read is right or an error.
func FuzzRule(f *testing.F) {
	p := enginetest.OpenProject(f, f.TempDir(), f.TempDir())
	f.Cleanup(p.Close)
	tx := p.E.Log.Objs.Begin()
	of := putAll(f, tx, &conversation.Writer{Tx: tx}, records(originID, 20, 9))
	fork, want := putFork(f, tx, of, forkOf(4000, forkedID))
	node, rule := ruleOf(p, tx, fork)
	p.Must(tx.Commit(enginetest.Bg, kv.Written))
	f.Add(rule, node.Length)
	f.Fuzz(func(t *testing.T, rule []byte, length int64) {
		tx := p.E.Log.Objs.Begin()
		defer tx.Discard()
		blob, err := tx.Put(objstore.Blob, rule, objstore.ID{})
		if err != nil || length <= 0 {
			return
		}
		n := conversation.Node{Length: length, Parent: of, Tail: blob, Made: true}
		id, err := tx.Put(objstore.Transcript, n.Encode(), objstore.ID{})
		if err != nil {
			t.Fatal(err)
		}
		st := open(t, tx, id)
		buf := make([]byte, min(length, 1000))
		if _, err := st.ReadAt(buf, 0); err == nil && !bytes.HasPrefix(want, buf) {
			t.Errorf("%q is read", buf)
		}
	})
}
