package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/ledger"
	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/kv"
)

// each is the rows of all sessions as Each gives them; it holds that they come in order.
func each(p *enginetest.Project) map[string][]ledger.Turn {
	p.T.Helper()
	m, last := map[string][]ledger.Turn{}, ""
	p.Must(p.E.Ledger.Each(func(session string, row *ledger.Turn) error {
		if list := m[session]; session < last || len(list) > 0 && list[len(list)-1].Index >= row.Index {
			p.T.Fatalf("%s, row %d comes behind %s", session, row.Index, last)
		}
		m[session], last = append(m[session], *row), session
		return nil
	}))
	return m
}

// sameEach holds that all ways to ask for rows give those that there are.
func sameEach(p *enginetest.Project, when string, want map[string][]ledger.Turn) {
	p.T.Helper()
	if got := each(p); !reflect.DeepEqual(got, want) {
		p.T.Fatalf("%s: %+v\nwant %+v", when, got, want)
	}
	for session, list := range want {
		for below := range uint64(len(list)) + 1 {
			got, err := p.E.Ledger.TurnsBefore(session, below, 2)
			p.Must(err)
			slices.Reverse(got)
			if old := list[max(int(below)-2, 0):below]; !slices.EqualFunc(got, old, equal) {
				p.T.Fatalf("%s: of %s before %d: %+v\nwant %+v", when, session, below, got, old)
			}
		}
	}
	same(p, when, want)
}

func equal(a, b ledger.Turn) bool { return reflect.DeepEqual(a, b) }

// Rows are the same whether they are stored, or are folded and wait because nothing can be written.
func TestEachRow(t *testing.T) {
	p, sessions := worked(t)
	all(p, sessions)
	p.Write("more", "1")
	p.Save("more")
	want := all(p, sessions)
	sameEach(p, "as they come", want)
	p.Reopen()
	sameEach(p, "from the store", want)
	stop := errors.New("stop")
	n := 0
	if err := p.E.Ledger.Each(func(string, *ledger.Turn) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("stopped after %d rows: %v", n, err)
	}

	p.Write("more", "2")
	p.Save("even more")
	readOnly(p)
	was := want
	if want = all(p, sessions); reflect.DeepEqual(want, was) {
		t.Fatal("nothing new is folded")
	}
	sameEach(p, "read only", want)
	p.Reopen()
	sameEach(p, "written again", want)
	forget(p)
	readOnly(p)
	sameEach(p, "folded anew, read only", want)
	if keys, _ := stored(p); len(keys) > 0 {
		t.Errorf("%d keys are written", len(keys))
	}
	p.Reopen()
}

// readOnly opens the project anew where nothing can be written: what is folded waits.
func readOnly(p *enginetest.Project) {
	p.T.Helper()
	p.Close()
	o := project.Options{KV: kv.Options{FS: p.FS, ReadOnly: true}}
	e, err := engine.Open(enginetest.Bg, p.Home, p.Root, o)
	p.Must(err)
	p.E = e
}

// forget takes all rows out of the store.
func forget(p *enginetest.Project) {
	p.T.Helper()
	keys, _ := stored(p)
	for _, key := range keys {
		write(p, key, nil)
	}
}

// A row that can be none has all be folded anew, whoever meets it; one that is only gone does not.
func TestBrokenRowIsMet(t *testing.T) {
	p, sessions := worked(t)
	want := all(p, sessions)
	keys, vals := stored(p)
	keys = slices.DeleteFunc(keys, func(key []byte) bool { return key[1] > 2 }) // which lie behind the others
	first := slices.IndexFunc(keys, func(key []byte) bool { return key[1] == 2 })
	gone := keys[first]
	isThere := func() bool {
		now, _ := stored(p)
		return slices.ContainsFunc(now, func(key []byte) bool { return bytes.Equal(key, gone) })
	}
	before := func(session string) func() error {
		return func() error {
			_, err := p.E.Ledger.TurnsBefore(session, math.MaxUint64, 1)
			return err
		}
	}
	for i := first + 1; i < len(keys); i++ {
		row := keys[i]
		session := string(row[2:bytes.LastIndexByte(row[:len(row)-8], 0)])
		newest := i+1 == len(keys) || !bytes.HasPrefix(keys[i+1], row[:len(row)-8])
		for name, ask := range map[string]func() error{
			"before": before(session),
			"turns":  func() error { _, err := p.E.Ledger.Turns(session); return err },
			"each":   func() error { return p.E.Ledger.Each(func(string, *ledger.Turn) error { return nil }) },
		} {
			write(p, gone, nil)
			write(p, row, vals[i][:len(vals[i])-1])
			p.Reopen()
			p.Must(ask())
			if meets := newest || name != "before"; isThere() != meets {
				t.Errorf("%s of %s, row %x is broken: folded anew is %v, want %v", name, session, row, !meets, meets)
			}
			write(p, gone, vals[first])
			write(p, row, vals[i])
			p.Reopen()
			same(p, fmt.Sprintf("%x mended", row), want)
		}
	}
	// Who folds a session on meets its newest row.
	last := func(session string) []byte {
		at := 0
		for i, key := range keys {
			if bytes.HasPrefix(key[2:], append([]byte(session), 0)) {
				at = i
			}
		}
		return keys[at]
	}
	write(p, last(sessions[2]), []byte("\xff"))
	p.Reopen()
	commit(p, event(sessions[2], 0, hooks.Stop))
	got := each(p)
	for _, session := range sessions[:2] {
		if !slices.EqualFunc(got[session], want[session], equal) {
			t.Errorf("%s: %+v\nwant %+v", session, got[session], want[session])
		}
	}
	p.SameTurns(sessions[2])
}

// Rows of another fold, or of more operations than the log has, do not count.
func TestRowsOfAnotherHead(t *testing.T) {
	p, sessions := worked(t)
	want := all(p, sessions)
	keys, vals := stored(p)
	at := slices.IndexFunc(keys, func(key []byte) bool { return key[1] == 1 })
	row := keys[at+1]
	seq := bytes.LastIndex(vals[at], []byte("\x03\x01")) + 2
	for name, c := range map[string]struct {
		at   int // in the head
		val  byte
		anew bool
	}{
		"as it is":      {2, vals[at][2], false},
		"other fold":    {2, vals[at][2] + 1, true},
		"more than all": {seq, 0x7f, true},
	} {
		head := bytes.Clone(vals[at])
		head[c.at] = c.val
		write(p, keys[at], head)
		write(p, row, nil)
		p.Reopen()
		rows(p, sessions[1])
		now, _ := stored(p)
		if anew := len(now) == len(keys); anew != c.anew {
			t.Errorf("%s: folded anew is %v", name, anew)
		}
		write(p, keys[at], nil)
		p.Reopen()
		same(p, name, want)
	}
}
