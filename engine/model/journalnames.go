package model

import (
	"fmt"

	"rewind/internal/agentfiles"
	"rewind/internal/record"
	"rewind/refs"
)

// A journal may lie in a store that somebody else has prepared: what it names is checked here when it is read, by
// apply.Run when a step is carried out, and by agentfiles when a session file is set.

// checkNames refuses names that no journal of ours has, where that is not seen by a field alone. Session files are not
// among them: whether they are the person's own is known at use (Foreign), and the code of a journal that names others
// must be able to go back.
func (j *Journal) checkNames() error {
	bad := func(what, name string) error { return fmt.Errorf("%w: %s %.100q", record.ErrFormat, what, name) }
	seen := make(map[string]bool, len(j.Steps))
	for _, s := range j.Steps {
		if seen[s.Path] || s.Old == nil && s.New == nil {
			return bad("step", s.Path)
		}
		seen[s.Path] = true
	}
	for _, name := range []string{j.Session, j.Made.NameOf(), j.Moved.NameOf(), j.Goes} {
		if name != "" && refs.Session(name).Check() != nil {
			return bad("session", name)
		}
	}
	if j.Made != nil && (j.Made.Fork == nil || !Understood(j.Made.Agent)) {
		return bad("session without a lineage", j.Made.Name)
	}
	return nil
}

// IsStageName tells whether NewStageName could have made a name.
func IsStageName(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == StageNameLength
}

// Foreign refuses session files that are none of the person's, before anything is touched.
func (j *Journal) Foreign() error {
	for _, f := range j.Files {
		if err := Placed(j.Folders, f.Path); err != nil {
			return &ForeignFileError{In: "the journal", Cause: err}
		}
	}
	return nil
}

// Placed refuses a path that is no session file of the person's agents, or that cannot be reached without following a
// link. What lies there does not matter: it is compared with what is expected when it is set.
func Placed(own agentfiles.Folders, path string) error {
	f, err := own.Locate(path)
	if err != nil {
		return err
	}
	return f.Check()
}
