package layertest

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// maxDesign is the size of DESIGN.md in bytes: it is a map, and what is longer than that nobody reads before the first
// change.
const maxDesign = 50 << 10

func TestDesignIsAMap(t *testing.T) {
	if n := len(documents(t, root(t))["DESIGN.md"]); n > maxDesign {
		t.Errorf("DESIGN.md has %d bytes, at most %d: what is in full belongs to docs/", n, maxDesign)
	}
}

// tracked are the files that a clone has, by path.
func tracked(t *testing.T, dir string) map[string]bool {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	files := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		files[name] = true
	}
	return files
}

// TestDocumentsNameWhatExists: every path that a document names is in a clone, every section that it links to is there.
func TestDocumentsNameWhatExists(t *testing.T) {
	dir := root(t)
	docs, files := documents(t, dir), tracked(t, dir)
	seen := 0
	for name, text := range docs {
		n, bad := checkDocument(name, text, docs, files)
		seen += n
		report(t, bad)
	}
	if seen < 200 {
		t.Errorf("the documents name only %d paths", seen)
	}
}

// notOurs are paths that a document names and that are somebody else's, or made by a program of ours.
var notOurs = map[string]string{
	"hooks/hooks.json":         "Droid's",
	"docs/notes.txt":           "of the project in the session that docs/tour.md shows",
	"src/tidy.go":              "of the same project",
	"src/main.go":              "of the same project",
	"docs/numbers.txt":         "of the project in the picture of the picker in docs/tour.md",
	"src/parser/lexer.go":      "of the same project",
	"src/parser/lexer_test.go": "of the same project",
}

var (
	linkRE    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeRE    = regexp.MustCompile("`[^`]+`|(?m:^    .*$)")
	pathRE    = regexp.MustCompile(`(?:^|[\s"'=(:` + "`" + `])\.?/?([A-Za-z0-9_.*-]+(?:/[A-Za-z0-9_.*-]+)+/?|[A-Za-z0-9_*-]+\.go)`)
	citeRE    = regexp.MustCompile(`\b((?:docs/[\w/-]+|bench/README|DESIGN|README)\.md)(?:#([\w-]+))?`)
	commentRE = regexp.MustCompile(`//.*`)
	numbers   = regexp.MustCompile(`\bDESIGN(?:\.md)?,? (?:section )?\d`)
)

// checkDocument gives how many paths a document names, and what is wrong with them.
func checkDocument(name, text string, docs map[string]string, files map[string]bool) (seen int, bad []string) {
	for _, m := range linkRE.FindAllStringSubmatch(text, -1) {
		target, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, "://") {
			continue
		}
		seen++
		to := name
		if target != "" {
			to = path.Join(path.Dir(name), target)
		}
		switch {
		case !exists(files, to):
			bad = append(bad, name+": links to "+to+", which is not in git")
		case anchor != "" && !slices.Contains(anchors(docs[to]), anchor):
			bad = append(bad, name+": links to "+to+"#"+anchor+", a section that is not there")
		}
	}
	for _, code := range codeRE.FindAllString(text, -1) {
		for _, m := range pathRE.FindAllStringSubmatch(strings.Trim(code, "`"), -1) {
			named := path.Clean(strings.TrimRight(m[1], "."))
			if top, _, _ := strings.Cut(named, "/"); notOurs[named] != "" || named[0] == '*' ||
				strings.Contains(named, "/") &&
					!strings.HasSuffix(named, ".go") && !exists(files, top) {
				continue
			}
			seen++
			if !exists(files, named) {
				bad = append(bad, name+": names "+named+", which is not in git")
			}
		}
	}
	return seen, bad
}

// exists reports whether a path is a file, or a directory of files; a name of a Go file alone may be in any directory.
// Stars match as in a shell.
func exists(files map[string]bool, named string) bool {
	named = strings.TrimSuffix(named, "/")
	if files[named] || named == "." {
		return true
	}
	alone := !strings.Contains(named, "/") && strings.HasSuffix(named, ".go")
	for f := range files {
		if strings.HasPrefix(f, named+"/") || alone && matches(named, path.Base(f)) || strings.Contains(named, "*") &&
			matches(named, f) {
			return true
		}
	}
	return false
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// anchors are the names by which a document's headings are linked to.
func anchors(text string) []string {
	var list []string
	inCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
		}
		heading := strings.TrimLeft(line, "#")
		if inCode || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		list = append(list, b.String())
	}
	return list
}

// TestCodeCitesWhatExists: comments in the code, scripts and the Makefile name documents and sections that are there,
// and none by a number.
func TestCodeCitesWhatExists(t *testing.T) {
	dir := root(t)
	docs, files := documents(t, dir), tracked(t, dir)
	cited := 0
	for f := range files {
		if ext := filepath.Ext(f); ext != ".go" && ext != ".txtar" && f != "Makefile" && f != ".ci/run" ||
			strings.HasPrefix(f, "internal/layertest/") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f)))
		if err != nil {
			continue // removed and not committed yet
		}
		text := string(b)
		if filepath.Ext(f) == ".go" { // a test may have a path of that form
			text = strings.Join(commentRE.FindAllString(text, -1), "\n")
		}
		for _, m := range numbers.FindAllString(text, -1) {
			t.Errorf("%s: %q: sections have names", f, m)
		}
		for _, m := range citeRE.FindAllStringSubmatch(text, -1) {
			cited++
			if doc, there := docs[m[1]]; !there {
				t.Errorf("%s: names %s, which does not exist", f, m[1])
			} else if m[2] != "" && !slices.Contains(anchors(doc), m[2]) {
				t.Errorf("%s: names %s#%s, a section that is not there", f, m[1], m[2])
			}
		}
	}
	if cited < 30 {
		t.Errorf("the code names only %d documents", cited)
	}
}

// TestDecisions: each decision has its question, what was decided, what was measured and what lost; numbers follow each
// other, and the list has all.
func TestDecisions(t *testing.T) {
	docs := documents(t, root(t))
	const dir = "docs/decisions/"
	var names []string
	for name := range docs {
		if strings.HasPrefix(name, dir) && name != dir+"README.md" {
			names = append(names, strings.TrimPrefix(name, dir))
		}
	}
	slices.Sort(names)
	if len(names) < 100 {
		t.Fatalf("only %d decisions", len(names))
	}
	for i, name := range names {
		text := docs[dir+name]
		if n, err := strconv.Atoi(name[:3]); err != nil || n != i+1 ||
			!strings.HasPrefix(text, "# "+strconv.Itoa(n)+". ") {
			t.Errorf("%s: its number is not %d in name and heading", name, i+1)
		}
		at := 0
		for _, part := range []string{"Question", "Decided", "Measured", "Lost"} {
			next := strings.Index(text, "\n**"+part+".** ")
			if next < at {
				t.Errorf("%s: no %s, or not in its place", name, part)
			}
			at = max(at, next)
		}
		if !strings.Contains(docs[dir+"README.md"], "]("+name+")") {
			t.Errorf("%s: not in the list", name)
		}
	}
}

// TestDependenciesAreListed holds the table of docs/dependencies.md against what go.mod requires directly.
func TestDependenciesAreListed(t *testing.T) {
	dir := root(t)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	table, _, _ := strings.Cut(documents(t, dir)["docs/dependencies.md"], "What is our own")
	for _, m := range regexp.MustCompile(`(?m)^\| ([\w./-]+\.[\w./-]+) \|`).FindAllStringSubmatch(table, -1) {
		listed[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:require)?\s+([\w./-]+) v\S+(.*)$`).FindAllStringSubmatch(string(mod), -1) {
		if strings.Contains(m[2], "// indirect") {
			continue
		}
		if !listed[m[1]] {
			t.Errorf("docs/dependencies.md does not say what %s is needed for", m[1])
		}
		delete(listed, m[1])
	}
	for module := range listed {
		t.Errorf("docs/dependencies.md has %s, which go.mod does not require", module)
	}
}

// TestReadmeBeginsWithWhatItIsFor: before README.md says how to install it says what else there is, where the program
// runs, what it does on the network, and how to remove it; and it is one screen.
func TestReadmeBeginsWithWhatItIsFor(t *testing.T) {
	whole := documents(t, root(t))["README.md"]
	if lines := strings.Count(whole, "\n"); lines > 55 {
		t.Errorf("README.md has %d lines; what is more goes to docs/", lines)
	}
	first, _, _ := strings.Cut(whole, "## Install")
	for _, word := range []string{
		"git stash", "jj", "own rewind", "Linux", "macOS", "Windows", "daemon", "network",
		"rewind uninstall",
	} {
		if !strings.Contains(first, word) {
			t.Errorf("README.md does not speak of %s before it says how to install", word)
		}
	}
}

// TestTwoCommands: README.md says with two commands how everything is set up and how the tests run, and CI calls the
// second.
func TestTwoCommands(t *testing.T) {
	dir := root(t)
	_, install, _ := strings.Cut(documents(t, dir)["README.md"], "\n## Install\n")
	install, _, _ = strings.Cut(install, "\n## ")
	var commands []string
	for line := range strings.Lines(install) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	if want := []string{"make install PROJECT=<dir>", "make test"}; !slices.Equal(commands, want) {
		t.Errorf("README.md sets up with %q, want %q", commands, want)
	}
	ci, err := os.ReadFile(filepath.Join(dir, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^make (-s )?test\b`).Match(ci) {
		t.Error(".ci/run does not call make test")
	}
	makefile, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"install", "uninstall", "test"} {
		if !strings.Contains(string(makefile), "\n"+target+": ") {
			t.Errorf("the Makefile cannot make %s", target)
		}
	}
}

func TestCheckDocument(t *testing.T) {
	docs := map[string]string{"DESIGN.md": "# Top\n## The house, `now`\n```\n# no heading\n```\n", "docs/a.md": ""}
	files := map[string]bool{
		"DESIGN.md": true, "docs/a.md": true, "engine/gc.go": true, "engine/gcplan.go": true,
		"bench/results/gc.json": true,
	}
	for _, c := range []struct {
		name, text string
		seen, bad  int
	}{
		{"docs/a.md", "[x](../DESIGN.md) [y](../DESIGN.md#the-house-now) [z](https://example.com/x.md)", 2, 0},
		{"docs/a.md", "[x](DESIGN.md)", 1, 1},
		{"docs/a.md", "[x](../DESIGN.md#no-heading)", 1, 1},
		{"DESIGN.md", "[x](#top) [y](#elsewhere) [d](docs)", 3, 1},
		{"DESIGN.md", "`engine/gc*.go`, `engine/gc.go`, `gcplan.go`, `engine`, `engine/`, `./engine/gc.go`", 4, 0},
		{"DESIGN.md", "`engine/none.go` and `none.go`, `bench/results/torture.jsonl`", 3, 3},
		{"DESIGN.md", "    go run ./bench/gc -json bench/results/gc.json\n", 2, 1},
		{"DESIGN.md", "`egine/gc.go`", 1, 1},
		{"DESIGN.md", "engine/none.go in prose, `<root>/projects/x.json`, `db/extent`, `hooks/hooks.json`", 0, 0},
	} {
		seen, bad := checkDocument(c.name, c.text, docs, files)
		if seen != c.seen || len(bad) != c.bad {
			t.Errorf("%q: %d seen, %q; want %d and %d", c.text, seen, bad, c.seen, c.bad)
		}
	}
}
