package transcript

import (
	"errors"
	"io"
	"time"
)

// ErrNoTitle is returned for a session whose title does not stand in its file.
var ErrNoTitle = errors.New("its title does not stand in its file")

// WriteTitle writes src as it is, but with another title, which the agent's own list shows from then on: as the agent writes one that a
// person gave. The session's id is id. All other bytes stay as they are; a last line without its end gets it. ErrNoTitle for Codex, whose
// program keeps titles elsewhere.
func WriteTitle(w io.Writer, agent Agent, src Source, id, title string, at time.Time) error {
	d, err := dialectOf(agent, src)
	if err != nil {
		return err
	}
	out := newOutput(w, src)
	switch {
	case agent == Claude:
		err = out.append(`{"type":"custom-title","sessionId":` + quoted(id) + `,"customTitle":` + quoted(title) + `,"uuid":` +
			quoted(derivedID(id, "custom-title "+stamp(at)+" "+title)) + `,"timestamp":` + quoted(stamp(at)) + "}\n")
	case d == &geminiLines:
		err = out.append(`{"$set":{"summary":` + quoted(title) + `,"lastUpdated":` + quoted(stamp(at)) + "}}\n")
	case d == &geminiDocument:
		err = d.retitle(out, geminiDoc, []titleMember{{geminiTitle, "summary", quoted(title)}})
	case agent == Droid: // a title that nobody set by hand is written anew with the next prompt
		err = d.retitle(out, "session_start", []titleMember{
			{roleDroidTitle, "title", quoted(title)}, {roleDroidManual, "isSessionTitleManuallySet", "true"},
		})
	default:
		return ErrNoTitle
	}
	if err != nil {
		return err
	}
	return out.w.Flush()
}

// append writes the whole source, then line.
func (o *output) append(line string) error {
	if err := o.plain(0, o.src.Size); err != nil {
		return err
	}
	if o.tail != '\n' && o.src.Size > 0 {
		line = "\n" + line
	}
	return o.write(line)
}

// titleMember is a member of a record that says the title.
type titleMember struct {
	role       int
	key, value string
}

// retitle writes the source with those members in its first record of the type typ. One that is not there is put in front of the others.
func (d *dialect) retitle(out *output, typ string, members []titleMember) error {
	var splices []splice
	there, at := map[int]bool{}, int64(-1)
	err := d.lines(out.src, 0, newLine(maxText, true), func(l *line) error {
		if l.Type != typ || at >= 0 && typ != geminiDoc { // a document's own members are in several pieces
			return nil
		}
		if at < 0 {
			at = l.Offset
		}
		for _, m := range l.marks {
			for _, t := range members {
				if t.role == m.role {
					there[t.role] = true
					splices = append(splices, splice{m.start, m.end, t.value})
				}
			}
		}
		return nil
	})
	if err == nil && at < 0 {
		err = &Error{Name: out.src.Name, Cause: ErrNoTitle}
	}
	if err != nil {
		return err
	}
	front := ""
	for _, t := range members {
		if !there[t.role] {
			front += `"` + t.key + `":` + t.value + ","
		}
	}
	if front != "" {
		open, err := out.opening(at)
		if err != nil {
			return err
		}
		splices = append([]splice{{open, open, front}}, splices...)
	}
	return out.copy(0, out.src.Size, splices...)
}

// opening is the offset behind the first bracket of an object at or behind at.
func (o *output) opening(at int64) (int64, error) {
	b := make([]byte, 1)
	for ; at < o.src.Size; at++ {
		if _, err := o.src.ReadAt(b, at); err != nil && err != io.EOF {
			return 0, &Error{Name: o.src.Name, Cause: err}
		}
		if b[0] == '{' {
			return at + 1, nil
		}
	}
	return 0, &Error{Name: o.src.Name, Cause: io.ErrUnexpectedEOF}
}
