package ledger

import (
	"strings"
	"testing"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/refs"
)

// A turn's moments, oldest first: p prompt, t tool event that changed nothing of its own, w work of its calls, s
// stop, a subagent's event, o a session opened or ended, x a cut in place. The capital one is the end.
func TestPromise19WhereTurnsEnd(t *testing.T) {
	words := map[byte]string{
		'p': model.EventWords[hooks.Prompt], 't': model.EventWords[hooks.BeforeTool],
		'w': model.EventWords[hooks.AfterTool], 's': model.EventWords[hooks.Stop], 'a': "subagent-stop",
		'o': model.EventWords[hooks.SessionEnd],
	}
	for _, moments := range []string{
		"P", "pT", "ptW", "ptwS", "ptwSo", "ptwSoo", "pwSa", "pwSao", "pwsW", "pwsWo", "pwsaWaps", "pwsaWas",
		"pwsWta", "pwSp", "pwSps",
		"pWo", "ptWoo", "pTo", "Po",
		"pwAo", "pwSxo", "pwSxa", "psxpwS", "pSs", "pswsW", "pWoo", "pwA",
		"poT", "powA", "pwsxW", "pwsxWo", "pwsxwS", "pwSxta",
	} {
		want := uint64(strings.IndexFunc(moments, func(r rune) bool { return r >= 'A' && r <= 'Z' })) + 1
		var rows []*Turn
		var newest *Turn
		for i := range len(moments) {
			c, seq := moments[i]|0x20, uint64(i)+1
			if c == 'x' {
				newest = cut(newest, seq)
			} else {
				op := &refs.Operation{Seq: seq, Kind: refs.KindEvent, Turn: 1}
				newest = fold(newest, &moment{Op: op, Word: words[c], Own: c == 'w'}, 0)
			}
			rows = append(rows[:newest.Index], newest)
		}
		end := uint64(0)
		for i := len(rows) - 1; i >= 0 && end == 0; i-- { // of a turn that goes on behind a cut, what has an end
			end = rows[i].End
		}
		if end != want {
			t.Errorf("%s: the end is at %d, want %d", moments, end, want)
		}
	}
}
