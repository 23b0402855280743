package sessions

import (
	"io/fs"
	"os"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/transcript"
)

// Whose says what a session is called beside the number of a turn: "" where the project has no other one.
func (ss *Sessions) Whose() func(session string) string {
	if !ss.several() {
		return func(string) string { return "" }
	}
	return naming.Whose
}

// several reports whether the project has more than one session, without forks that nobody has opened: who goes back
// alone has one. Two records tell; what cannot be read tells nothing.
func (ss *Sessions) several() bool {
	n := 0
	_ = ss.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, v []byte) error {
		if s, err := model.DecodeSession(string(k[1:]), v); err == nil && s.LaneOf == "" && !IsUnused(s) {
			n++
		}
		if n > 1 {
			return kv.ErrStop
		}
		return nil
	})
	return n > 1
}

// FileMissing reports whether a session's file does not exist, or cannot be looked at.
func FileMissing(s *model.Session) bool {
	_, err := StatSession(s)
	return err != nil
}

// StatSession is lstat of a session's own file. A path that has not the shape of a session file is refused: it comes
// from a payload, or from a store that may be somebody else's.
func StatSession(s *model.Session) (fs.FileInfo, error) {
	if _, _, err := transcript.SessionFile(s.Agent, s.Transcript); err != nil {
		return nil, err
	}
	return os.Stat(s.Transcript)
}
