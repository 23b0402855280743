package find

import (
	"slices"

	"rewind/engine/oplog"
	"rewind/internal/gitinfo"
)

// committed gives the lines of a first checkpoint that the commit had at which the user's git stood then the commits
// that brought them. It gives now without them.
func (b *blame) committed(log *oplog.Log, h hop, is []byte, now []int) ([]int, error) {
	cp, err := log.Checkpoint(b.steps[h.at].id)
	if err != nil || cp.Git.Commit == "" || cp.Merged > 0 {
		return now, err
	}
	then, err := b.git.FileAt(cp.Git.Commit, h.path, maxContent)
	if err != nil {
		return now, nil //nolint:nilerr // nobody knows more of them, then
	}
	older := b.match(then, is, now).over(slices.Clone(now))
	lines, err := b.git.BlameAt(cp.Git.Commit, h.path, rangesOf(older), b.anySpace)
	if err != nil {
		return now, nil //nolint:nilerr // as above
	}
	type file struct {
		commit *gitinfo.Commit
		path   string
	}
	known, settled := map[file]int{}, map[int]bool{}
	for i, w := range older {
		l, ok := lines[i+1]
		if w < 0 || !ok {
			continue
		}
		from := file{l.Commit, l.Path}
		o, there := known[from]
		if !there {
			o = len(b.origins)
			known[from] = o
			b.origins = append(b.origins, origin{step: h.at, path: l.Path, prior: none, commit: l.Commit})
		}
		b.want[w], settled[w] = want{origin: o, at: l.Line - 1}, true
		b.left--
	}
	left := slices.Clone(now)
	for i, w := range left {
		if settled[w] {
			left[i] = none
		}
	}
	return left, nil
}

// maxRanges is how many stretches of lines git is asked about: each is a word on its command line.
const maxRanges = 1000

// rangesOf are the lines that are asked for, by first and last, from 1; what lies between them, too, if they are many.
func rangesOf(asked []int) (list [][2]int) {
	for i, w := range asked {
		switch n := len(list); {
		case w < 0:
		case n > 0 && list[n-1][1] == i:
			list[n-1][1] = i + 1
		default:
			list = append(list, [2]int{i + 1, i + 1})
		}
	}
	if n := len(list); n > maxRanges {
		return [][2]int{{list[0][0], list[n-1][1]}}
	}
	return list
}
