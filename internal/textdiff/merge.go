package textdiff

import (
	"bytes"
	"slices"
	"time"
)

// Side says whose text a conflict is settled with.
type Side byte

// The ways to settle conflicts.
const (
	Neither Side = iota // with nobody's: both texts are written, between markers
	Ours
	Theirs
)

// MergeOptions are the names behind the markers of a conflict, and whose text conflicts are settled with.
type MergeOptions struct {
	Ours, Theirs string
	Prefer       Side
}

// Merged is what Merge made. The text is no part of the slices that were merged.
type Merged struct {
	Kind      Kind   // Text; else nothing was merged, and Text is nil
	Text      []byte // with the markers of its conflicts
	Conflicts int    // places that both sides changed; with a preference, those that it settled
}

// Merge brings the changes from base to theirs into ours, as 'git merge-file' does. A place that one side changed gets
// that side's text. If both made the same change, it is made once. If they made different changes, it is a conflict.
// Each side is bounded as in Diff; three searches of timeBound are the longest it takes, and what goes over that is not
// refined.
func Merge(base, ours, theirs []byte, o MergeOptions) Merged {
	for _, text := range [][]byte{base, ours, theirs} {
		if IsBinary(text) {
			return Merged{Kind: Binary}
		}
	}
	for _, text := range [][]byte{base, ours, theirs} {
		if tooLarge(text) {
			return Merged{Kind: TooLarge}
		}
	}
	switch {
	case bytes.Equal(base, ours), bytes.Equal(ours, theirs):
		return Merged{Text: bytes.Clone(theirs)}
	case bytes.Equal(base, theirs):
		return Merged{Text: bytes.Clone(ours)}
	}
	m := merger{
		base: splitLines(base), ours: splitLines(ours), theirs: splitLines(theirs), options: o, began: time.Now(), changes: changesOf,
	}
	return m.merge()
}

func (m *merger) merge() Merged {
	m.collect(m.changes(m.base, m.ours), m.changes(m.base, m.theirs))
	m.refine()
	m.join()
	return m.write()
}

// change is a run of lines of an old text that is replaced by one of a new text. Either run can be empty, not both.
type change struct{ oldAt, oldLen, newAt, newLen int }

// changesOf are the changes between two texts, where git's comparison has them: an ambiguous one as far down as it
// goes, or beside one of the other side.
func changesOf(a, b [][]byte) (list []change) {
	x, y := intern(a, b)
	e := compare(x, y)
	settle(x, e.old, e.new)
	settle(y, e.new, e.old)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if !e.removed(i) && !e.added(j) {
			i, j = i+1, j+1
			continue
		}
		c := change{oldAt: i, newAt: j}
		for e.removed(i) {
			i++
		}
		for e.added(j) {
			j++
		}
		c.oldLen, c.newLen = i-c.oldAt, j-c.newAt
		list = append(list, c)
	}
	return list
}

// region is a place of a merge: lines of ours, and the lines of theirs that stand for the same ones of base.
type region struct {
	from                             Side // Neither: a conflict
	oursAt, oursLen, itsAt, theirLen int
}

type merger struct {
	base, ours, theirs [][]byte
	regions            []region
	options            MergeOptions
	began              time.Time
	changes            func(a, b [][]byte) []change
}

// collect makes regions of two lists of changes from base. Changes that overlap or touch, and are not the same, are one
// conflict.
func (m *merger) collect(ours, theirs []change) {
	for len(ours) > 0 && len(theirs) > 0 {
		a, b := ours[0], theirs[0]
		endA, endB := a.oldAt+a.oldLen, b.oldAt+b.oldLen
		switch {
		case endA < b.oldAt:
			m.add(region{Ours, a.newAt, a.newLen, b.newAt - b.oldAt + a.oldAt, a.oldLen})
			ours = ours[1:]
			continue
		case endB < a.oldAt:
			m.add(region{Theirs, a.newAt - a.oldAt + b.oldAt, b.oldLen, b.newAt, b.newLen})
			theirs = theirs[1:]
			continue
		}
		if a.oldAt != b.oldAt || a.oldLen != b.oldLen || !slices.EqualFunc(m.ours[a.newAt:a.newAt+a.newLen],
			m.theirs[b.newAt:b.newAt+b.newLen], bytes.Equal) {
			first, last := min(a.oldAt, b.oldAt), max(endA, endB)
			r := region{from: Neither, oursAt: a.newAt - (a.oldAt - first), itsAt: b.newAt - (b.oldAt - first)}
			r.oursLen = a.newAt + a.newLen + (last - endA) - r.oursAt
			r.theirLen = b.newAt + b.newLen + (last - endB) - r.itsAt
			m.add(r)
		}
		if endA >= endB {
			theirs = theirs[1:]
		}
		if endB >= endA {
			ours = ours[1:]
		}
	}
	for _, a := range ours {
		m.add(region{Ours, a.newAt, a.newLen, a.oldAt + len(m.theirs) - len(m.base), a.oldLen})
	}
	for _, b := range theirs {
		m.add(region{Theirs, b.oldAt + len(m.ours) - len(m.base), b.oldLen, b.newAt, b.newLen})
	}
}

// add appends a region, or makes one with the last that it touches: a conflict, unless both are of one side.
func (m *merger) add(r region) {
	if n := len(m.regions); n > 0 {
		last := &m.regions[n-1]
		if r.oursAt <= last.oursAt+last.oursLen || r.itsAt <= last.itsAt+last.theirLen {
			if last.from != r.from {
				last.from = Neither
			}
			last.oursLen, last.theirLen = r.oursAt+r.oursLen-last.oursAt, r.itsAt+r.theirLen-last.itsAt
			return
		}
	}
	m.regions = append(m.regions, r)
}

// refine cuts from conflicts what both sides have.
func (m *merger) refine() {
	var out []region
	for _, r := range m.regions {
		oneSided := r.from != Neither || r.oursLen == 0
		if oneSided || r.theirLen == 0 || time.Since(m.began) > 2*timeBound {
			out = append(out, r)
			continue
		}
		for _, c := range m.changes(m.ours[r.oursAt:r.oursAt+r.oursLen], m.theirs[r.itsAt:r.itsAt+r.theirLen]) {
			out = append(out, region{Neither, r.oursAt + c.oldAt, c.oldLen, r.itsAt + c.newAt, c.newLen})
		}
	}
	m.regions = out
}

// joinLines is how many unchanged lines, at most, do not part two conflicts; more do not either if they have no letter
// and no digit.
const joinLines = 3

// join makes one conflict of those that hardly anything lies between.
func (m *merger) join() {
	var out []region
	for _, r := range m.regions {
		if n := len(out); n > 0 && r.from == Neither && out[n-1].from == Neither {
			last := &out[n-1]
			between := m.ours[last.oursAt+last.oursLen : r.oursAt]
			if len(between) <= joinLines || !slices.ContainsFunc(between, hasWord) {
				last.oursLen, last.theirLen = r.oursAt+r.oursLen-last.oursAt, r.itsAt+r.theirLen-last.itsAt
				continue
			}
		}
		out = append(out, r)
	}
	m.regions = out
}

// hasWord reports whether a line has an ASCII letter or digit, which is all that git looks for.
func hasWord(line []byte) bool {
	return bytes.ContainsFunc(line, func(r rune) bool {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	})
}

// write is the text that the regions make of ours.
func (m *merger) write() (out Merged) {
	var text []byte
	at := 0
	for _, r := range m.regions {
		from := r.from
		if from == Neither {
			out.Conflicts++
			from = m.options.Prefer
		}
		text = appendLines(text, m.ours[at:r.oursAt])
		at = r.oursAt + r.oursLen
		ours, theirs := m.ours[r.oursAt:at], m.theirs[r.itsAt:r.itsAt+r.theirLen]
		switch from {
		case Ours:
			text = appendLines(text, ours)
		case Theirs:
			text = appendLines(text, theirs)
		case Neither:
			end := m.lineEnd(r)
			text = appendMarker(text, '<', m.options.Ours, end)
			text = closeLine(appendLines(text, ours), end)
			text = appendMarker(text, '=', "", end)
			text = closeLine(appendLines(text, theirs), end)
			text = appendMarker(text, '>', m.options.Theirs, end)
		}
	}
	out.Text = appendLines(text, m.ours[at:])
	return out
}

func appendLines(text []byte, lines [][]byte) []byte {
	for _, l := range lines {
		text = append(text, l...)
	}
	return text
}

// markerSize is how often the character of a marker stands in it.
const markerSize = 7

func appendMarker(text []byte, char byte, label, end string) []byte {
	text = append(text, bytes.Repeat([]byte{char}, markerSize)...)
	if label != "" {
		text = append(append(text, ' '), label...)
	}
	return append(text, end...)
}

// closeLine ends the last line of a text if it has no end, so that a marker has a line of its own.
func closeLine(text []byte, end string) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, end...)
	}
	return text
}

// lineEnd is how the lines of a conflict's markers end: with a carriage return if the lines before it, of both sides,
// and the first of base do, as far as they tell.
func (m *merger) lineEnd(r region) string {
	says := false
	for _, side := range []struct {
		lines [][]byte
		at    int
	}{{m.ours, max(r.oursAt-1, 0)}, {m.theirs, max(r.itsAt-1, 0)}, {m.base, 0}} {
		cr, known := endsWithCR(side.lines, side.at)
		if known && !cr {
			return "\n"
		}
		says = known
	}
	if says {
		return "\r\n"
	}
	return "\n"
}

// endsWithCR reports whether the line at i, or if that has no end the one before it, ends with a carriage return;
// known: one has an end.
func endsWithCR(lines [][]byte, i int) (cr, known bool) {
	if i < len(lines) && !bytes.HasSuffix(lines[i], []byte{'\n'}) {
		i--
	}
	if i < 0 || i >= len(lines) {
		return false, false
	}
	return bytes.HasSuffix(lines[i], []byte("\r\n")), true
}
