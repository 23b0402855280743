package worktreefs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsDotGit tells whether a name is, on some file system, the same as ".git". It is git's own list (is_ntfs_dotgit,
// is_hfs_dotgit), and wider where that costs no honest name: every code point that a case-folding file system may
// ignore counts as absent. It is the same on every system, for a tree travels.
func IsDotGit(name string) bool {
	// On NTFS a backslash separates, so each part is a name of its own.
	for len(name) > 0 {
		part, rest, _ := strings.Cut(name, `\`)
		if isDotGitPart(part) {
			return true
		}
		name = rest
	}
	return false
}

func isDotGitPart(part string) bool {
	f := fold(part)
	switch {
	case strings.HasPrefix(f, ".git"):
		f = f[len(".git"):]
	case strings.HasPrefix(f, "git~"): // the 8.3 name; ~1 nearly always, but any number can be it
		f = f[len("git~"):]
		n := 0
		for n < len(f) && f[n] >= '0' && f[n] <= '9' {
			n++
		}
		if n == 0 {
			return false
		}
		f = f[n:]
	default:
		return false
	}
	f, _, _ = strings.Cut(f, ":") // an alternate stream of the directory
	return strings.Trim(f, ". ") == ""
}

// SameName tells whether two names may mean one entry on a file system that folds case and ignores code points. It does
// not compose or decompose.
func SameName(a, b string) bool {
	return strings.TrimRight(fold(a), ". ") == strings.TrimRight(fold(b), ". ")
}

// OnTheWay reports whether a path of git's index lies below the directory with these components, or is it, or is one
// above it that is no plain directory. Names that a file system may take for one are one.
func OnTheWay(path []byte, parts []string) bool {
	rest := strings.TrimSuffix(string(path), "/")
	for _, part := range parts {
		name, tail, more := strings.Cut(rest, "/")
		if !SameName(name, part) {
			return false
		}
		if !more {
			return true
		}
		rest = tail
	}
	return true
}

// fold drops ignorable code points and lower-cases. Bytes that are not UTF-8 stay as they are.
func fold(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			b.WriteByte(s[i])
		case ignorable(r):
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		i += n
	}
	return b.String()
}

// ignorable: Unicode's Default_Ignorable_Code_Point, which holds HFS+'s list and what a folding ext4 or f2fs drops.
func ignorable(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfff8, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// checkName refuses what is not one component.
func checkName(name string) error {
	special := name == "" || name == "." || name == ".."
	if special || strings.IndexByte(name, '/') >= 0 || strings.IndexByte(name, 0) >= 0 {
		return ErrBadName
	}
	return nil
}

// checkWrite refuses what must not be written.
func checkWrite(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if IsDotGit(name) {
		return errDotGit
	}
	return nil
}
