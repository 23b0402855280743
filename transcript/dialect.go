package transcript

import (
	"fmt"
	"io"
	"time"

	"rewind/internal/jsonscan"
)

// dialect is how one agent writes a session. It is a value without state: what is remembered from record to record is
// in a parser or a forker, made for one reading.
type dialect struct {
	parser func() parser       // reads records
	within func() parser       // reads records from a prompt on that is not the first; nil: what records are depends on those before
	forker func(f Fork) forker // writes a fork's
	// without are the spans of a source, in order, that a fork does not have though records in them do not say so; nil:
	// there are none.
	without func(src Source) ([]span, error)
	place   place

	// chain: records name the one before them, and a prompt goes on from where its parent is. strict: the agent finds
	// nothing that came before a record whose parent is not in the file.
	chain, strict bool
	// newestID: the session's id is the newest that a record names, not the first.
	newestID bool
	// answers: the client answers calls without a result itself when it opens a session (seen,
	// docs/agents/README.md#turns-and-cuts).
	answers bool
	// session is the role of marks that hold the session's id, for Check; 0: there is no such role.
	session int

	// read and cut are readLines and copyPrefix, where nil.
	read func(src Source, from int64, p parser, l *line, fn func(*line) error) error
	cut  func(w io.Writer, src Source, cut int64) error
}

// parser reads records one after the other.
type parser interface {
	// parse reads one JSON object and says in l what it is. An error makes the record a Broken one.
	parse(s *jsonscan.Scanner, l *line) error
}

// forker writes the records of a fork one after the other.
type forker interface {
	// record writes what becomes of l, whose marks are filled, or nothing.
	record(l *line, out *output) error
	// end writes what stands behind the last record.
	end(out *output) error
}

// line is a Record with what only this package wants to know.
type line struct {
	Record

	Session, Cwd, Version string
	Title                 string // what the agent's list shows
	TitleRank             int    // a title of a higher rank wins, and of the same rank the newest; 0 with Title "" is none
	Forked                Parent
	Asked                 string // the session that the reply was asked in: of a copy that names no other one, what it was made of
	// InTurn is the id of the turn that the record is of, where the agent gives its turns ids, which copies keep
	// (Codex). Ids of sessions
	// and turns are made in order of time: a turn that began before the session did is Copied.
	InTurn  string
	Copied  bool
	Base    *Base
	Ordinal int64 // the client's number of the record; 0: the first, or it counts none

	// Lead: may belong to the prompt that follows.
	Lead bool
	// Root: says that it continues nothing, which is more than not to say what it continues.
	Root bool
	// Open: the file is not whole behind this record, though no call is open: never cut there.
	Open bool
	// Undo: the newest n turns that are not gone are gone. UndoTo: the turn whose prompt has this id is, with all
	// behind it. UndoFrom, where it is not 0: what stands at that byte and behind it is, and the next record goes on
	// from there.
	Undo     int
	UndoTo   string
	UndoFrom int64
	// Reset: what the model sees is only what this record says: no call is open, and every turn is gone but those of
	// Again.
	Reset bool
	Again []prompted
	// Summed: the record that a line names; one of a summary as the newest of what it sums up (Claude 1.0, in front of
	// a session that it made of another one, and of others).
	Summed string

	says    jsonscan.Text // what becomes Text
	marking bool
	marks   []mark
	word    jsonscan.Text
	words   *words
}

// prompted is a prompt that a record names again; one that was not known is a turn of its own.
type prompted struct {
	ID, Text string
	Time     time.Time
}

// mark is a place in a record that a fork may rewrite.
type mark struct {
	role       int   // the dialect's
	start, end int64 // in the source; of a string with its quotes
	old        string
}

func dialectOf(agent Agent, src Source) (*dialect, error) {
	switch agent {
	case Claude:
		return &claudeDialect, nil
	case Codex:
		return &codexDialect, nil
	case Gemini:
		return geminiDialect(src), nil
	case Droid:
		return &droidDialect, nil
	}
	return nil, fmt.Errorf("read %s: unknown agent %q", src.Name, agent)
}

// IsDocument reports whether src is one JSON document, which its agent writes anew each time, instead of lines.
func IsDocument(agent Agent, src Source) bool {
	d, err := dialectOf(agent, src)
	return err == nil && d.read != nil
}

func (d *dialect) lines(src Source, from int64, l *line, fn func(*line) error) error {
	return d.records(src, from, d.parser(), l, fn)
}

// records is lines with a parser that may have read those before.
func (d *dialect) records(src Source, from int64, p parser, l *line, fn func(*line) error) error {
	if d.read != nil {
		return d.read(src, from, p, l, fn)
	}
	return readLines(src, from, p, l, fn)
}
