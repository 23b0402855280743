package manage

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/value"
)

// held counts the forks that a project has, with the bytes of their session files; what is archived or gone is none of
// them.
func (m *Manager) held() (n int, bytes int64) {
	for _, s := range m.log.EachSession() {
		if s.Fork == nil || s.LaneOf != "" || s.Standing == value.Archived {
			continue
		}
		if fi, err := sessions.StatSession(s); err == nil {
			n, bytes = n+1, bytes+fi.Size()
		}
	}
	return n, bytes
}

// MayFork fails with a *model.ForkLimitError where a project has as many forks as its settings allow.
func (m *Manager) MayFork() error {
	most, size := m.log.Config.MaxForks()
	if most <= 0 && size <= 0 {
		return nil
	}
	switch n, bytes := m.held(); {
	case most > 0 && n >= most:
		return &model.ForkLimitError{Setting: "forks.max_number", Forks: n, Bytes: bytes}
	case size > 0 && bytes >= size:
		return &model.ForkLimitError{Setting: "forks.max_size", Forks: n, Bytes: bytes}
	}
	return nil
}

// Many says that a project has more forks than forks.warn_number or forks.warn_size, and what helps; "": it has not.
func (m *Manager) Many() string {
	most, size := m.log.Config.WarnForks()
	if most <= 0 && size <= 0 {
		return ""
	}
	setting, limit := "", ""
	n, bytes := m.held()
	switch {
	case most > 0 && n > most:
		setting, limit = "forks.warn_number", fmt.Sprint(most)
	case size > 0 && bytes > size:
		setting, limit = "forks.warn_size", humanize.IBytes(uint64(size))
	default:
		return ""
	}
	return fmt.Sprintf("%s, more than %s (%s): 'rewind forks prune --unused' deletes those that nobody has used",
		model.ForksHeld(n, bytes), setting, limit)
}
