package ignore

import (
	"os/exec"
	"strings"
	"testing"

	"rewind/internal/ignoretest"
)

// rulesOfGit is gitignore(5), sentence by sentence: rules, paths that are ignored, and paths that are not. A path that
// ends with a slash is a directory.
var rulesOfGit = []struct {
	says, rules  string
	ignored, not []string
	fold         bool
}{
	{says: "a blank line matches no files", rules: "\n\n \na\n", ignored: []string{"a"}, not: []string{" ", "b"}},
	{
		says: "a line starting with # serves as a comment", rules: "#a\nb#\n #c\n", ignored: []string{"b#", " #c"},
		not: []string{"a", "#a"},
	},
	{
		says: "a backslash in front of the first hash", rules: "\\#a\n", ignored: []string{"#a"},
		not: []string{"a", "\\#a"},
	},
	{says: "trailing spaces are ignored", rules: "a  \n", ignored: []string{"a"}, not: []string{"a  "}},
	{
		says: "unless they are quoted with backslash", rules: "a\\ \nb\\  \nc \\ \n",
		ignored: []string{"a ", "b ", "c  "},
		not:     []string{"a", "b", "b  ", "c", "c "},
	},
	{
		says: "a backslash that is quoted quotes no space", rules: "a\\\\ \n", ignored: []string{"a\\"},
		not: []string{"a\\ "},
	},
	{says: "tabs are not spaces", rules: "a\t\n", ignored: []string{"a\t"}, not: []string{"a"}},
	{says: "leading spaces count", rules: " a\n", ignored: []string{" a"}, not: []string{"a"}},
	{
		says: "one carriage return before the line feed goes", rules: "a\r\nb\r\r\nc\r",
		ignored: []string{"a", "b\r", "c"},
		not:     []string{"a\r", "b", "c\r"},
	},
	{
		says: "an empty line with a carriage return says nothing", rules: "\r\na\r\n", ignored: []string{"a"},
		not: []string{"\r"},
	},
	{
		says: "a byte order mark at the start is no part of the line", rules: "\xef\xbb\xbfa\n\xef\xbb\xbfb\n",
		ignored: []string{"a", "\xef\xbb\xbfb"}, not: []string{"b"},
	},
	{says: "a comment may follow it", rules: "\xef\xbb\xbf#a\nb", ignored: []string{"b"}, not: []string{"#a"}},
	{says: "a line ends at a NUL", rules: "a\x00b\n\x00c\nd", ignored: []string{"a", "d"}, not: []string{"b", "c"}},
	{
		says: "! negates, the last matching pattern decides", rules: "*.o\n!x.o\n", ignored: []string{"a.o", "d/a.o"},
		not: []string{"x.o", "d/x.o"},
	},
	{says: "order counts", rules: "!x.o\n*.o\n", ignored: []string{"x.o"}},
	{
		says: "no re-inclusion below an ignored directory", rules: "d/\n!d/keep\n!keep\n",
		ignored: []string{"d/keep", "d/"},
		not:     []string{"keep"},
	},
	{
		says: "but below one whose content is ignored", rules: "d/*\n!d/keep\n", ignored: []string{"d/x", "d/s/keep"},
		not: []string{"d/keep", "d/"},
	},
	{
		says: "everything but one", rules: "/*\n!/foo\n/foo/*\n!/foo/bar\n",
		ignored: []string{"a", "foo/x", "b/foo/bar"},
		not:     []string{"foo/", "foo/bar", "foo/bar/x"},
	},
	{says: "a backslash in front of the first !", rules: "\\!a\n", ignored: []string{"!a"}, not: []string{"a"}},
	{says: "only the first ! negates", rules: "*\n!!a\n", ignored: []string{"a"}, not: []string{"!a"}},
	{says: "! and nothing", rules: "a\n!\n!/\n", ignored: []string{"a"}},
	{says: "a slash at the beginning anchors", rules: "/a\n", ignored: []string{"a", "a/x"}, not: []string{"d/a"}},
	{
		says: "a slash in the middle anchors", rules: "d/a\n", ignored: []string{"d/a", "d/a/x"},
		not: []string{"e/d/a", "a"},
	},
	{
		says: "a slash at the end does not anchor, but wants a directory", rules: "a/\n",
		ignored: []string{"a/", "d/a/", "a/x", "d/a/x/y"},
		not:     []string{"d/e/a"},
	},
	{says: "both", rules: "/a/\n", ignored: []string{"a/", "a/b"}, not: []string{"d/a/", "d/a/b"}},
	{says: "no slash: at any level", rules: "a\n", ignored: []string{"a", "d/a", "d/e/a"}, not: []string{"ab", "ba"}},
	{says: "a slash alone matches nothing", rules: "/\n//\n///\n", not: []string{"a", "a/"}},
	{says: "two slashes at the end match nothing", rules: "a//\n", not: []string{"a/", "a/x"}},
	{says: "dots are no paths", rules: "./a\n../a\nd/./b\n.\n..\n", not: []string{"a", "d/b"}},
	{
		says: "* matches anything but a slash", rules: "a*c\nd/*.o\n",
		ignored: []string{"ac", "abc", "x/abbc", "d/.o", "d/a.o"},
		not:     []string{"a/c", "d/e/a.o", "x/d/a.o"},
	},
	{says: "* matches a leading dot", rules: "*a\n?b\n", ignored: []string{".a", ".b"}},
	{
		says: "stars come back", rules: "*a*b*c\n", ignored: []string{"abc", "xaaxbbxccc", "aabbcc"},
		not: []string{"acb", "abcx", "ab"},
	},
	{
		says: "? matches one byte but a slash", rules: "a?c\nd?e\n", ignored: []string{"abc", "a?c"},
		not: []string{"ac", "abbc", "d/e", "aéc"},
	},
	{
		says: "leading **/ : in all directories", rules: "**/a\n", ignored: []string{"a", "d/a", "d/e/a"},
		not: []string{"da"},
	},
	{
		says: "**/ with a path", rules: "**/d/a\n", ignored: []string{"d/a", "x/d/a", "d/d/a"},
		not: []string{"d/x/a", "xd/a"},
	},
	{
		says: "trailing /** : everything inside", rules: "d/**\n", ignored: []string{"d/a", "d/e/a", "d/e/"},
		not: []string{"d/", "x/d/a"},
	},
	{
		says: "/**/ : zero or more directories", rules: "a/**/b\n",
		ignored: []string{"a/b", "a/x/b", "a/x/y/b", "a/x/b/c"},
		not:     []string{"ab", "x/a/b", "a/xb"},
	},
	{
		says: "several of them", rules: "a/**/b/**/c\n", ignored: []string{"a/b/c", "a/x/b/y/z/c", "a/b/b/c/c"},
		not: []string{"a/c", "a/c/b"},
	},
	{
		says: "other stars are one star", rules: "/a**c\nd/**e\n", ignored: []string{"ac", "abc", "d/e", "d/xe"},
		not: []string{"a/c", "d/x/e"},
	},
	{says: "three stars between slashes are two", rules: "a/***/b\n", ignored: []string{"a/b", "a/x/y/b"}},
	{says: "** alone, and with slashes", rules: "**/\n", ignored: []string{"a/", "a/b"}, not: []string{"c"}},
	{says: "/** takes all", rules: "/**\n!/a\n", ignored: []string{"b", "d/"}, not: []string{"a"}},
	{
		says: "an escaped slash after ** wants a directory", rules: "**\\/a\n", ignored: []string{"d/a", "d/e/a"},
		not: []string{"a"},
	},
	{
		says: "[...] matches one byte of it", rules: "[abc]\nx[a-c]\n", ignored: []string{"a", "b", "xc"},
		not: []string{"d", "xd", "ab", "[abc]"},
	},
	{
		says: "[!x] and [^x] match any other", rules: "a[!b]\nc[^d]\n", ignored: []string{"aa", "a!", "cc", "c^"},
		not: []string{"ab", "cd", "a", "a/b"},
	},
	{
		says: "] first is a member", rules: "a[]x]\nb[!]x]\n", ignored: []string{"a]", "ax", "by"},
		not: []string{"ay", "b]", "bx"},
	},
	{
		says: "a hyphen at the ends is a member", rules: "a[-x]\nb[x-]\n", ignored: []string{"a-", "ax", "b-"},
		not: []string{"ay"},
	},
	{
		says: "a range backwards has its first byte only", rules: "[c-a]\n", ignored: []string{"c"},
		not: []string{"a", "b", "-"},
	},
	{
		says: "a backslash in a class", rules: "a[\\]]\nb[\\a-c]\nc[a\\-c]\n",
		ignored: []string{"a]", "bb", "c-", "ca"},
		not:     []string{"a\\", "cb"},
	},
	{
		says: "POSIX classes", rules: "a[[:digit:]]\nb[![:alpha:]]\nc[[:space:]x]\nd[[:xdigit:][:punct:]]\n",
		ignored: []string{"a1", "b1", "c\t", "cx", "df", "dF", "d~"}, not: []string{"aa", "bb", "c\v", "dg"},
	},
	{says: "they are ASCII", rules: "[[:alpha:]]\n", ignored: []string{"a"}, not: []string{"\xe9", "é"}},
	{
		says: "an unknown one makes the pattern invalid", rules: "[[:foo:]]\n[[:foo:]a]\nb\n", ignored: []string{"b"},
		not: []string{"f", "a"},
	},
	{says: "without its end it is a set", rules: "[[:a]\n", ignored: []string{"[", ":", "a"}, not: []string{"b"}},
	{says: "no class matches a slash", rules: "a[/]b\nc[!x]d\n", not: []string{"a/b", "c/d"}},
	{
		says: "a class that does not end matches nothing", rules: "[a\na[\nb\n[]\n[!]\n", ignored: []string{"b"},
		not: []string{"a", "[a", "a[", "[]"},
	},
	{says: "a slash in a class anchors", rules: "[a/]\n", ignored: []string{"a"}, not: []string{"d/a"}},
	{
		says: "a backslash takes the next byte as it is", rules: "\\a\n\\*b\nc\\?\n\\[d]\n\\\\e\n",
		ignored: []string{"a", "*b", "c?", "[d]", "\\e"}, not: []string{"xb", "cx", "d"},
	},
	{says: "at the end it matches nothing", rules: "a\\\nb\\/\n", not: []string{"a", "a\\", "b/", "b\\/"}},
	{says: "names are bytes", rules: "\xff*\né?\n", ignored: []string{"\xff\xfe", "éx"}, not: []string{"é"}},
	{says: "case counts", rules: "Foo\n*.O\n", ignored: []string{"Foo", "a.O"}, not: []string{"foo", "a.o"}},
	{
		says: "unless core.ignoreCase is set", fold: true, rules: "Foo\n*.O\nd/B*\n[A-C]x\ny[[:upper:]]\n",
		ignored: []string{"foo", "FOO", "a.o", "D/bar", "bX", "Yz"}, not: []string{"dx"},
	},
	{
		says: "then a lone or escaped capital matches nothing", fold: true, rules: "a[X]\nb\\X\n",
		not: []string{"aX", "ax", "bX", "bx"},
	},
	{says: "case is folded in ASCII only", fold: true, rules: "É\n", ignored: []string{"É"}, not: []string{"é"}},
	{
		says: "stars within a name after a literal are one star", rules: "/foo**/bar\n",
		ignored: []string{"foo/bar", "foox/bar"},
		not:     []string{"foobar", "foo/x/bar"},
	},
}

func TestRules(t *testing.T) {
	for _, c := range rulesOfGit {
		d := New(Options{FoldCase: c.fold}).WithFiles(File{Path: ".gitignore", Data: []byte(c.rules)}, File{})
		own := New(Options{FoldCase: c.fold}).WithFiles(File{}, File{Path: ".rewindignore", Data: []byte(c.rules)})
		for i, list := range [][]string{c.ignored, c.not} {
			for _, p := range list {
				path, dir := strings.CutSuffix(p, "/")
				for _, d := range []*Dir{d, own} {
					if got, by := d.matchPath(path, dir); got != (i == 0) {
						t.Errorf("%s: rules %q, path %q: ignored %v by %+v", c.says, c.rules, p, got, by)
					}
				}
			}
		}
	}
}

// TestRulesAreGits asks git for the same table.
func TestRulesAreGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	version, err := exec.Command("git", "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	var sum tally
	for _, fold := range []bool{false, true} {
		r := &ignoretest.Repo{Fold: fold}
		for _, c := range rulesOfGit {
			if c.fold != fold || ignoretest.Avoid(string(version), c.rules) != c.rules {
				continue
			}
			s := ignoretest.Set{Files: map[string]string{"": c.rules}}
			for _, p := range append(append([]string{}, c.ignored...), c.not...) {
				path, dir := strings.CutSuffix(p, "/")
				s.Paths = append(s.Paths, path)
				if dir {
					s.Dirs = append(s.Dirs, path)
				}
			}
			r.Sets = append(r.Sets, s)
		}
		compare(t, r, "table", &sum)
	}
	if sum.Sets < len(rulesOfGit)-2 { // those that avoid is about
		t.Errorf("%d sets compared of %d", sum.Sets, len(rulesOfGit))
	}
}

func TestPrecedence(t *testing.T) {
	root := New(Options{}, File{"built-in", []byte("n\nq\n")}, File{"excludes", []byte("!n\na\nb\nc\nd\n")},
		File{"info", []byte("!a\n")})
	top := root.WithFiles(File{".gitignore", []byte("!b\n/sub/e\n")},
		File{".rewindignore", []byte("x\n!c\n/sub/deep/y\n")})
	sub := top.Child("sub").WithFiles(File{"sub/.gitignore", []byte("b\n!x\nc\n!e\n")}, File{})
	deep := sub.Child("deep").WithFiles(File{"deep/.gitignore", []byte("!y\n")},
		File{"deep/.rewindignore", []byte("!x\n")})
	for _, c := range []struct {
		in      *Dir
		name    string
		ignored bool
		by      string
	}{
		{root, "q", true, "built-in"},
		{root, "n", false, "excludes"},
		{root, "a", false, "info"},
		{root, "b", true, "excludes"},
		{root, "z", false, ""},
		{top, "b", false, ".gitignore"},
		{top, "c", false, ".rewindignore"},
		{top, "x", true, ".rewindignore"},
		{top, "d", true, "excludes"},
		{top, "e", false, ""},
		{sub, "b", true, "sub/.gitignore"},
		{sub, "c", false, ".rewindignore"},
		{sub, "x", true, ".rewindignore"},
		{sub, "e", false, "sub/.gitignore"},
		{sub, "q", true, "built-in"},
		{top.Child("sub"), "e", true, ".gitignore"},
		{top.Child("other"), "e", false, ""},
		{top.Child("sub").Child("sub"), "e", false, ""},
		{deep, "x", false, "deep/.rewindignore"},
		{deep, "y", true, ".rewindignore"},
		{deep, "b", true, "sub/.gitignore"},
	} {
		got, by := c.in.Match(c.name, false)
		file := ""
		if by != nil {
			file = by.File
		}
		if got != c.ignored || file != c.by {
			t.Errorf("%q in %q: %v by %q; want %v by %q", c.name, c.in.path, got, file, c.ignored, c.by)
		}
		if by.Builtin() != (c.by == BuiltinPath) {
			t.Errorf("%q: built-in %v", c.name, by.Builtin())
		}
	}
}

func TestRule(t *testing.T) {
	_, by := New(Options{}).WithFiles(File{"f", []byte("# c\n\n!a/b*/  \n")}, File{}).Child("a").Match("bb", true)
	if by == nil || *by != (Rule{"f", 3, "!a/b*/"}) {
		t.Errorf("got %+v", by)
	}
}
