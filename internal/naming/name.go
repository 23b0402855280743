package naming

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Kind says what a name goes by.
type Kind byte

// The kinds of names.
const (
	Word    Kind = iota // the digits that an id begins with, or a tag
	Current             // "@": where a session stands
	Time                // "@{...}": the newest at a time
	Session             // "session:x": the newest of a session
	Fork                // "fork:x": where a session branched off
	Turn                // "turn:n", "before:n", "turn:n@x": the end of a turn
)

// Name is a name of a checkpoint, read.
type Name struct {
	Kind    Kind
	Base    string // the name without the steps back
	Text    string // Word: the word; Session, Fork: the session; Time: what stands between the braces
	Turn    uint64 // Turn: whose end is meant; of "before:n" it is n-1
	Before  bool   // Turn: where the prompt of the turn behind it was typed
	Session string // Turn: the session behind "@"; "": the one that the command is about
	Back    int    // so many steps before it
	typed   string
}

// String is the name as it was typed.
func (n Name) String() string { return n.typed }

// End is the name of the end of the turn before the one that a "before:n" is of.
func (n Name) End() Name {
	n.Before = false
	return n
}

// OfSession reports whether the name stands for something else in another session.
func (n Name) OfSession() bool { return n.Kind == Current || n.Kind == Turn && n.Session == "" }

// IsTurn reports whether the name is the end of a turn itself, not a step before it.
func (n Name) IsTurn() bool { return n.Kind == Turn && n.Back == 0 }

// MinDigits is how many digits of an id a name has at least, and so what a tag must not look like.
const MinDigits = 4

// MinCommit is how many digits of a git commit a name has at least.
const MinCommit = 7

// Digits reports whether the name can be how an id begins, were it long enough.
func (n Name) Digits() bool { return n.Kind == Word && digits().MatchString(n.Text) }

var (
	digits  = pattern(`^[0-9A-Fa-f]+$`)
	step    = pattern(`(?:~([0-9]{1,9})|~|\^)$`)
	minuses = pattern(`^@(-+)$`)
)

// pattern compiles a regular expression when it is first used: a command that reads no name would pay for all of them
// at its start.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// maxBack bounds the steps of a name.
const maxBack = 1 << 30

// Forms are the ways to name a checkpoint, one line each: the form, two spaces, what it is.
func Forms() []string {
	return []string{
		"3f2a91c4  the one whose id begins so (4 digits at least)",
		"works  the one that a tag names",
		"9fceb02d0ae5  the newest that stood on the git commit whose hash begins so (7 digits at least)",
		"@  the current one",
		"@-, @~3, @^  steps before it; ~3 and ^ follow any name",
		"turn:5  the end of turn 5; turn:0 is before the first prompt",
		"before:5  where the prompt of turn 5 was typed: the end of turn 4",
		"turn:2@1a2b  of the session whose id begins so",
		"session:1a2b  the newest of that session",
		"fork:1a2b  where that session branched off",
		"@{5m}, @{14:10}  the newest at a time; also 2h ago, yesterday, 2026-11-20, 2026-11-20 10:00",
		"../try:turn:5  what is so called in the worktree of that directory; ../try is where it stands",
	}
}

// Parse reads a name. The error says what is wrong with its form; a word can still be nobody's.
func Parse(s string) (Name, error) {
	n := Name{Base: s, typed: s}
	if s == "" {
		return n, fmt.Errorf("no name given")
	}
	for {
		m := step().FindStringSubmatchIndex(n.Base)
		if m == nil || m[0] == 0 {
			break
		}
		by := 1
		if m[2] >= 0 {
			by, _ = strconv.Atoi(n.Base[m[2]:m[3]])
		}
		if n.Back += by; n.Back > maxBack {
			return n, fmt.Errorf("more than %d steps", maxBack)
		}
		n.Base = n.Base[:m[0]]
	}
	if m := minuses().FindStringSubmatch(n.Base); m != nil {
		n.Base, n.Back = "@", n.Back+len(m[1])
	}
	return n, n.base()
}

// base reads the name without the steps.
func (n *Name) base() error {
	word, rest, _ := strings.Cut(n.Base, ":")
	switch keyword(n.Base) {
	case "@{":
		if !strings.HasSuffix(n.Base, "}") {
			return fmt.Errorf("want @{<time>}")
		}
		n.Kind, n.Text = Time, n.Base[2:len(n.Base)-1]
	case "session:", "fork:":
		n.Kind, n.Text = Session, rest
		if word == "fork" {
			n.Kind = Fork
		}
		if rest == "" {
			return fmt.Errorf("want %s:<session>", word)
		}
	case "turn:", "before:":
		return n.turn(word, rest)
	default:
		if n.Base == "@" {
			n.Kind = Current
			return nil
		}
		n.Text = n.Base
	}
	return nil
}

func (n *Name) turn(word, rest string) error {
	n.Kind = Turn
	number, whose, of := strings.Cut(rest, "@")
	v, err := strconv.ParseUint(number, 10, 32)
	switch {
	case err != nil:
		return fmt.Errorf("want %s:<number>", word)
	case of && whose == "":
		return fmt.Errorf("want %s:%d@<session>", word, v)
	case word == "before" && v == 0:
		return fmt.Errorf("turns are counted from 1; turn:0 is before the first prompt")
	case word == "before":
		n.Before = true
		v--
	}
	n.Turn, n.Session = v, whose
	return nil
}

// keyword is what a name begins with that is neither a tag nor an id; "": it is one of them, or "@".
func keyword(s string) string {
	for _, k := range []string{"@{", "session:", "fork:", "turn:", "before:"} {
		if strings.HasPrefix(s, k) {
			return k
		}
	}
	return ""
}

// SplitPath divides "<checkpoint>:<path>" at the colon that ends the checkpoint. Times in braces have colons of their
// own, and so have names that begin with a word and a colon; a tag called "turn" can be meant only where no number
// follows. A path may have any.
func SplitPath(s string) (name, path string, ok bool) {
	from := 0
	switch k := keyword(s); k {
	case "@{":
		if from = strings.IndexByte(s, '}'); from < 0 {
			return "", "", false
		}
	case "turn:", "before:":
		if rest := s[len(k):]; rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			from = len(k)
		}
	default:
		from = len(k)
	}
	i := strings.IndexByte(s[from:], ':')
	if i < 0 || from+i == 0 || from+i+1 == len(s) {
		return "", "", false
	}
	return s[:from+i], s[from+i+1:], true
}

// CheckTag refuses a tag that could be read as another name.
func CheckTag(tag string) error {
	if len(tag) >= MinDigits && digits().MatchString(tag) {
		const text = "it looks like the beginning of an id: a name of %d or more digits 0-9, a-f and nothing else is that of a checkpoint"
		return fmt.Errorf(text, MinDigits)
	}
	n, err := Parse(tag)
	if err != nil || n.Kind != Word || n.Text != tag {
		return fmt.Errorf("it means something else as the name of a checkpoint")
	}
	return nil
}

// BeginsWithDir reports whether a name begins with a directory, that of another worktree: "<dir>", or "<dir>:<name>".
// Neither an id nor a tag begins so.
func BeginsWithDir(s string) bool {
	for _, p := range []string{"/", "./", "../"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	first, _, _ := strings.Cut(s, ":")
	return first == "." || first == ".."
}
