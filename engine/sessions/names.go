package sessions

import (
	"io/fs"
	"os"

	"rewind/engine/model"
	"rewind/transcript"
)

// FileMissing reports whether a session's file does not exist.
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
