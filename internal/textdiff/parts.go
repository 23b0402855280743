package textdiff

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// endless reports whether the last line of a text has no end.
func endless(text []byte) bool { return len(text) > 0 && text[len(text)-1] != '\n' }

// Apply makes of a text what some hunks of a comparison with it say, the others left out. They are in order, may have
// unchanged lines in common, as the pieces of Split have, and must fit to the line: each unchanged and removed one is
// where the hunk says. The starts on the new side say nothing.
func Apply(old []byte, hunks []Hunk) ([]byte, error) {
	lines := splitLines(old)
	var out []byte
	taken := 0 // lines of the old text that are in out or removed
	for _, h := range hunks {
		at := h.OldStart
		if h.OldLines > 0 {
			at--
		}
		if at < 0 || at > len(lines) {
			return nil, fmt.Errorf("hunk %s: the text has %d lines", h.Header(), len(lines))
		}
		for _, l := range h.Lines {
			if l.Op != '+' && (at >= len(lines) || !bytes.Equal(lines[at], l.bytes())) {
				return nil, fmt.Errorf("hunk %s: line %d is another one", h.Header(), at+1)
			}
			if l.Op == ' ' {
				at++
				continue
			}
			if at < taken {
				return nil, fmt.Errorf("hunk %s: begins before the one ahead of it ends", h.Header())
			}
			out = append(out, bytes.Join(lines[taken:at], nil)...)
			if taken = at; l.Op == '-' {
				at++
				taken = at
				continue
			}
			if endless(out) {
				return nil, fmt.Errorf("hunk %s: a line follows one that has no end", h.Header())
			}
			out = append(out, l.bytes()...)
		}
	}
	if rest := bytes.Join(lines[taken:], nil); len(rest) > 0 {
		if endless(out) {
			return nil, errors.New("a line follows one that has no end")
		}
		out = append(out, rest...)
	}
	return out, nil
}

// bytes is the line as it stands in the text.
func (l Line) bytes() []byte {
	if l.NoEOL {
		return l.Text
	}
	return append(bytes.Clone(l.Text), '\n')
}

// Split cuts a hunk at the unchanged lines that lie between two changes; both pieces have those lines. One that has
// none between is its own only piece.
func (h Hunk) Split() []Hunk {
	var pieces []Hunk
	begin, last := 0, -1 // where the piece begins; its last changed line
	for i, l := range h.Lines {
		if l.Op == ' ' {
			continue
		}
		if last >= 0 && i > last+1 {
			pieces = append(pieces, h.piece(begin, i))
			begin = last + 1
		}
		last = i
	}
	return append(pieces, h.piece(begin, len(h.Lines)))
}

// piece is the hunk of the lines from begin to end.
func (h Hunk) piece(begin, end int) Hunk {
	before, p := h.with(h.Lines[:begin]), h.with(h.Lines[begin:end])
	first := func(start, lines, skipped, mine int) int {
		if lines == 0 {
			start++ // the line before the place was named
		}
		if start += skipped; mine == 0 {
			start--
		}
		return start
	}
	p.OldStart = first(h.OldStart, h.OldLines, before.OldLines, p.OldLines)
	p.NewStart = first(h.NewStart, h.NewLines, before.NewLines, p.NewLines)
	return p
}

// with is the hunk with other lines, counted.
func (h Hunk) with(lines []Line) Hunk {
	h.Lines, h.OldLines, h.NewLines = lines, 0, 0
	for _, l := range lines {
		if l.Op != '+' {
			h.OldLines++
		}
		if l.Op != '-' {
			h.NewLines++
		}
	}
	return h
}

// ErrNoHunk is returned by Edited when no line of the hunk is left.
var ErrNoHunk = errors.New("no line is left")

// Text is the hunk as it stands in a patch, for Edited.
func (h Hunk) Text() []byte {
	out := append([]byte(h.Header()), '\n')
	for _, l := range h.Lines {
		out = append(append(append(out, byte(l.Op)), l.Text...), '\n')
		if l.NoEOL {
			out = append(out, noEOLText+"\n"...)
		}
	}
	return out
}

// editedLines are the lines of a hunk as a person has left them.
func editedLines(text []byte) (lines []Line, err error) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		switch {
		case len(line) == 0 || len(line) == 1 && line[0] == '\r':
			lines = append(lines, Line{Op: ' ', Text: bytes.Clone(line)}) // an editor has taken the blank
		case line[0] == '#' || line[0] == '@':
		case line[0] == ' ' || line[0] == '-' || line[0] == '+':
			lines = append(lines, Line{Op: Op(line[0]), Text: bytes.Clone(line[1:])})
		case line[0] == '\\' && len(lines) > 0:
			lines[len(lines)-1].NoEOL = true
		default:
			return nil, fmt.Errorf("%q begins with none of ' ', '-' and '+'", clip(line))
		}
	}
	if len(lines) == 0 {
		return nil, ErrNoHunk
	}
	return lines, nil
}

// Edited is the hunk that a person has made of h's text. What is removed and what stays must together be what h has
// there; what is added is free. Lines that begin with '#' or '@' are not read.
func (h Hunk) Edited(text []byte) (Hunk, error) {
	lines, err := editedLines(text)
	if err != nil {
		return h, err
	}
	same := func(a, b Line) bool { return a.NoEOL == b.NoEOL && bytes.Equal(a.Text, b.Text) }
	if !slices.EqualFunc(oldSide(lines), oldSide(h.Lines), same) {
		return h, errors.New("the lines that stay or go are not those of the file")
	}
	noEnd := func(l Line) bool { return l.NoEOL }
	newSide := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Op == '-' })
	if at := slices.IndexFunc(newSide, noEnd); at >= 0 && (at < len(newSide)-1 || !slices.ContainsFunc(h.Lines, noEnd)) {
		return h, errors.New("only the last line of a file can have no end")
	}
	return h.with(lines), nil
}

// clip is how a line begins.
func clip(line []byte) []byte { return line[:min(len(line), 40)] }

// oldSide is the lines that the old text has.
func oldSide(lines []Line) []Line {
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Op == '+' })
}
