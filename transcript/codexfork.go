package transcript

import (
	"errors"
	"strings"
)

var (
	errCodexBase = errors.New("the conversation begins in another file")
	errCodexMeta = errors.New("no session_meta line")
)

// codexLeft is what a thread had left behind when it went on in a segment: the client would take it for said.
func codexLeft(src Source) (left []span, err error) {
	err = readLines(src, 0, newCodexParser(), newLine(maxText, false), func(l *line) error {
		if l.UndoFrom == 0 || l.UndoFrom == l.Offset {
			return nil
		}
		at := span{l.UndoFrom, l.Offset}
		// it went back behind where it had gone on
		for n := len(left); n > 0 && left[n-1].end > at.start; n = len(left) {
			at.start = min(at.start, left[n-1].start)
			left = left[:n-1]
		}
		left = append(left, at)
		return nil
	})
	return left, err
}

// codexForker makes a thread of its own. It replaces the thread's id in all places of the client. A session of
// `codex exec` becomes one like others, so that the picker lists it. What the model is sent stays as it is. Ordinals
// stay: a gap does no harm.
type codexForker struct {
	fork  Fork
	ids   map[string]bool // of the threads that the fork is made of: two, where a client's fork is joined to its base
	metas int
}

func (f *codexForker) record(l *line, out *output) error {
	switch {
	case l.Kind == Broken: // an id in it would be the old one
		return nil
	case l.Type == "session_meta":
		return f.meta(l, out)
	case strings.HasPrefix(l.Type, "response_item"):
		return out.copy(l.Offset, l.Offset+l.Size)
	}
	return out.copy(l.Offset, l.Offset+l.Size, f.splices(l)...)
}

// meta writes the first session_meta and leaves out the others: a segment's, as the fork has the records that it points
// at, and that of a parent whose records the client has copied.
func (f *codexForker) meta(l *line, out *output) error {
	id, based := "", false
	for _, m := range l.marks {
		switch m.role {
		case codexID:
			id = m.old
		case codexBase:
			based = true
		}
	}
	f.metas++
	switch {
	case f.metas == 1 && based:
		return &Error{Name: out.src.Name, Line: l.Line, Cause: errCodexBase}
	case f.metas == 1 && id == "":
		return &Error{Name: out.src.Name, Line: l.Line, Cause: errCodexMeta}
	case f.metas > 1 && !based:
		return nil
	}
	if id != "" {
		f.ids[id] = true
	}
	if f.metas > 1 {
		return nil
	}
	return out.copy(l.Offset, l.Offset+l.Size, f.splices(l)...)
}

func (f *codexForker) splices(l *line) []splice {
	var list []splice
	add := func(m mark, with string) {
		list = append(list, splice{start: m.start, end: m.end, with: quoted(with)})
	}
	meta := l.Type == "session_meta"
	for _, m := range l.marks {
		switch {
		case m.role == codexThread && f.ids[m.old], m.role == codexID && f.ids[m.old]:
			add(m, f.fork.ID)
		case m.role == codexSource && meta && m.old == "exec":
			add(m, "cli")
		case m.role == codexDir:
			if with := f.fork.moved(m.old); with != "" {
				list = append(list, splice{start: m.start, end: m.end, with: with})
			}
		case m.role == codexFrom && meta && f.fork.From != "":
			add(m, f.fork.From)
		}
	}
	return list
}

func (f *codexForker) end(out *output) error {
	if f.metas == 0 {
		return &Error{Name: out.src.Name, Cause: errCodexMeta}
	}
	return nil
}
