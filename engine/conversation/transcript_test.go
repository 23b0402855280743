package conversation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/internal/kv"
	"rewind/internal/record/recordtest"
	"rewind/internal/torture"
	"rewind/objstore"
)

// someBytes are n bytes that no compression makes much less of, but a line ends now and then.
func someBytes(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
		if r.IntN(100) == 0 {
			b[i] = '\n'
		}
	}
	return b
}

// edges are lengths around the borders of blocks.
func edges() *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		return max(0,
			rapid.IntRange(0, 4).Draw(t, "blocks")*conversation.TranscriptBlock+rapid.IntRange(-2, 2).Draw(t, "over"))
	})
}

func putAll(t enginetest.Fataler, tx *objstore.Tx, w *conversation.Writer, b []byte, cuts ...int) objstore.ID {
	t.Helper()
	for _, n := range append(cuts, len(b)) {
		n = min(n, len(b))
		if m, err := w.Write(b[:n]); err != nil || m != n {
			t.Fatalf("write %d: %d, %v", n, m, err)
		}
		b = b[n:]
	}
	id, err := w.Close()
	if err != nil {
		t.Fatalf("close: %v", err)
	}
	return id
}

// TestPromise14TranscriptID: the id of a transcript depends on nothing but its bytes, however they came and whatever it
// was made of; every prefix can be named, read and gone on with.
func TestPromise14TranscriptID(t *testing.T) {
	p := enginetest.NewProject(t)
	all := someBytes(4*conversation.TranscriptBlock+2, 1)
	rapid.Check(t, func(t *rapid.T) {
		tx := p.E.Log.Objs.Begin()
		defer tx.Discard()
		b := all[:edges().Draw(t, "size")]
		want := putAll(t, tx, &conversation.Writer{Tx: tx}, b)
		var cuts []int
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			cuts = append(cuts, rapid.OneOf(edges(), rapid.IntRange(0, 3000)).Draw(t, "write"))
		}
		if got := putAll(t, tx, &conversation.Writer{Tx: tx}, b, cuts...); got != want {
			t.Fatalf("in writes of %d: another id", cuts)
		}
		if got := enginetest.ReadAll(t, tx, want); !bytes.Equal(got, b) {
			t.Fatalf("%d bytes come back as other bytes", len(b))
		}
		st, err := conversation.OpenTranscript(tx, want)
		if err != nil {
			t.Fatal(err)
		}
		n := min(len(b), edges().Draw(t, "prefix"))
		prefix := putAll(t, tx, &conversation.Writer{Tx: tx}, b[:n])
		w, err := st.AppendTo(tx, int64(n))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.Close(); err != nil || got != prefix {
			t.Fatalf("prefix of %d: %v, %v", n, got == prefix, err)
		}
		other := bytes.Clone(b[:n])
		if at := rapid.IntRange(0, max(n, 1)).Draw(t, "changed"); at < n {
			other[at]++
		}
		of, err := conversation.OpenTranscript(tx, putAll(t, tx, &conversation.Writer{Tx: tx}, other))
		if err != nil {
			t.Fatal(err)
		}
		if on, err := st.GoesOn(of); err != nil || on != bytes.Equal(other, b[:n]) {
			t.Fatalf("goes on from its first %d bytes, or others: %v, %v", n, on, err)
		}
		for _, begin := range []func() (*conversation.Writer, error){
			func() (*conversation.Writer, error) { return st.AppendTo(tx, int64(n)) },
			func() (*conversation.Writer, error) { return conversation.ResumeTranscript(tx, prefix) },
		} {
			w, err := begin()
			if err != nil {
				t.Fatal(err)
			}
			if got := putAll(t, tx, w, b[n:]); got != want {
				t.Fatalf("gone on with behind %d of %d: another id", n, len(b))
			}
		}
	})
}

func TestTranscriptReadAt(t *testing.T) {
	p := enginetest.NewProject(t)
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	b := someBytes(2*conversation.TranscriptBlock+100, 2)
	st, err := conversation.OpenTranscript(tx, putAll(t, tx, &conversation.Writer{Tx: tx}, b))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		off := rapid.OneOf(edges(), rapid.IntRange(0, len(b)+10)).Draw(t, "offset")
		buf := make([]byte, rapid.OneOf(edges(), rapid.IntRange(0, 100)).Draw(t, "length"))
		n, err := st.ReadAt(buf, int64(off))
		wantN, wantErr := bytes.NewReader(b).ReadAt(bytes.Clone(buf), int64(off))
		if len(buf) == 0 {
			wantErr = err // either is right
		}
		if n != wantN || !errors.Is(err, wantErr) || n > 0 && !bytes.Equal(buf[:n], b[off:off+n]) {
			t.Fatalf("%d at %d: %d, %v; want %d, %v", len(buf), off, n, err, wantN, wantErr)
		}
	})
	if _, err := st.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("a negative offset")
	}
}

// begins counts the bytes in whole blocks that a file and a transcript have in common.
func TestTranscriptBegins(t *testing.T) {
	p := enginetest.NewProject(t)
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	b := someBytes(3*conversation.TranscriptBlock+50, 3)
	st, err := conversation.OpenTranscript(tx, putAll(t, tx, &conversation.Writer{Tx: tx}, b))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.OneOf(edges(), rapid.IntRange(0, len(b))).Draw(t, "length")
		length = min(length, len(b))
		at := rapid.OneOf(edges(), rapid.IntRange(0, len(b)-1)).Draw(t, "changed")
		file := bytes.Clone(b)
		want := length
		if at < len(file) && rapid.Bool().Draw(t, "change") {
			file[at]++
			if at < length {
				want = at / conversation.TranscriptBlock * conversation.TranscriptBlock
			}
		}
		if cut := rapid.OneOf(edges(), rapid.IntRange(0, len(b))).Draw(t, "file"); cut < len(file) {
			file = file[:cut]
			if cut < length {
				want = min(want, cut/conversation.TranscriptBlock*conversation.TranscriptBlock)
			}
		}
		if got, err := st.Begins(bytes.NewReader(file), int64(length)); err != nil || got != int64(want) {
			t.Fatalf("%d of %d bytes are the same (%v), want %d", got, length, err, want)
		}
	})
}

// TestPromise06DamagedTranscripts: a chain that does not fit together is an error, whatever its records say.
func TestPromise06DamagedTranscripts(t *testing.T) {
	p := enginetest.NewProject(t)
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	put := func(k objstore.Kind, raw []byte) objstore.ID {
		id, err := tx.Put(k, raw, objstore.ID{})
		p.Must(err)
		return id
	}
	node := func(length int64, parent, tail objstore.ID) objstore.ID {
		n := conversation.Node{Length: length, Parent: parent, Tail: tail}
		return put(objstore.Transcript, n.Encode())
	}
	whole := put(objstore.Blob, make([]byte, conversation.TranscriptBlock))
	short := put(objstore.Blob, make([]byte, 10))
	one := node(conversation.TranscriptBlock, objstore.ID{}, whole)
	read := map[string]func(objstore.Getter, objstore.ID) (*conversation.Stored, error){
		"all": conversation.OpenTranscript, "its end": conversation.OpenEnd,
	}
	for name, c := range map[string]struct {
		id   objstore.ID
		want error
	}{
		"a block that is too short":    {node(conversation.TranscriptBlock, objstore.ID{}, short), kv.ErrCorrupt},
		"a block that is too long":     {node(11, objstore.ID{}, whole), kv.ErrCorrupt},
		"a parent that is missing":     {node(conversation.TranscriptBlock+10, none, short), objstore.ErrNotFound},
		"a block that is missing":      {node(10, objstore.ID{}, none), objstore.ErrNotFound},
		"a record that is missing":     {none, objstore.ErrNotFound},
		"a parent with another length": {node(2*conversation.TranscriptBlock+10, one, short), kv.ErrCorrupt},
		"a parent that is no whole block": {
			node(conversation.TranscriptBlock+10, node(10, objstore.ID{}, short), short), kv.ErrCorrupt,
		},
		"a parent that is longer": {node(conversation.TranscriptBlock+10,
			node(2*conversation.TranscriptBlock, one, whole), short), kv.ErrCorrupt},
		"a length that nothing could stand in": {node(1<<53, one, short), kv.ErrCorrupt},
		"no record":                            {put(objstore.Transcript, []byte("x")), kv.ErrCorrupt},
	} {
		for part, open := range read {
			st, err := open(tx, c.id)
			if err == nil {
				_, err = io.ReadAll(io.NewSectionReader(st, 0, st.Size))
			}
			mustBe(t, name+", read from "+part, err, c.want)
		}
		_, err := conversation.ResumeTranscript(tx, c.id)
		if ends := strings.HasPrefix(name, "a block") || strings.Contains(name, "record"); ends {
			mustBe(t, name+", gone on with", err, c.want)
		}
	}
}

// TestTranscriptsCompared: how far a transcript is the same as another one or a file, where one of them ends, or cannot
// be read.
func TestTranscriptsCompared(t *testing.T) {
	t.Parallel()
	const block = conversation.TranscriptBlock
	p := enginetest.NewProject(t)
	all := someBytes(4*block, 8)
	two := put(p, string(all[:2*block]))
	st, err := conversation.OpenTranscript(p.E.Log.Objs, two)
	p.Must(err)
	if n, err := st.Common(bytes.NewReader(all), 2*block); n != 2*block || err != nil {
		t.Errorf("all of it: %d, %v", n, err)
	}
	for _, length := range []int{2*block + 1, 3 * block, 4 * block} {
		n, is, err := st.BeginsWith(put(p, string(all[:length])))
		if n != int64(length) || is || err != nil {
			t.Errorf("it begins with what has %d bytes more: %v, %v", length-2*block, is, err)
		}
	}
	no := errors.New("no")
	for _, left := range []int{0, 2 * block} { // as many reads of a block go well
		file := &failingAt{bytes.NewReader(append(all[:block:block], all...)), left / block, no}
		if n, err := st.Begins(file, 2*block); !errors.Is(err, no) && left == 0 {
			t.Errorf("%d bytes of what cannot be read, %v", n, err)
		}
		file.left = left / block
		if n, err := st.Common(file, 2*block); !errors.Is(err, no) {
			t.Errorf("%d bytes of what cannot be read, %v", n, err)
		}
	}
	st, err = conversation.OpenTranscript(p.E.Log.Objs, put(p, "abc\x00def"))
	p.Must(err)
	if n, err := st.Common(strings.NewReader("abc"), 7); n != 3 || err != nil {
		t.Errorf("of a file that has become shorter: %d, %v", n, err)
	}
	st, err = conversation.OpenTranscript(p.E.Log.Objs, objstore.Zero)
	p.Must(err)
	if id, err := st.Block(0); !id.IsZero() || err != nil {
		t.Errorf("of nothing: %v, %v", id, err)
	}
}

// failingAt fails when it was read so often.
type failingAt struct {
	io.ReaderAt
	left int
	err  error
}

func (f *failingAt) ReadAt(p []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

// The bytes on disk, docs/format.md#transcript.
func TestNodeGolden(t *testing.T) {
	p, tail := enginetest.TestID("p"), enginetest.TestID("t")
	n := conversation.Node{Length: conversation.TranscriptBlock + 1, Parent: p, Tail: tail}
	if got, want := n.Encode(), "\x01\x03\x81\x80\x04"+"\x02\x20"+string(p[:])+"\x03\x20"+string(tail[:]); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	n.Made = true
	want := "\x01\x03\x81\x80\x04" + "\x02\x20" + string(p[:]) + "\x03\x20" + string(tail[:]) + "\x04\x01\x01"
	if got := n.Encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	recordtest.Documented(t, n.Encode(), "Transcript", 0)
}

// BenchmarkNode is what each capture of a conversation writes, and each block of one that is read.
func BenchmarkNode(b *testing.B) {
	p, tail := enginetest.TestID("p"), enginetest.TestID("t")
	n := &conversation.Node{Length: conversation.TranscriptBlock + 1, Parent: p, Tail: tail}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conversation.DecodeNode(objstore.ID{}, n.Encode()); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzNode(f *testing.F) {
	f.Add((&conversation.Node{Length: 5, Tail: enginetest.TestID("t")}).Encode())
	f.Add((&conversation.Node{
		Length: conversation.TranscriptBlock + 1, Parent: enginetest.TestID("p"),
		Tail: enginetest.TestID("t"),
	}).Encode())
	f.Add((&conversation.Node{Length: conversation.TranscriptBlock + 1, Tail: enginetest.TestID("t")}).Encode())
	f.Add((&conversation.Node{
		Length: 7, Parent: enginetest.TestID("p"), Tail: enginetest.TestID("t"), Made: true,
	}).Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := conversation.DecodeNode(objstore.ID{}, raw)
		if err != nil {
			if n != nil || !errors.Is(err, kv.ErrCorrupt) {
				t.Fatalf("%v, %v", n, err)
			}
			return
		}
		if got := n.Encode(); !bytes.Equal(got, raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
	})
}

// stored counts the objects in the store, and their bytes.
func stored(p *enginetest.Project) (n int, size int64) {
	p.T.Helper()
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixObject}}, func(k, v []byte) error {
		n++
		size += int64(len(k) + len(v))
		return nil
	}))
	return n, size
}

// wordsOf is a line as session files have them: ids that no compression makes less of, and text.
func wordsOf(r *rand.Rand) []byte {
	words := []string{
		"the", "parser", "reads", "func", "error", "return", "if", "file", "line", "checkpoint", "session", "{",
		"}", "nil",
		"path", "=", "is",
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"parentUuid":"%016x","uuid":"%016x","type":"user","cwd":"/home/dev/proj","message":{"content":"`, r.Uint64(),
		r.Uint64())
	for n := 100 + r.IntN(1800); b.Len() < n; {
		fmt.Fprintf(&b, "%s%d ", words[r.IntN(len(words))], r.IntN(9))
	}
	return append(b.Bytes(), `"}}`+"\n"...)
}

// TestTranscriptStorage: 10,000 captures store less than was appended, though each checkpoint has the whole
// conversation. What cannot be compressed is stored twice: a delta goes back up to eight captures.
func TestTranscriptStorage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		what  string
		n     int
		most  float64
		bytes func(i int) []byte
	}{
		{"lines of text", torture.Points(3000, 10_000), 1, func(int) []byte { return wordsOf(r) }},
		{
			"random bytes", torture.Points(600, 2000), 2.2,
			func(i int) []byte { return someBytes(100+r.IntN(1900), uint64(i)) },
		},
	} {
		p := enginetest.NewProject(t)
		_, before := stored(p)
		var id objstore.ID
		appended := int64(0)
		for i := range tt.n {
			tx := p.E.Log.Objs.Begin()
			w, err := conversation.ResumeTranscript(tx, id)
			p.Must(err)
			b := tt.bytes(i)
			appended += int64(len(b))
			id = putAll(t, tx, w, b)
			p.Must(tx.Commit(context.Background(), kv.Written))
		}
		n, after := stored(p)
		t.Logf("%s: %d objects of %d bytes for %d bytes appended", tt.what, n, after-before, appended)
		if float64(after-before) > tt.most*float64(appended) {
			t.Errorf("%s: %d bytes stored for %d that were appended", tt.what, after-before, appended)
		}
		if st, err := conversation.OpenTranscript(p.E.Log.Objs, id); err != nil || st.Size != appended {
			t.Errorf("%d bytes, %v; want %d", st.Size, err, appended)
		}
	}
}

// One more line of a long conversation costs as much as one of a short one.
func TestTranscriptStorageOfOneLine(t *testing.T) {
	p := enginetest.NewProject(t)
	size := 20 << 20
	if torture.Full() {
		size = 100 << 20
	}
	tx := p.E.Log.Objs.Begin()
	id := putAll(t, tx, &conversation.Writer{Tx: tx}, someBytes(size, 4))
	p.Must(tx.Commit(context.Background(), kv.Written))
	for i := range 5 {
		n, before := stored(p)
		tx := p.E.Log.Objs.Begin()
		w, err := conversation.ResumeTranscript(tx, id)
		p.Must(err)
		id = putAll(t, tx, w, someBytes(1000, uint64(i)))
		p.Must(tx.Commit(context.Background(), kv.Written))
		m, after := stored(p)
		if m-n > 4 || after-before > 2500 {
			t.Errorf("%d objects, %d bytes for a line of 1,000", m-n, after-before)
		}
	}
	if st, err := conversation.OpenTranscript(p.E.Log.Objs, id); err != nil || st.Size != int64(size)+5000 {
		t.Error(fmt.Sprint(st), err)
	}
}

// What is captured anew costs what has changed of it, block by block.
func TestTranscriptStorageOfAnother(t *testing.T) {
	p := enginetest.NewProject(t)
	for _, size := range []int{2 * conversation.TranscriptBlock, 3*conversation.TranscriptBlock - 100} {
		b := someBytes(size, uint64(size))
		was := put(p, string(b))
		for at := 0; at < size; at += conversation.TranscriptBlock {
			b[at+100]++
		}
		_, before := stored(p)
		tx := p.E.Log.Objs.Begin()
		st, err := conversation.OpenTranscript(tx, was)
		p.Must(err)
		w, err := st.AppendTo(tx, 0)
		p.Must(err)
		putAll(t, tx, w, b)
		p.Must(tx.Commit(context.Background(), kv.Written))
		if _, after := stored(p); after-before > 3000 {
			t.Errorf("%d bytes are stored of %d of which a few have changed", after-before, size)
		}
	}
}
