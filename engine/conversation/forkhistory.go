package conversation

import (
	"fmt"

	"rewind/engine/model"
	"rewind/internal/agentfiles"
	"rewind/transcript"
)

// LinkHistory gives the session file at path, which a restore made, the agent's backups of the files of the session
// that it was made of: the agent's own rewind needs them. With gone, it removes those of a session that was removed.
// They are second names of the agent's files and in no journal: without them the fork is whole. An error becomes a
// notice.
func (cs *Conversations) LinkHistory(own agentfiles.Folders, path string, gone bool) {
	s := cs.sessionAt(path)
	if s == nil || s.Fork == nil || s.Agent != transcript.Claude {
		return
	}
	of := cs.log.Session(s.Fork.Session)
	if of == nil {
		return
	}
	var err error
	if gone {
		err = own.UnlinkHistory(of.Transcript, s.Transcript)
	} else {
		_, err = own.LinkHistory(of.Transcript, s.Transcript)
	}
	if err != nil {
		cs.log.Notice(fmt.Sprintf("claude's own rewind has no files in %s: %s", s.Name, err.Error()))
	}
}

// sessionAt is the known session whose file path is; nil: none.
func (cs *Conversations) sessionAt(path string) *model.Session {
	for _, s := range cs.log.EachSession() {
		if s.Transcript == path {
			return s
		}
	}
	return nil
}
