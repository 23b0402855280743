package render

import (
	"fmt"
	"strings"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
	"rewind/internal/value"
)

// ShortSession is a session's name with an id that is short enough to be read.
func ShortSession(name string) string {
	agent, id, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	return agent + "/" + ShortID(id)
}

// ShortBranch is a branch's name with an id that is short enough to be read: a session's, or turn:n@session.
func ShortBranch(name string) string {
	if turn, session, ok := strings.Cut(name, "@"); ok {
		return turn + "@" + ShortID(session[strings.Index(session, "/")+1:])
	}
	return ShortSession(name)
}

// SessionWords is a session as a person reads it: its agent, and how its id begins.
func SessionWords(name string) string {
	return term.Sanitize(strings.Replace(ShortSession(name), "/", " ", 1))
}

// SessionTurn is a turn with its session and agent: "turn:4 of claude ecb90d2e".
func SessionTurn(turn uint64, session string) string {
	return naming.TurnName(turn, "") + " of " + SessionWords(session)
}

// LossWords say what an agent has lost of a conversation.
func LossWords(loss string) string {
	if loss == string(value.LossCut) {
		return "its file was cut"
	}
	return "its file is gone"
}

// ShortID is how an id of a session begins, as far as that tells it from others.
func ShortID(id string) string { return naming.ShortID(id) }

// Unplaced reports whether it is not known up to where a fork that an agent made is the same as what it was made of.
func Unplaced(l *api.Lineage) bool { return l != nil && l.Kind == "agent" && l.Turn == 0 }

// Relation says where a fork comes from.
func Relation(l *api.Lineage) string {
	if l == nil {
		return ""
	}
	from := ShortSession(l.Session)
	if l.Clone {
		return "clone of " + from
	}
	if Unplaced(l) {
		return "fork of " + from
	}
	return fmt.Sprintf("fork of %s at %s", from, naming.TurnWords(uint64(l.Turn), ""))
}

// IsTurn reports whether a name asks for the end of a turn.
func IsTurn(name string) bool {
	n, err := naming.Parse(name)
	return err == nil && n.IsTurn()
}

// titleMost is how much of a title is told.
const titleMost = 40

// ManagedWords say what became of a session.
func ManagedWords(m api.Managed) string {
	title := func(t api.Text) string { return `"` + term.Truncate(term.Sanitize(Words(string(t))), titleMost) + `"` }
	var parts []string
	switch {
	case m.Was == m.Now && m.Title == m.WasTitle:
		parts = append(parts, "had its session file set")
	case m.Was == m.Now:
	case m.Now == value.MainLine:
		parts = append(parts, "is the main line")
	case m.Now == value.Archived:
		parts = append(parts, "is archived")
	case m.Now == value.Deleted:
		parts = append(parts, "is deleted")
	case m.Was == value.Deleted:
		parts = append(parts, "is there again")
	case m.Was == value.Archived:
		parts = append(parts, "is listed again")
	default:
		parts = append(parts, "is no longer the main line")
	}
	switch m.Title {
	case m.WasTitle:
	case "":
		parts = append(parts, "has no title of its own any more")
	default:
		parts = append(parts, "is called "+title(m.Title))
	}
	return term.Sanitize(ShortSession(m.Session)) + " " + strings.Join(parts, ", ")
}

// ManagedList says what became of sessions, the first two of them in words: as many as a promotion changes.
func ManagedList(list []api.Managed) string {
	var parts []string
	for i, m := range list {
		if i == 2 {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		parts = append(parts, ManagedWords(m))
	}
	return strings.Join(parts, ", ")
}

// ChangeWords say what was picked or reverted, as the operation's own state says it; "": it is another operation.
func ChangeWords(op api.Operation) string {
	if op.Kind != "pick" && op.Kind != "revert" || op.To == nil {
		return ""
	}
	text, ok := strings.CutPrefix(string(op.To.Message), op.Kind+" ")
	if !ok {
		return ""
	}
	return term.Sanitize(text)
}
