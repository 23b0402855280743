package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"path/filepath"
	"strings"
	"unicode"

	"rewind/internal/jsonscan"
)

// Limits of what is kept of a payload, in bytes. A text is cut in front of the character that does not fit; an id or a
// path that does not fit is no id or path.
const (
	maxWord   = 64 // event, source, reason
	maxName   = 128
	maxID     = 128
	maxPrompt = 256
	maxTarget = 200
	maxPath   = 4096
	maxPaths  = 256 // files that one call names
)

// text keeps the beginning of a string.
type text struct {
	limit int
	b     []byte
	cut   bool
	id    bool      // an id is told from others by all of it
	whole hash.Hash // of an id that was cut: SHA-256 of all of it
}

func (t *text) reset() { t.b, t.cut, t.whole = t.b[:0], false, nil }

func (t *text) Add(p []byte) {
	if !t.cut && len(t.b)+len(p) > t.limit {
		t.cut = true
		if t.id {
			t.whole = sha256.New()
			t.whole.Write(t.b)
			t.whole.Write(p)
		}
		t.b = append(t.b, jsonscan.Fit(p, t.limit-len(t.b))...)
		return
	}
	if t.whole != nil {
		t.whole.Write(p)
	}
	if !t.cut {
		t.b = append(t.b, p...)
	}
}

func (t *text) String() string { return string(t.b) }

// safeID is the id as it is if it can be a part of a file name on its own: 1-128 of [A-Za-z0-9._-], not beginning with
// '.' or '-'. Else it is x- and 32 hex digits of the SHA-256 of the whole id: the same each time, and harmless.
func (t *text) safeID() string {
	if len(t.b) == 0 || !t.cut && isID(t.b) {
		return string(t.b)
	}
	var sum []byte
	if t.whole != nil {
		sum = t.whole.Sum(nil)
	} else {
		all := sha256.Sum256(t.b)
		sum = all[:]
	}
	return "x-" + hex.EncodeToString(sum[:16])
}

func isID(b []byte) bool {
	for _, c := range b {
		other := c != '_' && c != '-'
		if other && c != '.' && !isAlnum(c) {
			return false
		}
	}
	return b[0] != '.' && b[0] != '-'
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// absPath is the path, made clean, or "" if it is not absolute, has a NUL or was cut.
func (t *text) absPath() string {
	p := t.path()
	if !filepath.IsAbs(p) {
		return ""
	}
	return filepath.Clean(p)
}

// path is the path as given, or "" if it cannot be one.
func (t *text) path() string {
	if t.cut || bytes.IndexByte(t.b, 0) >= 0 {
		return ""
	}
	return string(t.b)
}

// oneLine makes s fit a line for people: control characters become spaces, and it ends after maxTarget bytes.
func oneLine(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s))
	line := text{limit: maxTarget}
	line.Add([]byte(s))
	return line.String()
}

// patch gathers the files of an apply_patch text, which may be of any length: the lines that begin with one of
// patchMarks, spaces before it left out. Lines of content begin with '+', '-', '@' or a space; a line of context that
// looks like a mark gives a path too many, never one too few.
//
// Format: github.com/openai/codex, codex-rs/apply-patch, parser.rs.
type patch struct {
	line  text
	paths []string
	lost  bool // a path was too long, or there were too many
}

var patchMarks = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

func newPatch() patch { return patch{line: text{limit: maxPath + 64}} }

func (p *patch) Add(b []byte) {
	for {
		line, rest, ended := bytes.Cut(b, []byte{'\n'})
		if len(p.line.b) == 0 {
			line = bytes.TrimLeftFunc(line, unicode.IsSpace)
		}
		p.line.Add(line)
		if !ended {
			return
		}
		p.end()
		b = rest
	}
}

// end closes a line, the last one too.
func (p *patch) end() {
	line := bytes.TrimSpace(p.line.b)
	for _, mark := range patchMarks {
		name, ok := bytes.CutPrefix(line, []byte(mark))
		if !ok {
			continue
		}
		name = bytes.TrimSpace(name)
		tooLong := p.line.cut || len(name) > maxPath
		if tooLong || len(p.paths) == maxPaths || bytes.IndexByte(name, 0) >= 0 {
			p.lost = true
		} else if len(name) > 0 {
			p.paths = append(p.paths, string(name))
		}
	}
	p.line.reset()
}

// files are the paths that the patch writes; none if they are not all known.
func (p *patch) files() []string {
	if p.lost {
		return nil
	}
	return p.paths
}

// both is two sinks for one string.
type both [2]jsonscan.Sink

func (s both) Add(p []byte) {
	s[0].Add(p)
	s[1].Add(p)
}
