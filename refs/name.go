package refs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"rewind/internal/value"
)

// Name is the name of a ref: components joined by '/', the first of which is its class.
type Name string

// The classes of names.
const (
	classSession = "session/" // the newest checkpoint of a session: its branch
	classCursor  = "cursor/"  // the checkpoint that the working tree stands on, as the session sees it
	classTag     = "tag/"     // a name given by a person
)

// maxName is the greatest length of a name in bytes.
const maxName = 255

// Session is the branch of a session.
func Session(session string) Name { return Name(classSession + session) }

// Cursor is the cursor of a session.
func Cursor(session string) Name { return Name(classCursor + session) }

// Tag is a tag.
func Tag(tag string) Name { return Name(classTag + tag) }

// Tags is the prefix of all tags, for List.
const Tags = classTag

// Sessions is the prefix of all session branches, and Cursors that of their cursors, for List.
const (
	Sessions = classSession
	Cursors  = classCursor
)

// Base is the name without its class.
func (n Name) Base() string {
	_, base, _ := strings.Cut(string(n), "/")
	return base
}

// Check refuses a name that is not well formed: UTF-8, at most maxName bytes, at least two components, none of them
// empty, "." or "..", none beginning with '-', '@' or '.', no control characters, spaces or any of `~^:?*[\{}`.
func (n Name) Check() error {
	s := string(n)
	bad := func(why string) error {
		return &value.OpError{Op: "name", Subject: s, Typed: true, Err: fmt.Errorf("%w: %s", ErrBadName, why)}
	}
	if len(s) > maxName {
		return bad("longer than 255 bytes")
	}
	if !utf8.ValidString(s) {
		return bad("not UTF-8")
	}
	if !strings.Contains(s, "/") {
		return bad("no class")
	}
	for c := range strings.SplitSeq(s, "/") {
		if c == "" {
			return bad("empty, or an empty part")
		}
		if strings.ContainsAny(c[:1], "-@.") {
			return bad("a part begins with '-', '@' or '.'")
		}
	}
	for _, r := range s {
		blank := unicode.IsControl(r) || unicode.IsSpace(r)
		if blank || !unicode.IsGraphic(r) || strings.ContainsRune(`~^:?*[]\{}"`, r) {
			return bad(fmt.Sprintf("%q is not allowed", r))
		}
	}
	return nil
}
