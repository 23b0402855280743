package transcript

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

var errEnough = errors.New("enough")

// BaseOf is the part of a conversation that stands in another file, as the first record says; nil: there is none.
func BaseOf(agent Agent, src Source) (*Base, error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return nil, err
	}
	var base *Base
	err = d.lines(src, 0, newLine(maxText, false), func(l *line) error {
		base = l.Base
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return base, err
}

// CodexFiles lists the session files of a thread of Codex, those of segments too, as paths in root, Codex's folder. The newest name comes first.
func CodexFiles(root fs.FS, thread string) ([]string, error) {
	if !ValidID(thread) {
		return nil, &Error{Name: thread, Cause: errors.New("no id of a session")}
	}
	var out []string
	for _, pattern := range []string{"sessions/*/*/*/rollout-*", "archived_sessions/rollout-*"} {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			return nil, &Error{Name: pattern, Cause: err}
		}
		for i := len(names) - 1; i >= 0; i-- {
			name := strings.TrimSuffix(path.Base(names[i]), ".jsonl")
			if strings.HasSuffix(name, "-"+thread) || strings.Contains(name, "-"+thread+"_") {
				out = append(out, names[i])
			}
		}
	}
	return out, nil
}
