package history

import (
	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/internal/value"
	"rewind/transcript"
)

// commitsThen adds the user's commit to fork points without captured code: the commit at the time of the last common
// message, as well as it is known, and how it is known. The log's lock is not held: a git that does not answer is
// waited for, and hooks are not to.
func (h *talkReader) commitsThen(points []model.Lineage) {
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
func (h *talkReader) written(l *model.Lineage) (w transcript.Written) {
	s, err := h.log.StoredSession(l.Session)
	if err != nil || s == nil || s.Cursor.Transcript.IsZero() {
		return w
	}
	src, _, err := h.Source(s, s.Cursor.Transcript)
	if err != nil {
		return w
	}
	w, _ = transcript.WhenWritten(s.Agent, src, l.Message) // else nothing is known of it
	return w
}

func commitAt(repo *gitinfo.Repo, w transcript.Written) (commit, branch string, by value.GitBy) {
	if w.Time.IsZero() {
		return "", "", value.GitUnknown
	}
	if commit, err := repo.HeadAt(w.Time); err == nil && commit != "" {
		return commit, w.Branch, value.GitByHeadLog
	}
	if w.Branch != "" {
		if commit, err := repo.CommitBefore(w.Branch, w.Time); err == nil && commit != "" {
			return commit, w.Branch, value.GitByBranch
		}
	}
	return "", "", value.GitUnknown
}
