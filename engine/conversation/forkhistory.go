package conversation

import (
	"fmt"

	"rewind/engine/model"
	"rewind/internal/agentfiles"
	"rewind/transcript"
)

// LinkHistory gives a session that was made of another the agent's own backups of files, which its own rewind needs, and takes those of a
// session that went away. They are second names of what the agent has: they stand in no journal, and when they are not there the fork is
// whole all the same. What goes wrong is a notice.
func (cs *Conversations) LinkHistory(own agentfiles.Folders, path string, gone bool) {
	s := cs.sessionAt(path)
	if s == nil || s.Fork == nil || s.Agent != transcript.Claude {
		return
	}
	of := cs.log.Records[s.Fork.Session]
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

// sessionAt is the session whose file a path is; nil: it is none that is known.
func (cs *Conversations) sessionAt(path string) *model.Session {
	for _, s := range cs.log.Records {
		if s.Transcript == path {
			return s
		}
	}
	return nil
}
