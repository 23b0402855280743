package engine

import (
	"path/filepath"

	"rewind/internal/value"
)

// PlaceEdits names the sessions of files that agents edited. For files outside of this project it names the project
// that has them, if one is set up there.
func (e *Engine) PlaceEdits(list []value.Uncaptured) []value.Uncaptured {
	var roots map[string]bool
	whose := e.Sessions.Whose()
	for i := range list {
		list[i].Whose = whose(list[i].Session)
		if list[i].Reason != value.ReasonOutside {
			continue
		}
		if roots == nil {
			roots = map[string]bool{}
			for root := range e.Log.Home.ByRoot() {
				roots[root] = true
			}
		}
		for dir := filepath.Dir(string(list[i].Path)); ; dir = filepath.Dir(dir) {
			if roots[dir] {
				list[i].Project = value.Text(dir)
			}
			if roots[dir] || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return list
}
