package purge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"

	"rewind/engine/model"
	"rewind/engine/secrets"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// words takes texts out of what the store says in its own words: beginnings of prompts, messages, titles, names of
// files and of tags. Each stands
// for a moment or a file, so it stays, with another word in the text's place. Checkpoints, trees and notes keep their
// ids (objstore.Tx.Rewrite).
type words struct {
	p      *purgeScan
	text   matcher
	forms  [][]byte // longest first
	as     string   // what stands in place of a text
	fixed  []string // names that stay, since something outside of the store has them: sessions, files that are in the project
	stays  int      // texts that were left
	looked map[model.Object]bool
	has    map[model.Object]bool // objects that have a text, by what they are

	objects []rewrittenObject
	rows    []row
	names   []string // files of the project that have a text in their names
}

// rewrittenObject is an object with its new bytes.
type rewrittenObject struct {
	kind objstore.Kind
	id   objstore.ID
	raw  []byte
}

// row is a key of the store with its new value.
type row struct{ key, to, val []byte } // val nil: it is removed; to nil: the key stays

func (p *purgeScan) newWords() *words {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	w := &words{
		p: p, text: p.text, as: "purged-" + hex.EncodeToString(b[:]),
		looked: map[model.Object]bool{}, has: map[model.Object]bool{},
	}
	w.forms = slices.Clone(p.text.needles)
	slices.SortFunc(w.forms, func(a, b []byte) int { return len(b) - len(a) })
	return w
}

// kinds of objects that have words in them.
var wordKinds = []objstore.Kind{objstore.Checkpoint, objstore.Tree, objstore.Note}

// search looks for the texts in all objects that have words. What it has looked at it does not look at again.
func (w *words) search(ctx context.Context) error {
	if len(w.text.needles) == 0 {
		return nil
	}
	for _, k := range wordKinds {
		memo := w.p.e.log.Objs.Memo(k)
		err := w.p.e.log.Objs.Keys(ctx, k, func(key objstore.Key, _ objstore.Info) error {
			id, err := w.p.e.log.Objs.IDOf(k, key)
			if err != nil {
				return w.p.skip(key, err)
			}
			o := model.Object{Kind: k, Id: id}
			if w.looked[o] {
				return nil
			}
			w.p.count()
			raw, err := memo.Get(id)
			if err != nil {
				return w.p.skip(key, err)
			}
			w.looked[o] = true
			if w.text.In(raw) {
				w.has[o] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// plan works out what becomes of everything that has a text in it. The log's lock is held.
func (w *words) plan(ctx context.Context) error {
	w.objects, w.rows, w.stays, w.fixed, w.names = nil, nil, 0, nil, nil
	if len(w.text.needles) == 0 {
		return nil
	}
	if err := w.fix(ctx); err != nil {
		return err
	}
	for o := range w.has {
		raw, err := w.p.e.log.Objs.Get(o.Kind, o.Id)
		if errors.Is(err, objstore.ErrNotFound) {
			continue // gc has it
		}
		if err != nil {
			return err
		}
		was := w.stays
		now, err := w.object(o, raw)
		if err != nil || bytes.Equal(now, raw) {
			w.stays = max(w.stays, was+1)
			continue
		}
		w.objects = append(w.objects, rewrittenObject{o.Kind, o.Id, now})
	}
	return w.planRows()
}

// fix finds the names that stay: of sessions, which agents have, and of files that are in the project now.
func (w *words) fix(ctx context.Context) error {
	for name, s := range w.p.e.log.EachSession() {
		for _, text := range []string{name, s.ID} {
			if w.text.In([]byte(text)) {
				w.fixed = append(w.fixed, text)
			}
		}
	}
	head, err := w.p.e.log.Head()
	if err != nil || head.Tree.IsZero() {
		return err
	}
	root, err := w.p.e.log.Root()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	err = tree.Walk(w.p.trees, head.Tree, func(at string, _ tree.Entry) error {
		if !w.text.In([]byte(path.Base(at))) || !isThere(root, at) {
			return ctx.Err()
		}
		w.names, w.fixed = append(w.names, at), append(w.fixed, path.Base(at))
		return ctx.Err()
	})
	if errors.Is(err, objstore.ErrCorrupt) || errors.Is(err, objstore.ErrNotFound) {
		return nil // it is counted
	}
	return err
}

func isThere(root worktreefs.Dir, at string) bool {
	dir, name, err := worktreefs.OpenParent(root, at)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only read
	_, err = dir.Lstat(name)
	return err == nil
}

// to is a text of the store as it is to be.
func (w *words) to(s string) string {
	if !w.text.In([]byte(s)) {
		return s
	}
	fixed := slices.ContainsFunc(w.fixed, func(name string) bool { return strings.Contains(s, name) })
	// the path of a file of the agent's
	if fixed || strings.HasPrefix(s, "/") && strings.IndexFunc(s, unicode.IsSpace) < 0 {
		w.stays++
		return s
	}
	for _, form := range w.forms {
		s = strings.ReplaceAll(s, string(form), w.as)
	}
	return s
}

// object is an object as it is to be.
func (w *words) object(o model.Object, raw []byte) ([]byte, error) {
	switch o.Kind {
	case objstore.Tree:
		ents, err := tree.Decode(raw)
		if err != nil {
			return nil, err
		}
		for i := range ents {
			ents[i].Name = w.to(ents[i].Name)
		}
		return tree.Encode(ents)
	case objstore.Note:
		skips, err := tree.DecodeNote(raw)
		if err != nil {
			return nil, err
		}
		for i := range skips {
			skips[i].Path = w.to(skips[i].Path)
		}
		return tree.EncodeNote(skips)
	case objstore.Checkpoint:
		return reworded(raw, w.to, func(raw []byte) (*model.Checkpoint, error) { return model.DecodeCheckpoint(o.Id, raw) })
	case objstore.Blob, objstore.Transcript:
	}
	return raw, nil
}

// planRows goes through all that is no object. What is made again by itself, and has a text, is removed.
func (w *words) planRows() error {
	return w.p.e.log.DB.Scan(kv.Range{}, func(key, val []byte) error {
		switch key[0] {
		// looked at as objects; random; made anew
		case kv.PrefixObject, kv.PrefixSecret, kv.PrefixKnown, kv.PrefixLedger:
			return nil
		}
		if !w.text.In(key) && !w.text.In(val) {
			return nil
		}
		was := w.stays
		r, err := w.row(bytes.Clone(key), bytes.Clone(val))
		same := r.to == nil && r.val != nil && bytes.Equal(r.val, val)
		if err != nil || same {
			w.stays = max(w.stays, was+1)
			return nil //nolint:nilerr // it is counted
		}
		w.rows = append(w.rows, r)
		return nil
	})
}

// operationKey is the length of an operation's key.
const operationKey = 1 + 8

// row is a row as it is to be. What is made again by itself has no value: what lstat said of a file, how far secrets
// were looked for.
func (w *words) row(key, val []byte) (row, error) {
	r := row{key: key, val: val}
	var err error
	switch key[0] {
	case kv.PrefixStat:
		r.val = nil
	case kv.PrefixLeak:
		r.val = secrets.Reword(key, val, w.to)
	case kv.PrefixTombstone:
		r.val, err = objstore.RewordTombstone(val, w.to)
	case kv.PrefixRef:
		if name := w.to(string(key[1:])); name != string(key[1:]) {
			r.to, err = append([]byte{kv.PrefixRef}, name...), refs.Name(name).Check()
		}
	default:
		if record := wordRecords[key[0]]; record != nil {
			r.val, err = record(key, val, w.to)
		}
	}
	return r, err
}

// texted is a record with texts.
type texted interface {
	Texts(to func(string) string)
	Encode() []byte
}

// wordRecords gives the value of a record with other texts, by the first byte of its key.
var wordRecords = map[byte]func(key, val []byte, to func(string) string) ([]byte, error){
	kv.PrefixOperation: func(key, val []byte, to func(string) string) ([]byte, error) {
		if len(key) != operationKey {
			return nil, record.ErrFormat
		}
		seq := binary.BigEndian.Uint64(key[1:])
		return reworded(val, to, func(raw []byte) (*refs.Operation, error) { return refs.DecodeOperation(seq, raw) })
	},
	kv.PrefixSession: func(key, val []byte, to func(string) string) ([]byte, error) {
		return reworded(val, to, func(raw []byte) (*model.Session, error) { return model.DecodeSession(string(key[1:]), raw) })
	},
	kv.PrefixSquash: func(_, val []byte, to func(string) string) ([]byte, error) {
		return reworded(val, to, model.DecodeSquash)
	},
	kv.PrefixMessage: func(_, val []byte, to func(string) string) ([]byte, error) {
		list, err := model.DecodeMessages(val)
		for i := range list {
			list[i] = to(list[i])
		}
		return model.EncodeMessages(list), err
	},
}

// reworded gives a record with other texts, if it is one still.
func reworded[T texted](val []byte, to func(string) string, decode func([]byte) (T, error)) ([]byte, error) {
	v, err := decode(val)
	if err != nil {
		return nil, err
	}
	v.Texts(to)
	now := v.Encode()
	_, err = decode(now)
	return now, err
}

// commit adds what was planned to a transaction.
func (w *words) commit(tx *objstore.Tx, g objstore.Tombstone) error {
	for _, o := range w.objects {
		if err := tx.Rewrite(o.kind, o.id, o.raw, g); err != nil {
			return err
		}
	}
	b := tx.Batch()
	for _, r := range w.rows {
		if r.val == nil || r.to != nil {
			if err := b.Delete(r.key); err != nil {
				return err
			}
		}
		if r.val == nil {
			continue
		}
		key := r.key
		if r.to != nil {
			key = r.to
		}
		if err := b.Set(key, r.val); err != nil {
			return err
		}
	}
	return nil
}

// sessions are the records of sessions that were changed.
func (w *words) sessions() (out []*model.Session) {
	for _, r := range w.rows {
		if r.key[0] != kv.PrefixSession || r.val == nil {
			continue
		}
		if s, err := model.DecodeSession(string(r.key[1:]), r.val); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// unbase stores what is stored against an object that is given other bytes so that it needs it no more.
func (w *words) unbase(ctx context.Context, tx *objstore.Tx) error {
	changed := map[objstore.Kind]map[objstore.Key]bool{}
	for _, o := range w.objects {
		if changed[o.kind] == nil {
			changed[o.kind] = map[objstore.Key]bool{}
		}
		changed[o.kind][o.id.Key()] = true
	}
	for k, keys := range changed {
		needing, err := w.p.against(ctx, k, func(key objstore.Key) bool { return keys[key] })
		if err != nil {
			return err
		}
		for _, key := range needing {
			if err := tx.Unbase(k, key); err != nil {
				return err
			}
		}
	}
	return nil
}
