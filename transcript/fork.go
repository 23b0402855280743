package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
}

// WriteFork writes the file of a new session that begins with the first f.Cut bytes of src; nothing behind them is looked at. The bytes are
// the same for the same prefix and f. Only ids, parents and titles are rewritten, where the agent has them by its format: never what a model
// or a tool said. All other bytes stay as they are.
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
	if err := d.lines(src, 0, newLine(maxText, true), func(l *line) error { return fork.record(l, out) }); err != nil {
		return err
	}
	if err := fork.end(out); err != nil {
		return err
	}
	return out.w.Flush()
}

// WriteCut writes src cut in place behind its first cut bytes, which are a record's end: the same bytes, or, where the file is one document,
// the document closed again.
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

// ForkTitle is the title of a fork of a session that is called title. It says once that it is one.
func ForkTitle(title string) string {
	const mark = "[Fork] "
	for strings.HasPrefix(title, mark) {
		title = title[len(mark):]
	}
	return mark + title
}

// derivedID is the id that a fork has in place of old: a UUID of the SHA-256 of the new session's id, NUL and old, so that the same fork is
// made of the same bytes wherever they come from.
func derivedID(session, old string) string {
	sum := sha256.Sum256([]byte(session + "\x00" + old))
	return uuid([16]byte(sum[:16]), 4)
}

// uuid is the text of a UUID with that version's marks.
func uuid(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// quoted is s as a JSON string.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}

// stamp is t as agents write it: UTC, milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
