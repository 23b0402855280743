package secrets

import (
	"errors"
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
)

// A saidFlag is a place in a conversation that looks like it holds a secret: which record, and which rule says so;
// never what it found.
type saidFlag struct {
	Rule      string
	Part      string      // passage.Part
	Record    int         // its number, from 1: of a file of lines, the line
	Offset    int64       // where the record begins in the conversation, in bytes
	From, To  int64       // the bytes in which it was found, and a few around them
	Turn      uint64      // of the operation; 0: before the first, or not known
	Operation uint64      // that brought it into the store
	Life      uint64      // of the look
	In        objstore.ID // the conversation in which it was found
}

// A saidLook is how far the conversation of a session was looked at, and what was found.
type saidLook struct {
	Rules      string // leaks.Version: by other rules it begins anew
	Session    string
	Transcript objstore.ID // that was looked at last
	At         int64       // up to this byte, where a record begins
	Records    int         // up to there
	Life       uint64      // how often the conversation was another one, which did not begin as the one before
	Flags      []saidFlag  // at most maxSaid
	More       int         // that are not kept
}

// maxSaid is how many findings of one session are kept.
const maxSaid = 128

// How it stands in the store, docs/format.md#flag.
var (
	saidFlagTable = record.New(
		record.String(1, func(f *saidFlag) *string { return &f.Rule }).Required(),
		record.String(2, func(f *saidFlag) *string { return &f.Part }).Required(),
		record.Count(3, func(f *saidFlag) *int { return &f.Record }),
		record.Uint(4, func(f *saidFlag) *int64 { return &f.Offset }),
		record.Uint(5, func(f *saidFlag) *int64 { return &f.From }),
		record.Uint(6, func(f *saidFlag) *int64 { return &f.To }),
		record.Uint(7, func(f *saidFlag) *uint64 { return &f.Turn }),
		record.Uint(8, func(f *saidFlag) *uint64 { return &f.Operation }),
		record.Uint(9, func(f *saidFlag) *uint64 { return &f.Life }),
		record.ID(10, func(f *saidFlag) *objstore.ID { return &f.In }),
	).Then(func(f *saidFlag) error {
		if f.Offset < 0 || f.From < f.Offset || f.To < f.From {
			return fmt.Errorf("%w: a finding that ends before it begins", record.ErrFormat)
		}
		return nil
	})
	saidLookTable = record.New(
		record.String(1, func(l *saidLook) *string { return &l.Rules }),
		record.String(2, func(l *saidLook) *string { return &l.Session }).Required(),
		record.ID(3, func(l *saidLook) *objstore.ID { return &l.Transcript }),
		record.Uint(4, func(l *saidLook) *int64 { return &l.At }).Must(func(l *saidLook) bool { return l.At >= 0 }),
		record.Count(5, func(l *saidLook) *int { return &l.Records }),
		record.Uint(6, func(l *saidLook) *uint64 { return &l.Life }),
		record.Records(7, saidFlagTable, func(l *saidLook) *[]saidFlag { return &l.Flags }),
		record.Count(8, func(l *saidLook) *int { return &l.More }),
	)
)

// saidPrefix begins the keys of what is known of conversations. They are of another length than those of contents.
var saidPrefix = []byte{kv.PrefixLeak, 's'}

// saidMarkKey is where it stands up to which operation conversations were looked at.
var saidMarkKey = saidPrefix

// saidKey is where the look at a session's conversation lies.
func saidKey(session string) []byte {
	key := objstore.Sum(objstore.Blob, []byte(session)).Key()
	return append(append([]byte{}, saidPrefix...), key[:]...)
}

// encode gives the bytes of a look, docs/format.md#flag.
func (l *saidLook) encode() []byte { return saidLookTable.Encode(l) }

// decodeSaidLook reads what encode wrote, and refuses everything else.
func decodeSaidLook(raw []byte) (*saidLook, error) {
	l := &saidLook{}
	if err := saidLookTable.Decode(raw, l); err != nil {
		return nil, fmt.Errorf("look at a conversation: %w: %w", kv.ErrCorrupt, err)
	}
	return l, nil
}

// found names a flag for people.
func (l *saidLook) found(f *saidFlag) string {
	text := fmt.Sprintf("%s\n%s\n%s\n%s\n%d", l.Session, f.In, f.Rule, f.Part, f.From)
	return objstore.Sum(objstore.Blob, []byte(text)).String()[:foundDigits]
}

// foundDigits is the length of the name of what was found.
const foundDigits = 10

// saidLooks reads all looks, once a process and change. One that cannot be read, or was made by other rules, is made
// anew.
func (k *Leaks) saidLooks() ([]*saidLook, error) {
	if list := k.Scan.said.Load(); list != nil {
		return *list, nil
	}
	list := []*saidLook{}
	err := k.log.DB.Scan(kv.Range{Prefix: saidPrefix}, func(key, raw []byte) error {
		if len(key) == len(saidPrefix) {
			return nil
		}
		if l, err := decodeSaidLook(raw); err == nil && l.Rules == leaks.Version() {
			list = append(list, l)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looks at conversations: %w", err)
	}
	k.Scan.said.Store(&list)
	return list, nil
}

// storedLook is the look at a session's conversation as it is in the store; a new one if there is none.
func (k *Leaks) storedLook(session string) (*saidLook, error) {
	fresh := &saidLook{Rules: leaks.Version(), Session: session}
	err := k.log.DB.View(saidKey(session), func(raw []byte) error {
		if l, err := decodeSaidLook(raw); err == nil && l.Rules == leaks.Version() && l.Session == session {
			fresh = l
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	return fresh, err
}

// readSaidMark gives up to which operation conversations were looked at by these rules.
func (k *Leaks) readSaidMark() (done uint64, err error) {
	err = k.log.DB.View(saidMarkKey, func(raw []byte) error {
		if m, err := DecodeLeakMark(raw); err == nil && m.Rules == leaks.Version() {
			done = m.Done
		}
		return nil //nolint:nilerr // one that cannot be read is made again
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	return done, err
}

// value is what is told of a flag.
func (l *saidLook) value(f *saidFlag, turn uint64) value.SaidLeak {
	return value.SaidLeak{
		Found: l.found(f), Session: l.Session, Turn: turn, Record: f.Record, Rule: f.Rule, Part: f.Part, Operation: f.Operation,
	}
}
