package ignore

import "strings"

// A copy of a secret file is as secret as the file. Editors and people leave copies under the name with something put
// to it, so such a name is asked without what was put to it first: ".env~" as ".env", and ".env.example~", which a
// pattern for ".env.*" would take, as ".env.example".

// maxCopies is how often something is taken off a name: a copy of a copy of a copy.
const maxCopies = 3

// copySuffixes are what backups, editors and packagers put behind a name; lower case, one that ends with another before
// it.
var copySuffixes = []string{
	"~", ".bak", "_bak", "-bak", ".backup", "_backup", "-backup", ".orig", ".dpkg-old", ".old", "_old", "-old", ".save", ".saved", ".tmp",
	".rej", ".copy", "_copy", "-copy", " - copy", " copy", " (copy)",
	".dpkg-new", ".dpkg-dist", ".rpmsave", ".rpmnew", ".rpmorig", "___jb_tmp___", "___jb_old___",
}

// hiddenSuffixes are those of files that an editor hides behind a dot: vim, nano and kate.
var hiddenSuffixes = []string{".swp", ".swo", ".swn", ".swx", ".un~", ".kate-swp"}

// original takes off what makes a name that of a copy; ok is false for any other.
func original(name string) (of string, ok bool) {
	if len(name) < 2 || !copyEnds[name[len(name)-1]] && name[:2] != ".#" {
		return "", false // nearly every name
	}
	if strings.HasPrefix(name, ".#") { // emacs, while it has unsaved changes
		return name[2:], len(name) > 2
	}
	if name[0] == '#' && name[len(name)-1] == '#' {
		return name[1 : len(name)-1], len(name) > 2
	}
	if name[0] == '.' {
		for _, s := range hiddenSuffixes {
			if of, ok := trimSuffixFold(name[1:], s); ok {
				return of, true
			}
		}
	}
	if of, ok := numbered(name); ok {
		return of, true
	}
	for _, s := range copySuffixes {
		if of, ok := trimSuffixFold(name, s); ok {
			return of, true
		}
	}
	return "", false
}

// copyEnds has what the names of copies end with, in either case.
var copyEnds = func() (ends [256]bool) {
	ends['#'] = true
	for _, s := range append(hiddenSuffixes, copySuffixes...) {
		ends[s[len(s)-1]], ends[lower(s[len(s)-1])&^0x20] = true, true
	}
	return ends
}()

// numbered takes off an emacs version: "name.~12~".
func numbered(name string) (string, bool) {
	if name[len(name)-1] != '~' {
		return "", false
	}
	i := len(name) - 1
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	short := i == len(name)-1 || i < 3
	if short || name[i-1] != '~' || name[i-2] != '.' {
		return "", false
	}
	return name[:i-2], true
}

// trimSuffixFold takes a suffix in lower case off a name that has more than it.
func trimSuffixFold(name, suffix string) (string, bool) {
	n := len(name) - len(suffix)
	if n <= 0 || !same(suffix, name[n:], true) {
		return "", false
	}
	return name[:n], true
}
