package transcript

import (
	"encoding/binary"
	"errors"
	"hash"
	"hash/fnv"
)

// A conversation that was made of another one begins as that does, whatever made it: an agent's fork, its copy on resume, a tool that gives
// every record a new id. So the first prompt tells who may be kin: said at the same millisecond, in the same words.

// errRoot ends a reading at the first prompt.
var errRoot = errors.New("the first prompt")

// RootOf is a number for the first prompt of a conversation, the same for all that begin with it, on every machine; 0: it has none yet, or
// its agent does not say when it was. Only what stands before it is read.
func RootOf(agent Agent, src Source) (root uint64, err error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return 0, err
	}
	err = d.lines(src, 0, newLine(maxText, false), func(l *line) error {
		if l.Kind != Prompt || l.Side || l.Hidden {
			return nil
		}
		root = lasting(l)
		return errRoot
	})
	if err != nil && !errors.Is(err, errRoot) {
		return 0, err
	}
	return root, nil
}

// lasting is a number for what stays of a message when it is copied under another id: of the model's its own id and its calls, of a result
// the calls that it answers, of a prompt when it was said and what. 0: nothing does. A copy may give the last message another time
// (Claude's SDK does), so that the model's are known without it.
func lasting(l *line) uint64 {
	h := fnv.New64a()
	switch {
	case l.Kind == Reply && (l.Message != "" || len(l.Calls) > 0):
		word(h, "reply")
		word(h, l.Message)
		for _, c := range l.Calls {
			word(h, c.ID)
		}
		word(h, l.Text)
	case l.Kind == Result && len(l.Results) > 0:
		word(h, "result")
		for _, id := range l.Results {
			word(h, id)
		}
	case l.Time.IsZero():
		return 0
	default:
		word(h, "said")
		_ = binary.Write(h, binary.LittleEndian, l.Time.UnixMilli())
		word(h, l.Text)
	}
	return h.Sum64()
}

// word adds a string, so that no two lists of strings are the same bytes.
func word(h hash.Hash, s string) {
	_ = binary.Write(h, binary.LittleEndian, uint64(len(s)))
	_, _ = h.Write([]byte(s))
}
