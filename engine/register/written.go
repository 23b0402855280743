package register

import (
	"os"
	"path/filepath"
	"time"

	"rewind/hooks"
	"rewind/internal/value"
	"rewind/transcript"
)

// maxWritten bounds the session files that are opened to see whose they are.
const maxWritten = 8

// SessionFile is a session file of an agent as it stands.
type SessionFile struct {
	Path    string
	Session string // the agent's id
	At      time.Time
	Size    int64
}

// Written are the session files that an agent has written for a project after a moment, the newest first. What cannot
// be read is none: it is told where conversations are.
func Written(agent hooks.Agent, env value.AgentEnv, root string, since time.Time) []SessionFile {
	folder := Folders(env)(agent)
	if folder == "" {
		return nil
	}
	files, err := transcript.Recent(agent, os.DirFS(folder), root, since, maxWritten)
	if err != nil {
		return nil
	}
	var out []SessionFile
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if _, id, err := transcript.SessionFile(agent, path); err == nil {
			out = append(out, SessionFile{path, id, f.At, f.Size})
		}
	}
	return out
}
