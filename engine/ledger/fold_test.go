package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
)

// A turn's moments, oldest first: p prompt, t tool event that changed nothing of its own, w work of its calls, s
// stop, a subagent's event, n a notice, o a session opened or ended, x a cut in place. The capital one is the end.
func TestPromise19WhereTurnsEnd(t *testing.T) {
	words := map[byte]string{
		'p': model.EventWords[hooks.Prompt], 't': model.EventWords[hooks.BeforeTool],
		'w': model.EventWords[hooks.AfterTool], 's': model.EventWords[hooks.Stop], 'a': "subagent-stop",
		'o': model.EventWords[hooks.SessionEnd], 'n': model.WordOf(&hooks.Event{Kind: hooks.Prompt, Notice: true}),
	}
	for _, moments := range []string{
		"P", "pT", "ptW", "ptwS", "ptwSo", "ptwSoo", "pwSa", "pwSao", "pwsW", "pwsWo", "pwsaWaps", "pwsaWas",
		"pwsWta", "pwSp", "pwSps",
		"pWo", "ptWoo", "pTo", "Po",
		"pwAo", "pwSxo", "pwSxa", "psxpwS", "pSs", "pswsW", "pWoo", "pwA",
		"poT", "powA", "pwsxW", "pwsxWo", "pwsxwS", "pwSxta", "pwSxn", "pwSn", "pwsxnW",
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

// folded gives the rows of moments, the oldest first. Moments are numbered from 1: "1p asked" is a prompt of turn 1
// that has its text, "cut" a cut in place, "restore" one of the whole tree.
func folded(t *testing.T, moments ...string) (rows []*Turn) {
	t.Helper()
	words := map[byte]string{
		'p': model.EventWords[hooks.Prompt], 't': model.EventWords[hooks.BeforeTool],
		'w': model.EventWords[hooks.AfterTool], 's': model.EventWords[hooks.Stop],
		'o': model.EventWords[hooks.SessionEnd], 'f': model.EventScan,
	}
	newest, restored := (*Turn)(nil), uint64(0)
	for i, text := range moments {
		seq, was, before := uint64(i)+1, newest, []byte(nil)
		if was != nil {
			before = was.encode()
		}
		is := strings.Fields(text)
		has := func(word string) bool { return slices.Contains(is, word) }
		switch is[0] {
		case "restore":
			restored = seq
			continue
		case "cut":
			newest = cut(newest, seq)
		default:
			op := &refs.Operation{Seq: seq, Kind: refs.KindEvent, Turn: uint64(text[0] - '0'), Time: int64(seq)}
			op.Thinned = has("thinned")
			if has("step") {
				op.Kind = refs.KindCheckpoint
			}
			if has("step") || has("names") {
				op.Checkpoint = objstore.Sum(objstore.Blob, []byte(text))
			}
			m := &moment{Op: op, Word: words[text[1]], Own: has("own"), Said: has("said"), Asked: has("asked")}
			newest = fold(newest, m, restored)
		}
		if was != nil && !bytes.Equal(was.encode(), before) {
			t.Errorf("%s: moment %d changes the row that it was given", moments, seq)
		}
		rows = append(rows[:newest.Index], newest)
	}
	return rows
}

// tells is what a row tells, without what is not known.
func tells(t *Turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "turn %d at %d", t.Number, t.Time.UnixMilli())
	for _, f := range []struct {
		name string
		seq  uint64
	}{
		{"first", t.First},
		{"cut", t.Cut},
		{"asked", t.Asked},
		{"begin", t.Begin},
		{"found", t.Found},
		{"end", t.End},
		{"code", t.Code},
		{"said", t.Said},
		{"made", t.Made},
		{"heard", t.Heard},
		{"steps", t.Steps},
		{"start", t.Start},
		{"cut behind", t.CutBehind()},
	} {
		if f.seq > 0 {
			fmt.Fprintf(&b, ", %s %d", f.name, f.seq)
		}
	}
	if t.Later != nil {
		fmt.Fprintf(&b, ", later %d", t.Later)
	}
	if t.GoesOn {
		b.WriteString(", goes on")
	}
	if t.Over {
		b.WriteString(", over")
	}
	return b.String()
}

func TestWhatRowsTell(t *testing.T) {
	for _, c := range [][]string{
		{
			"0o names; 1p asked said; 1t; 1w own step; 1s said names; 2p asked names",
			"turn 0 at 1, first 1, begin 1, start 1, over",
			"turn 1 at 2, first 2, asked 2, begin 4, found 4, end 5, code 5, said 5, made 4, heard 2, steps 1, over",
			"turn 2 at 6, first 6, asked 6, begin 6, found 6, end 6, code 6, said 5",
		},
		{"1p; 1s; 1t thinned; 1w own", "turn 1 at 1, first 1, end 4, code 3, over"},
		{
			"0f names; 0o said names; 1p step asked; 1p asked; 1t own step said; 1s",
			"turn 0 at 1, first 1, begin 1, heard 2, start 2, over",
			"turn 1 at 3, first 3, asked 4, begin 3, found 3, end 6, code 5, said 5, made 5, heard 5, steps 1, over",
		},
		{
			"1p asked; 1p step asked; 1f names said; 1w step own said; 1s thinned; 1o said; 1o said; 1f said; " +
				"1o said; 1o said; 1f said",
			"turn 1 at 1, first 1, asked 1, begin 2, found 2, end 5, code 5, said 4, made 4, heard 3, steps 1, " +
				"later [6 7 8 11], over",
		},
		{
			"1p asked names said; 1w own; cut; 1w own step said; 1s; cut; 1p asked; cut; 2p asked; 2s",
			"turn 1 at 1, first 1, asked 1, begin 1, found 1, end 2, code 1, said 1, heard 1, cut behind 3",
			"turn 1 at 4, first 4, cut 3, begin 4, found 4, end 5, code 4, said 4, made 4, heard 4, steps 1, " +
				"cut behind 6, goes on, over",
			"turn 1 at 7, first 7, cut 6, asked 7, end 7, code 4, said 6, cut behind 8",
			"turn 2 at 9, first 9, cut 8, asked 9, end 10, code 4, said 8, over",
		},
		{
			"cut; 1p asked; 1s; cut; cut; 1s names",
			"turn 1 at 2, first 2, cut 1, asked 2, end 3, said 1, cut behind 5, over",
			"turn 1 at 6, first 6, cut 5, begin 6, found 6, goes on, over",
		},
		{
			"restore; 1p; 1s; 2p; restore; 2s; 3p; 3s names",
			"turn 1 at 2, first 2, end 3, over",
			"turn 2 at 4, first 4, end 6, code 5, over",
			"turn 3 at 7, first 7, begin 8, found 8, end 8, code 8, over",
		},
		{
			"1p step; 1w own step; 2p asked; 2f step; 2s said",
			"turn 1 at 1, first 1, begin 1, found 1, end 2, code 2, made 2, steps 1",
			"turn 2 at 3, first 3, asked 3, begin 4, end 5, code 2, said 5, made 4, heard 5, over",
		},
		{
			"1p asked; 1t names; 1o names; 1f step; 1s",
			"turn 1 at 1, first 1, asked 1, begin 2, found 2, end 5, code 2, made 4, over",
		},
		{
			"cut; restore; 1p; 1s",
			"turn 1 at 3, first 3, cut 1, end 4, code 2, said 1, over",
		},
		{
			"cut; 1p; restore; 1s; 1w own thinned",
			"turn 1 at 2, first 2, cut 1, end 5, code 5, said 1, over",
		},
		{
			"1p; restore; 1w own step; 1s",
			"turn 1 at 1, first 1, begin 3, found 3, end 4, code 3, made 3, steps 1, over",
		},
		{
			"1p; 1f own step; 1f; 2p; 2f thinned; 2f said; 2s",
			"turn 1 at 1, first 1, begin 2, found 2, end 2, code 2, made 2, steps 1",
			"turn 2 at 4, first 4, end 7, code 2, said 6, heard 6, over",
		},
	} {
		var got []string
		for _, row := range folded(t, strings.Split(c[0], "; ")...) {
			got = append(got, tells(row))
		}
		if !slices.Equal(got, c[1:]) {
			t.Errorf("%s:\n%s\nwant\n%s", c[0], strings.Join(got, "\n"), strings.Join(c[1:], "\n"))
		}
	}
}

// What a row says that goes on behind a cut, together with the row before it.
func TestRowWithTheOneBefore(t *testing.T) {
	for _, c := range [][2]string{
		{
			"1p asked names; 1t step; cut; 1t names",
			"turn 1 at 1, first 4, cut 3, asked 1, begin 1, found 4, steps 1, goes on",
		},
		{
			"1p; 1w own said; cut; 1t asked step; 1s",
			"turn 1 at 1, first 4, cut 3, asked 4, begin 4, found 4, steps 1, goes on, over",
		},
		{"1p; 1s; 1p step; cut; 1t", "turn 1 at 1, first 5, cut 4, begin 3, goes on, over"},
		{"1p; 1w own step; cut; 1t step", "turn 1 at 1, first 4, cut 3, begin 2, found 4, steps 2, goes on"},
	} {
		rows := folded(t, strings.Split(c[0], "; ")...)
		all := rows[1].With(rows[0])
		if got := tells(&all); got != c[1] {
			t.Errorf("%s: %s\nwant %s", c[0], got, c[1])
		}
	}
}

// Every other version of a session's file has a turn that one of them does not have.
func TestHiddenRows(t *testing.T) {
	for _, c := range []struct {
		versions []uint64
		hidden   string // behind operations 1 to 7, then now
	}{
		{nil, "--------"},
		{[]uint64{3}, "--hhhhhh"},
		{[]uint64{1}, "hhhhhhhh"},
		{[]uint64{2, 5}, "-hhh----"},
		{[]uint64{2, 3, 6}, "-h---hhh"},
		{[]uint64{2, 3, 6, 9}, "-h---hh-"},
	} {
		row, got := &Turn{versions: c.versions}, ""
		for _, seq := range []uint64{1, 2, 3, 4, 5, 6, 7, 0} {
			if row.Hidden(seq) {
				got += "h"
			} else {
				got += "-"
			}
		}
		if got != c.hidden {
			t.Errorf("versions %d: %s, want %s", c.versions, got, c.hidden)
		}
	}
}
