package worktreefs

import (
	"strings"
	"testing"
)

// dotGits are spellings of .git that some file system takes for it.
var dotGits = []string{
	".git", ".Git", ".gIt", ".giT", ".GIT", ".GiT",
	".git.", ".git..", ".git...", ".git ", ".git  ", ".git. ", ".git .", ".git . .", ".GIT. ", ".git .. ",
	"git~1", "GIT~1", "Git~1", "gIT~1", "git~1.", "git~1 ", "git~1. ", "git~2", "git~10",
	".git::$INDEX_ALLOCATION", ".git:$I30:$INDEX_ALLOCATION", ".GIT::$index_allocation", ".git ::$INDEX_ALLOCATION",
	".git:", ".git.:",
	".git:x",
	"git~1::$INDEX_ALLOCATION", "git~1:x",
	".git\\", ".git\\config", "a\\.git", "a\\.git\\hooks", ".git.\\config", "git~1\\config", "\\.git", ".GIT \\x",
	"a\\git~1",
	"\u200c.git", ".\u200cgit", ".g\u200dit", ".gi\u200et", ".git\u200f", ".g\u202ait", ".g\u202bit", ".g\u202cit",
	".g\u202dit",
	".g\u202eit",
	".g\u206ait", ".g\u206bit", ".g\u206cit", ".g\u206dit", ".g\u206eit", ".g\u206fit", "\ufeff.git", ".git\ufeff",
	".G\u200cI\ufeffT",
	"\u200c\u200d.git", ".git\u200c.", ".git\u200c ", "g\u200cit~1",
	".g\u00adit", ".g\u034fit", ".gi\u200bt", ".git\ufe0f", ".g\u2060it", ".git\U000e0001", ".g\u180eit", ".g\u061cit",
}

// honest are names that only look like it.
var honest = []string{
	"git", ".gitignore", ".gitmodules", ".gitattributes", ".github", ".gitkeep", ".git2", ".git-old", ".git_", "git~",
	"git~a", "git~1a",
	"x.git", "repo.git",
	"..git", ". git", ".g it", ".git x", ".gi", ".gitt", "~git", "a.git\\x", ".git\xff", "\xff.git", ".g\u00edt",
	".g\u0131t", ".GI", "GIT",
	"...", ". ",
}

func TestT12Promise10DotGit(t *testing.T) {
	if len(dotGits) < 40 {
		t.Fatalf("only %d spellings", len(dotGits))
	}
	for _, n := range dotGits {
		if !IsDotGit(n) {
			t.Errorf("%q is taken for an honest name", n)
		}
	}
	for _, n := range honest {
		if IsDotGit(n) {
			t.Errorf("%q is taken for .git", n)
		}
	}
}

func TestSameName(t *testing.T) {
	for i, c := range []struct {
		a, b string
		same bool
	}{
		{".agent", ".AGENT", true},
		{".agent", ".agent.", true},
		{".agent", ".a\u200cgent", true},
		{".agent", "agent", false},
		{
			"a\xff",
			"A\xff", true,
		},
		{"é", "É", true},
	} {
		if SameName(c.a, c.b) != c.same {
			t.Errorf("%d: %q and %q", i, c.a, c.b)
		}
	}
}

func FuzzIsDotGit(f *testing.F) {
	for _, n := range append(dotGits, honest...) {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n string) {
		if IsDotGit(n) != IsDotGit(n+" ") && IsDotGit(n) {
			t.Errorf("%q is, with a space it is not", n)
		}
	})
}

// TestPromise17OnTheWay holds which paths of an index can have brought something into the marker.
func TestPromise17OnTheWay(t *testing.T) {
	for path, want := range map[string]bool{
		".agent/rewind/id":              true,
		".agent/rewind/store/db/x":      true,
		".agent/rewind":                 true, // a link, a file, a submodule
		".agent":                        true,
		".agent/":                       true, // what a sparse index holds as a whole
		".Agent/Rewind/id":              true, // one name where case is folded
		".agent/rewind./id":             true,
		".agent\u200c/rewind/id":        true,
		".agent/notes":                  false,
		".agent/rewinder/id":            false,
		"a/.agent/rewind/id":            false,
		".agents/rewind/id":             false,
		"sub/dir/.agent/rewind/id":      false,
		strings.Repeat("x/", 100) + "y": false,
	} {
		if got := OnTheWay([]byte(path), []string{".agent", "rewind"}); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if !OnTheWay([]byte("sub/.agent/rewind/id"), []string{"sub", ".agent", "rewind"}) {
		t.Error("a project below the top of its repository")
	}
}
