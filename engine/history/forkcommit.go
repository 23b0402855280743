package history

import (
	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/transcript"
)

// How the commit of a fork point of which no code was captured was found.
const (
	byHeadLog = "reflog" // HEAD's log says where it stood then
	byBranch  = "branch" // the newest one of then of the branch that the record names
	unknown   = "unknown"
)

// commitsThen adds to fork points of which no code was captured the commit that the user's repository stood on when the
// last message was written that both have: the best that is known, and how. The log's lock is held.
func (h *History) commitsThen(points []model.Lineage) {
	top, ok, err := gitinfo.Toplevel(h.log.Project.Root)
	if err != nil || !ok {
		return
	}
	repo, err := gitinfo.Open(top)
	if err != nil {
		return
	}
	for i := range points {
		if l := &points[i]; l.Checkpoint == "" && l.Commit == "" {
			l.Commit, l.Branch, l.GitBy = commitAt(repo, h.written(l))
		}
	}
}

// written is when the last message of a fork point was written, and on which branch.
func (h *History) written(l *model.Lineage) (w transcript.Written) {
	s := h.log.Records[l.Session]
	if s == nil || s.Cursor.Transcript.IsZero() {
		return w
	}
	src, _, err := h.Source(s, s.Cursor.Transcript)
	if err != nil {
		return w
	}
	w, _ = transcript.WhenWritten(s.Agent, src, l.Message) // else nothing is known of it
	return w
}

func commitAt(repo *gitinfo.Repo, w transcript.Written) (commit, branch, by string) {
	if w.Time.IsZero() {
		return "", w.Branch, unknown
	}
	if commit, err := repo.HeadAt(w.Time); err == nil && commit != "" {
		return commit, w.Branch, byHeadLog
	}
	if w.Branch != "" {
		if commit, err := repo.CommitBefore(w.Branch, w.Time); err == nil && commit != "" {
			return commit, w.Branch, byBranch
		}
	}
	return "", w.Branch, unknown
}
