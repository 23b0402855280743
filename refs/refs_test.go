package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/record/recordtest"
	"rewind/internal/torture"
	"rewind/objstore"
)

func init() { torture.Draws(34, 100) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var bg = context.Background()

func id(n int) objstore.ID { return objstore.Sum(objstore.Blob, fmt.Append(nil, n)) }

func open(t *rapid.T, fs kv.FS) (*kv.DB, *Refs, *objstore.Store) {
	db, err := kv.Open(bg, "/store", kv.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return db, New(db), objstore.New(db)
}

// TestModel: names and log behave as a map and a list, across reopening; a refused update changes nothing.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fs := kvtest.NewCrashFS()
		db, r, objs := open(t, fs)
		defer func() { _ = db.Close() }()
		names, log := map[Name]objstore.ID{}, []Operation{}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				all, err := r.List("")
				if err != nil {
					t.Fatal(err)
				}
				got := map[Name]objstore.ID{}
				for _, ref := range all {
					got[ref.Name] = ref.ID
				}
				if !maps.Equal(got, names) {
					t.Fatalf("names %v, want %v", got, names)
				}
				n := len(log)
				err = r.Newest(0, func(op *Operation) error {
					n--
					if op.Seq != uint64(n+1) || !bytes.Equal(op.Encode(), log[n].Encode()) {
						t.Fatalf("operation %d is %+v", n+1, op)
					}
					return nil
				})
				if err != nil || n != 0 {
					t.Fatalf("%d operations are missing, %v", n, err)
				}
				// Those of a kind or a session, by their heads alone: which they are, and whole.
				wanted := func(op *Operation) bool {
					return op.Kind == KindCheckpoint || op.Session == "claude/a"
				}
				var want, few []uint64
				for i := range slices.Backward(log) {
					if wanted(&log[i]) {
						want = append(want, uint64(i+1))
					}
				}
				err = r.NewestOf(0, wanted, func(op *Operation) error {
					if !bytes.Equal(op.Encode(), log[op.Seq-1].Encode()) {
						t.Fatalf("operation %d is %+v", op.Seq, op)
					}
					few = append(few, op.Seq)
					return nil
				})
				if err != nil || !slices.Equal(few, want) {
					t.Fatalf("operations %v, want %v, %v", few, want, err)
				}
			},
			"commit": func(t *rapid.T) {
				var ups []Update
				for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]Name{
					"tag/a", "tag/b", "session/s",
					"cursor/s",
				}), 0, 3, rapid.ID[Name]).Draw(t, "names") {
					ups = append(ups, Update{Name: n, Old: names[n], New: objstore.ID{}})
					if rapid.Bool().Draw(t, "set") {
						ups[len(ups)-1].New = id(rapid.IntRange(1, 5).Draw(t, "id"))
					}
				}
				wrong := len(ups) > 0 && rapid.IntRange(0, 3).Draw(t, "wrong") == 0
				if wrong {
					ups[len(ups)-1].Old = id(99)
				}
				op := Operation{Message: fmt.Sprint(len(log))}
				op.Kind = rapid.SampledFrom([]Kind{KindTag, KindEvent, KindCheckpoint}).Draw(t, "kind")
				op.Session = rapid.SampledFrom([]string{"", "claude/a", "claude/b"}).Draw(t, "session")
				tx := objs.Begin()
				done, err := r.Commit(bg, tx, kv.Written,
					func(uint64) ([]Operation, []Update, error) { return []Operation{op}, ups, nil })
				var conflict *conflictError
				if wrong {
					if !errors.As(err, &conflict) || conflict.name != ups[len(ups)-1].Name {
						t.Fatalf("a wrong Old: %v", err)
					}
					tx.Discard()
					return
				}
				if err != nil || done[0].Seq != uint64(len(log)+1) {
					t.Fatalf("%+v, %v", done, err)
				}
				log = append(log, op)
				for _, u := range ups {
					if u.New.IsZero() {
						delete(names, u.Name)
					} else {
						names[u.Name] = u.New
					}
				}
			},
			"reopen": func(t *rapid.T) {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db, r, objs = open(t, fs)
			},
		})
	})
}

func TestNames(t *testing.T) {
	for _, good := range []Name{
		"tag/a", "tag/v1.0", "session/manual", "tag/a/b-c_d", "tag/ünï",
		Name("tag/" + strings.Repeat("x", 251)),
	} {
		if err := good.Check(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []Name{
		"", "tag", "tag/", "/a", "tag//a", "tag/.", "tag/..", "tag/.a", "tag/-a", "tag/@", "tag/a b", "tag/a\nb",
		"tag/a~1", "tag/a^",
		"tag/a:b",
		"tag/a{", "tag/\xff", "tag/a\x00", "tag/\u202ea", "tag/\u200b", Name("tag/" + strings.Repeat("x", 252)),
	} {
		if err := bad.Check(); !errors.Is(err, ErrBadName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func samples() []*Operation {
	return []*Operation{
		{Kind: KindInit, Time: 1, Message: "/p"},
		{Kind: KindCheckpoint, Time: 1_800_000_000_000, Session: "manual", Checkpoint: id(1)},
		{Kind: KindCheckpoint, Time: 2, Session: "claude/1", Checkpoint: id(2), Turn: 3, Cause: Cause{Event: "stop"}},
		{Kind: KindNote, Time: 7, Checkpoint: id(2), Message: "parser works"},
		{
			Kind: KindUndoRestore, Time: 5, Session: "manual", Changes: []Change{
				{"cursor/manual", id(1), id(2)},
				{"tag/a", objstore.ID{}, id(2)},
			},
			Restore: &Restore{
				Target: id(3), Safety: id(4), Scope: Scope{Paths: []string{"a", "\xff\n"}, Exact: true}, Undoes: 7,
				Changed: 300, Kept: 1,
			},
		},
		full(),
	}
}

// full is an operation in which every field is set.
func full() *Operation {
	return &Operation{
		Kind: KindUndoRestore, Time: 8, Session: "manual", Checkpoint: id(1), Changes: []Change{
			{"cursor/manual", id(1), id(2)},
			{"tag/a", objstore.ID{}, id(2)},
		},
		Restore: &Restore{
			Target: id(3), Safety: id(4),
			Scope: Scope{Paths: []string{"a", "", "\xff\n"}, Exact: true, ContextOnly: true}, Undoes: 7,
			Changed: 300, Kept: 1,
			Result: id(5), Files: []File{{"/a", objstore.ID{}, id(6)}, {"/b", id(6), objstore.ID{}}}, Fork: "claude/f",
			Goes: "claude/g",
		},
		Message: "m", Turn: 2, EventID: 1 << 63, Cause: Cause{Event: "tool-start", Tool: "Bash", Call: "c"},
		Transcript: id(7),
		Thinned:    true,
	}
}

// The bytes on disk of an operation in which every field is set.
func TestOperationGoldenEveryField(t *testing.T) {
	id := func(n int) string {
		of := id(n)
		return string(of[:])
	}
	want := "\x01\x01\b" + "\x02\x01U" + "\x03\x06manual" + "\x04 " + id(1) +
		"\x05~S\x01\rcursor/manual\x02 " + id(1) + "\x03 " + id(2) + ")\x01\x05tag/a\x03 " + id(2) +
		"\x06\xe2\x01\x01 " + id(3) + "\x02 " + id(4) +
		"\x03\x06\x01a\x00\x02\xff\n\x04\x01\x01\x05\x01\a\x06\x02\xac\x02\a\x01\x01\b " +
		id(5) +
		"\tN&\x01\x02/a\x03 " + id(6) + "&\x01\x02/b\x02 " + id(6) + "\n\bclaude/f\v\x01\x01\f\bclaude/g" +
		"\a\x01m" + "\b\x01\x02" + "\t\n\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01" +
		"\n\x15\x01\ntool-start\x02\x04Bash\x03\x01c" + "\v " +
		id(7) + "\f\x01\x01"
	if got := full().Encode(); string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, err := DecodeOperation(0, []byte(want)); err != nil || !reflect.DeepEqual(got, full()) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	recordtest.Documented(t, []byte(want), "Records, and the operation", 0)
}

// The bytes on disk; the samples stand in docs/format.md#records-and-the-operation as well.
func TestOperationGolden(t *testing.T) {
	one := id(1)
	want := "\x01\x06\x80\xa0\xf1\xc2\xb1\x34" + "\x02\x01c" + "\x03\x06manual" + "\x04\x20" + string(one[:])
	if got := samples()[1].Encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	for _, op := range samples() {
		got, err := DecodeOperation(9, op.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Encode(), op.Encode()) || got.Seq != 9 {
			t.Errorf("%+v", got)
		}
	}
}

func FuzzOperation(f *testing.F) {
	for _, op := range samples() {
		f.Add(op.Encode())
	}
	for _, path := range []string{
		"/home/dev/.zshenv", "/home/dev/.claude/projects/x/../../settings.json", "../x",
		"/a\x00", "",
	} {
		f.Add((&Operation{Time: 1, Kind: KindCheckout, Restore: &Restore{
			Target: id(1), Safety: id(2), Scope: Scope{Paths: []string{path}},
			Files: []File{{Path: path, To: id(3)}},
		}}).Encode())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		op, err := DecodeOperation(1, raw)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) || op != nil {
				t.Fatalf("%v, %v", op, err)
			}
			return
		}
		if got := op.Encode(); !bytes.Equal(got, raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
		if op.Restore == nil {
			return
		}
		for _, p := range op.Restore.Paths {
			if p != "" && !fs.ValidPath(strings.ToValidUTF8(p, "?")) {
				t.Errorf("path %q", p)
			}
		}
		for _, f := range op.Restore.Files {
			if strings.Contains(f.Path+"/", "/../") || strings.ContainsRune(f.Path, 0) {
				t.Errorf("session file %q", f.Path)
			}
		}
	})
}

func FuzzRef(f *testing.F) {
	f.Add(encodeRef(id(1), 300))
	f.Add(encodeRef(id(1), 300)[:len(objstore.ID{})]) // no number
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r, err := decodeRef("tag/a", raw); err == nil && !bytes.Equal(encodeRef(r.ID, r.Seq), raw) {
			t.Errorf("decoded %x, encoded %x", raw, encodeRef(r.ID, r.Seq))
		}
	})
}
