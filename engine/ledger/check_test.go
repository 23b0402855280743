package ledger_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/refs"
)

// A check names every session whose rows are others, in order, and no other one.
func TestCheckNames(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	names := func(list ...int) (names []string) {
		for _, n := range list {
			names = append(names, fmt.Sprint("claude/", n))
		}
		return names
	}
	for _, s := range names(0, 1, 2, 3, 4, 5, 6, 7) {
		commit(p, event(s, 1, hooks.Prompt), event(s, 1, hooks.Stop), event(s, 2, hooks.Prompt))
	}
	// of a session that nothing is known of but that its file was made, and that it comes of another one
	own := &model.Session{Name: "claude/8", Transcript: "/claude/8.jsonl", Fork: &model.Lineage{Both: 5}}
	own.Fork.Kind = model.ByAgent
	setSession(p, own)
	commit(p, changes("claude/8", 0, 1)...)
	all(p, names(0))
	check := func(when string, want ...string) {
		t.Helper()
		differ, err := p.E.Ledger.Check()
		p.Must(err)
		enginetest.Equal(t, when, differ, want)
	}
	check("as they are")
	key := func(session string, index byte) []byte {
		return binary.BigEndian.AppendUint64(append([]byte("l\x02"+session), 0), uint64(index))
	}
	val := func(key []byte) (val []byte) {
		p.Must(p.E.Log.DB.View(key, func(raw []byte) error { val = bytes.Clone(raw); return nil }))
		return val
	}
	for _, d := range []func(s string){
		func(s string) { write(p, key(s, 0), nil); write(p, key(s, 1), nil) },
		func(s string) { write(p, key(s, 1), nil) },
		func(s string) { write(p, key(s, 2), val(key(s, 1))) },
		func(s string) { write(p, key(s, 0), val(key(s, 1))) },
		func(s string) { write(p, key(s, 2), val(key(s, 1))); write(p, key(s, 1), nil) }, // under another number
		func(s string) { write(p, key(s, 1), []byte("\xff")) },
		func(s string) { write(p, key(s, 0)[:len(s)+3], []byte{}) },
	} {
		d(names(6)[0])
		check("one", names(6)...)
		for _, s := range names(5, 1, 2, 0, 4) {
			d(s)
		}
		check("several", names(0, 1, 2, 4, 5, 6)...)
		changed(p, ledger.Changed)
		all(p, names(0))
		check("folded anew")
	}
	row := val(key("claude/8", 0))
	row[len(row)-1]++
	write(p, key("claude/8", 0), row)
	check("of a file alone", names(8)...)
}

// Whoever works meanwhile, a check finds fault with nothing: not with rows of what came, nor with those of another
// past.
func TestCheckMeanwhile(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(p *enginetest.Project){
		"more comes": func(p *enginetest.Project) { commit(p, event(first, 2, hooks.Prompt)) },
		"the past changes": func(p *enginetest.Project) {
			list, err := p.E.Ledger.Turns(second)
			p.Must(err)
			write(p, kv.OperationKey(list[0].First), nil)
			changed(p, ledger.Changed)
		},
	} {
		p := newTold(t)
		all(p.Project, []string{first})
		checks := false
		p.E.Ledger.VersionsBy(func(*model.Session, uint64, refs.File, ledger.Before) *ledger.Version {
			if checks {
				checks = false
				meanwhile(p.Project)
				all(p.Project, []string{first})
			}
			return nil
		})
		changed(p.Project, ledger.Changed)
		all(p.Project, []string{first})
		checks = true
		if differ, err := p.E.Ledger.Check(); err != nil || len(differ) > 0 || checks {
			t.Errorf("%s: %q differ, %v", name, differ, err)
		}
	}
}
