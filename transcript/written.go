package transcript

import (
	"encoding/json"
	"errors"
	"time"
)

// Written is when a record was written, and where its agent says that the user's git repository stood.
type Written struct {
	Time   time.Time
	Branch string // "": it does not say
}

const (
	maxWritten = 1 << 20 // bytes of a record that is looked into for its branch
	maxBranch  = 250     // bytes of a name: git keeps a branch in a file
)

// WhenWritten finds the record of a message; an error where it is not there.
func WhenWritten(agent Agent, src Source, message string) (w Written, err error) {
	found := errors.New("found")
	err = Read(agent, src, 0, func(r *Record) error {
		if r.ID != message || message == "" {
			return nil
		}
		w.Time = r.Time
		var said struct {
			Branch string `json:"gitBranch"` // Claude Code, on every record
		}
		raw := make([]byte, min(r.Size, maxWritten))
		if n, err := src.ReadAt(raw, r.Offset); err == nil || int64(n) == r.Size {
			_ = json.Unmarshal(raw[:n], &said) // what is cut short or no JSON says nothing
		}
		if len(said.Branch) <= maxBranch && said.Branch != "HEAD" { // that is what it says where there is none
			w.Branch = said.Branch
		}
		return found
	})
	switch {
	case errors.Is(err, found):
		return w, nil
	case err == nil:
		err = errNoMessage
	}
	return w, err
}

// errNoMessage says that the conversation has no message of that id.
var errNoMessage = errors.New("no such message")
