package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Fork says what a new session is made of.
type Fork struct {
	Cut   int64  // bytes of the source that it begins with: a record's end
	ID    string // of the new session
	Title string
	Time  time.Time
	From  string // id of the session that it is made of
	Clone bool   // a copy of all of it, not a branch of it
	// Where the fork is not gone on with in the directory in which the source was begun: both directories. What lies
	// below the first is taken to lie below the second.
	Root, To string
}

// moved is a directory of the source as it is the fork's, in quotes; "": the same.
func (f Fork) moved(dir string) string {
	if rest, ok := strings.CutPrefix(dir, f.Root); ok && f.To != "" && (rest == "" || rest[0] == '/') {
		return quoted(f.To + rest)
	}
	return ""
}

// WriteFork writes the file of a new session that begins with the first f.Cut bytes of src; nothing behind them is
// looked at. The bytes are the same for the same prefix and f. Only ids, parents and titles are rewritten, where the
// agent has them by its format: never what a model or a tool said. All other bytes stay as they are.
func WriteFork(w io.Writer, agent Agent, src Source, f Fork) error {
	src.Size, src.Ended = min(src.Size, f.Cut), true // it ends where a record does
	d, err := dialectOf(agent, src)
	if err != nil {
		return err
	}
	return d.write(newOutput(w, src), src, f)
}

// write writes a fork of src, which is cut.
func (d *dialect) write(out *output, src Source, f Fork) error {
	out.lines = d.read == nil
	fork := d.forker(f)
	var without []span
	if d.without != nil {
		var err error
		if without, err = d.without(src); err != nil {
			return err
		}
	}
	err := d.lines(src, 0, newLine(maxSummaryText, true), func(l *line) error {
		for len(without) > 0 && without[0].end <= l.Offset {
			without = without[1:]
		}
		if len(without) > 0 && without[0].start <= l.Offset {
			return nil
		}
		return fork.record(l, out)
	})
	if err != nil {
		return err
	}
	if err := fork.end(out); err != nil {
		return err
	}
	return out.w.Flush()
}

// WriteCut writes src cut in place behind its first cut bytes, which are a record's end: the same bytes, or, where the
// file is one document, the document closed again.
func WriteCut(w io.Writer, agent Agent, src Source, cut int64) error {
	d, err := dialectOf(agent, src)
	if err != nil {
		return err
	}
	if d.cut != nil {
		return d.cut(w, src, cut)
	}
	out := newOutput(w, src)
	if err := out.plain(0, min(cut, src.Size)); err != nil {
		return err
	}
	return out.w.Flush()
}

// ForkTitle is the title of a fork of a session that is called title, which ends with that turn; 0: in none. It says
// once that it is one.
func ForkTitle(title string, turn int) string {
	if turn > 0 {
		return fmt.Sprintf("[Fork @%d] %s", turn, unmarked(title))
	}
	return "[Fork] " + unmarked(title)
}

// CopyTitle is the title of a clone of a session that is called title; one without a title has none either.
func CopyTitle(title string) string {
	if title == "" {
		return ""
	}
	return "[Copy] " + unmarked(title)
}

// SameTitle reports whether a title is another one with nothing but such marks.
func SameTitle(a, b string) bool { return unmarked(a) == unmarked(b) }

// unmarked is a title without what ForkTitle and CopyTitle put before it.
func unmarked(title string) string {
	for {
		kind, rest, ok := strings.Cut(title, "] ")
		turn, at := strings.CutPrefix(kind, "[Fork @")
		if !ok || kind != "[Fork" && kind != "[Copy" && (!at || turn == "" || strings.Trim(turn, "0123456789") != "") {
			return title
		}
		title = rest
	}
}

// derivedID returns the id that replaces old in a fork: a UUID of the SHA-256 of the new session's id, NUL and old. So
// equal bytes make the same fork, wherever they come from.
func derivedID(session, old string) string {
	b := make([]byte, 0, 2*maxID)
	b = append(append(append(b, session...), 0), old...)
	sum := sha256.Sum256(b)
	return uuid([16]byte(sum[:16]), 4)
}

// uuid is the text of a UUID with that version's marks.
func uuid(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	text := make([]byte, 0, 36)
	for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return string(text)
}

// quoted is s as a JSON string.
func quoted(s string) string {
	if !strings.ContainsFunc(s, special) {
		return `"` + s + `"`
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}

// special reports whether a character may stand otherwise in a JSON string.
func special(r rune) bool {
	return r < ' ' || r > '~' || strings.ContainsRune(`"\`, r)
}

// stamp is t as agents write it: UTC, milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// span is the bytes [start, end) of a source.
type span struct{ start, end int64 }

// splice replaces the bytes [start, end) of the source; of an empty span, it puts something between two bytes.
type splice struct {
	start, end int64
	with       string
}

// output writes a new file out of pieces of a source and of new bytes. Its memory does not depend on the pieces'
// length.
type output struct {
	src   Source
	w     *bufio.Writer
	buf   []byte
	lines bool // every piece is a line: one that has no newline, as the last one of a file may, gets it
	tail  byte // the newest byte
	seek  *seeker
}

func newOutput(w io.Writer, src Source) *output {
	return &output{src: src, w: bufio.NewWriterSize(w, 64<<10), buf: make([]byte, 64<<10)}
}

// copy writes the source's bytes [start, end) with splices, which are in order and do not overlap.
func (o *output) copy(start, end int64, splices ...splice) error {
	if o.seek != nil {
		o.seek.begins(start)
	}
	for _, sp := range splices {
		if err := o.plain(start, sp.start); err != nil {
			return err
		}
		if err := o.write(sp.with); err != nil {
			return err
		}
		start = sp.end
	}
	if err := o.plain(start, end); err != nil || !o.lines || o.tail == '\n' {
		return err
	}
	return o.write("\n")
}

// plain copies the source's bytes [start, end).
func (o *output) plain(start, end int64) error {
	for start < end {
		p := o.buf[:min(int64(len(o.buf)), end-start)]
		n, err := o.src.ReadAt(p, start)
		if n < len(p) {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return &Error{Name: o.src.Name, Cause: err}
		}
		if err := o.put(p); err != nil {
			return err
		}
		start += int64(n)
	}
	return nil
}

func (o *output) write(s string) error {
	if s != "" {
		o.tail = s[len(s)-1]
	}
	if o.seek != nil {
		o.seek.lines += strings.Count(s, "\n")
	}
	_, err := o.w.WriteString(s)
	return err
}

func (o *output) put(p []byte) error {
	if len(p) > 0 {
		o.tail = p[len(p)-1]
	}
	if o.seek != nil {
		o.seek.lines += bytes.Count(p, []byte{'\n'})
	}
	_, err := o.w.Write(p)
	return err
}

// seeker finds the piece of the source that a line of the output is made of.
type seeker struct {
	line  int   // from 1
	lines int   // that are written
	at    int64 // where the piece begins; -1: not found yet
}

// begins takes the beginning of the next piece.
func (s *seeker) begins(start int64) {
	if s.at < 0 && s.lines == s.line-1 {
		s.at = start
	}
}

// errNoTitle is returned for a session whose title does not stand in its file.
var errNoTitle = errors.New("its title does not stand in its file")

// WriteTitle writes src as it is, but with another title, which the agent's own list shows from then on: as the agent
// writes one that a person gave. The session's id is id. All other bytes stay as they are; a last line without its end
// gets it. errNoTitle for Codex, whose program keeps titles elsewhere.
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
		return errNoTitle
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

// retitle writes the source with those members in its first record of the type typ. One that is not there is put in
// front of the others.
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
		err = &Error{Name: out.src.Name, Cause: errNoTitle}
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
