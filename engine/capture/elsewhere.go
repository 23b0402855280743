package capture

import (
	"path/filepath"
	"slices"
	"strings"

	"rewind/engine/project"
	"rewind/tree"
)

// elsewhere lists the directories of other projects that may have files which the event's call names: projects nested
// in this one, as its captures found them, and the directories of files outside.
func (in *batch) elsewhere(a *Pending, c *Capture) (dirs []string) {
	root := in.wt.log.Project.Root
	for _, path := range a.inside {
		if dir := nestedAbove(c.Res.Skips, path); dir != "" {
			dirs = append(dirs, filepath.Join(root, filepath.FromSlash(dir)))
		}
	}
	for _, path := range a.outside {
		dirs = append(dirs, filepath.Dir(path))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// nestedAbove is the directory of the innermost nested project that has path, by the markers that a capture skipped;
// "": none.
func nestedAbove(skips []tree.Skip, path string) (dir string) {
	for _, s := range skips {
		if s.Reason != tree.ReasonBuiltin {
			continue
		}
		above, ok := strings.CutSuffix(s.Path, "/"+project.MarkerDir)
		if ok && strings.HasPrefix(path, above+"/") && len(above) > len(dir) {
			dir = above
		}
	}
	return dir
}
