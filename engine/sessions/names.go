package sessions

import (
	"io/fs"
	"os"

	"rewind/engine/model"
	"rewind/transcript"
)

// FileMissing reports whether a session's file is not there.
func FileMissing(s *model.Session) bool {
	_, err := StatSession(s)
	return err != nil
}

// StatSession looks for a session's own file. A path that is none of a session file is not looked at: it stands in a payload, or in a store
// that may be somebody else's.
func StatSession(s *model.Session) (fs.FileInfo, error) {
	if _, _, err := transcript.SessionFile(s.Agent, s.Transcript); err != nil {
		return nil, err
	}
	return os.Stat(s.Transcript)
}
