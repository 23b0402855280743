package refs

import (
	"slices"
	"strings"
	"unicode"
)

// maxFilePath bounds the path of a session file, in bytes.
const maxFilePath = 8192

// IsPath reports whether a path is one inside the project: relative, and written in one way only. Git's directory and
// rewind's own are paths, too.
func IsPath(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		special := part == "" || part == "."
		if special || part == ".." || strings.IndexByte(part, 0) >= 0 {
			return false
		}
	}
	return true
}

// isFilePath reports whether a session file can have such a path, on any system. Whose it is, and whether it may be
// touched, is asked where it is used.
func isFilePath(p string) bool {
	parts := strings.Split(p, "/")
	fits := p != "" && len(p) <= maxFilePath
	dots := slices.Contains(parts, ".") || slices.Contains(parts, "..")
	return fits && !dots && !strings.ContainsFunc(p, unicode.IsControl)
}
