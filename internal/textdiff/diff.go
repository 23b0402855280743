package textdiff

import (
	"bytes"
	"fmt"

	"rewind/internal/value"
)

// Kind tells what a comparison could make of its input.
type Kind byte

// The outcomes of Diff.
const (
	Text     Kind = iota // both sides are texts; the hunks say how they differ
	Binary               // one side has a NUL near its beginning; no hunks
	TooLarge             // one side is over MaxBytes or maxLines; no hunks

)

// Result is what Diff found. Equal texts are Text without hunks.
type Result struct {
	Kind  Kind
	Hunks []Hunk
}

// Hunk is one place where the texts differ, with unchanged lines around it.
// Starts count from 1; where a side has no lines, its start is the number of the
// line before the place, 0 at the beginning of the file.
type Hunk struct {
	OldStart int    `json:"old_start"`
	OldLines int    `json:"old_lines"`
	NewStart int    `json:"new_start"`
	NewLines int    `json:"new_lines"`
	Lines    []Line `json:"lines"`
}

// Line is one line of a hunk: Op is ' ' for both sides, '-' for the old one, '+'
// for the new one. Text has no line feed and is part of the slice handed to Diff, until Detach;
// NoEOL marks the last line of a side that does not end in one.
type Line struct {
	Op    Op          `json:"op"`
	Text  value.Bytes `json:"text"`
	NoEOL bool        `json:"no_eol,omitempty"`
}

// Op says on which side a line is. In JSON it is a string.
type Op byte

// MarshalText implements encoding.TextMarshaler.
func (o Op) MarshalText() ([]byte, error) { return []byte{byte(o)}, nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Op) UnmarshalText(b []byte) error {
	if len(b) != 1 {
		return fmt.Errorf("textdiff: %q is no side of a line", b)
	}
	*o = Op(b[0])
	return nil
}

// Diff compares two texts and returns hunks with up to context unchanged lines
// on either side. Neither slice is changed; the hunks refer to their bytes.
func Diff(old, new []byte, context int) Result {
	switch {
	case IsBinary(old) || IsBinary(new):
		return Result{Kind: Binary}
	case tooLarge(old) || tooLarge(new):
		return Result{Kind: TooLarge}
	case bytes.Equal(old, new):
		return Result{}
	}
	a, b := splitLines(old), splitLines(new)
	e := compare(intern(a, b))
	e.slide(a, b)
	return Result{Hunks: e.hunks(a, b, min(max(context, 0), maxLines))}
}

// IsBinary reports whether git would call the content binary: a NUL in its first
// 8000 bytes.
func IsBinary(b []byte) bool {
	return bytes.IndexByte(b[:min(len(b), binaryProbe)], 0) >= 0
}

func tooLarge(b []byte) bool {
	return len(b) > MaxBytes || bytes.Count(b, []byte{'\n'}) > maxLines
}

// splitLines cuts a text behind its line feeds; the lines keep them.
func splitLines(b []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(b, []byte{'\n'})+1)
	for line := range bytes.Lines(b) {
		lines = append(lines, line)
	}
	return lines
}

// Stat counts the lines that hunks add and remove.
func Stat(hunks []Hunk) (added, removed int) {
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// Detach gives hunks bytes of their own: who keeps them does not keep all of the two texts.
func Detach(hunks []Hunk) []Hunk {
	for _, h := range hunks {
		for i := range h.Lines {
			h.Lines[i].Text = bytes.Clone(h.Lines[i].Text)
		}
	}
	return hunks
}

// hunks groups the changes of a script: two changes share a hunk when at most
// 2*context unchanged lines lie between them.
func (e *script) hunks(a, b [][]byte, context int) []Hunk {
	var hunks []Hunk
	var cur *Hunk
	i, j := 0, 0 // next line of each side
	same := 0    // unchanged lines since the last change
	for i < len(a) || j < len(b) {
		if !e.removed(i) && !e.added(j) {
			if cur != nil && same < context {
				cur.add(' ', a[i])
			}
			same++
			i, j = i+1, j+1
			continue
		}
		if cur == nil || same > 2*context {
			hunks = append(hunks, Hunk{})
			cur = &hunks[len(hunks)-1]
			lead := min(context, i, j)
			cur.OldStart, cur.NewStart = i-lead, j-lead
			for _, line := range a[i-lead : i] {
				cur.add(' ', line)
			}
		} else {
			for _, line := range a[i-max(same-context, 0) : i] {
				cur.add(' ', line)
			}
		}
		for ; e.removed(i); i++ {
			cur.add('-', a[i])
		}
		for ; e.added(j); j++ {
			cur.add('+', b[j])
		}
		same = 0
	}
	countFromOne(hunks)
	return hunks
}

// countFromOne makes indices of lines their numbers; a side without lines keeps the number of the line before.
func countFromOne(hunks []Hunk) {
	for i := range hunks {
		if hunks[i].OldLines > 0 {
			hunks[i].OldStart++
		}
		if hunks[i].NewLines > 0 {
			hunks[i].NewStart++
		}
	}
}

func (h *Hunk) add(op Op, line []byte) {
	text, hadEOL := bytes.CutSuffix(line, []byte{'\n'})
	h.Lines = append(h.Lines, Line{Op: op, Text: text, NoEOL: !hadEOL})
	if op != '+' {
		h.OldLines++
	}
	if op != '-' {
		h.NewLines++
	}
}
