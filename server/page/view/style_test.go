package view_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// sources are the files that match a pattern, by name.
func sources(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range patterns {
		names, _ := filepath.Glob(p)
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(name)] = string(b)
		}
		if len(names) == 0 {
			t.Fatalf("no file is %s", p)
		}
	}
	return all
}

var (
	comment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	prelude  = regexp.MustCompile(`([^{};]+)\{`)
	class    = regexp.MustCompile(`\.(-?[a-zA-Z_][\w-]*)`)
	brackets = regexp.MustCompile(`\([^()]*\)`)
)

// selectors are those of a style sheet, one by one.
func selectors(css string) (all []string) {
	for _, m := range prelude.FindAllStringSubmatch(comment.ReplaceAllString(css, ""), -1) {
		if p := strings.TrimSpace(m[1]); !strings.HasPrefix(p, "@") && !strings.HasSuffix(p, "%") {
			for _, s := range strings.Split(brackets.ReplaceAllStringFunc(p, func(in string) string {
				return strings.ReplaceAll(in, ",", " ")
			}), ",") {
				all = append(all, strings.TrimSpace(s))
			}
		}
	}
	return all
}

// Styles, templates and scripts are written to be read: lines of at most 120 columns, a declaration a line.
func TestSourcesAreFormatted(t *testing.T) {
	written := []string{
		"html/*.html", "src/*.ts", "src/pure/*.ts", "src/test/*.ts",
		"src/page.css", "src/css/*.css", "src/css/view/*.css",
	}
	for name, src := range sources(t, written...) {
		for n, line := range strings.Split(src, "\n") {
			if utf8.RuneCountInString(line) > 120 {
				t.Errorf("%s:%d has over 120 columns", name, n+1)
			}
			if strings.HasSuffix(name, ".css") && strings.Count(line, ";") > 1 {
				t.Errorf("%s:%d has two declarations", name, n+1)
			}
		}
	}
}

// A view's style is its own: each rule of src/css/view begins with a class that no other file styles but the two that
// are of the whole page. So no view changes what another one shows. Below its own classes a view may style what views
// share.
func TestAViewStylesItself(t *testing.T) {
	files := sources(t, "src/css/*.css", "src/css/view/*.css")
	entry := sources(t, "src/page.css")["src/page.css"]
	styled := map[string][]string{} // the classes of each file
	for name, css := range files {
		for _, s := range selectors(css) {
			for _, c := range class.FindAllStringSubmatch(s, -1) {
				styled[name] = append(styled[name], c[1])
			}
		}
	}
	delete(styled, "src/css/base.css")
	delete(styled, "src/css/frame.css")
	for name, css := range files {
		if !strings.HasPrefix(name, "src/css/view/") {
			continue
		}
		if !strings.Contains(entry, "./css/view/"+filepath.Base(name)) {
			t.Errorf("src/page.css does not import %s", name)
		}
		for _, s := range selectors(css) {
			own := class.FindStringSubmatch(strings.Fields(s)[0])
			if own == nil {
				t.Errorf("%s: %s begins with no class of the view", name, s)
				continue
			}
			for other, classes := range styled {
				if other != name && slices.Contains(classes, own[1]) {
					t.Errorf("%s: %s is styled in %s, too", name, own[1], other)
				}
			}
		}
	}
}

// A class that nothing has any more has no style.
func TestStylesAreUsed(t *testing.T) {
	var made strings.Builder
	for _, src := range sources(t, "html/*.html", "src/*.ts", "*.go") {
		made.WriteString(src)
	}
	seen := map[string]bool{}
	for name, css := range sources(t, "src/css/*.css", "src/css/view/*.css") {
		for _, s := range selectors(css) {
			for _, c := range class.FindAllStringSubmatch(s, -1) {
				word := regexp.MustCompile(`[^\w-]` + regexp.QuoteMeta(c[1]) + `[^\w-]`)
				if !seen[c[1]] && !strings.HasPrefix(c[1], "view-") && !word.MatchString(made.String()) {
					t.Errorf("%s: nothing has the class %s", name, c[1])
				}
				seen[c[1]] = true
			}
		}
	}
}

// What docs/page.md says of adding a view is there: its files, and in them what it names.
func TestAddingAView(t *testing.T) {
	root := "../../../"
	doc, err := os.ReadFile(root + "docs/page.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "## Adding a view")
	section, _, _ = strings.Cut(section, "\n## ")
	named, rows := regexp.MustCompile("`([^`]+)`"), 0
	for line := range strings.Lines(section) {
		var words []string
		var text strings.Builder
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			if !regexp.MustCompile(`^(server|internal)/.*\.\w+$`).MatchString(m[1]) {
				words = append(words, m[1])
				continue
			}
			b, err := os.ReadFile(root + m[1])
			if err != nil {
				t.Error(err)
			}
			text.Write(b)
		}
		if text.Len() == 0 {
			continue
		}
		rows++
		for _, word := range words {
			_, name, method := strings.Cut(word, ").")
			if !method {
				name = word
			}
			if dir, err := os.Stat(name); err == nil && dir.IsDir() || strings.HasPrefix(name, "make ") {
				continue
			}
			if !strings.Contains(text.String(), name) {
				t.Errorf("%s is in none of the files of: %.60s", word, line)
			}
		}
	}
	if rows < 9 {
		t.Errorf("%d steps", rows)
	}
}
