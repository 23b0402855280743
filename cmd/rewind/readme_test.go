package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the session that README.md begins with: every command of its first console block, in a project of
// two files, must exit with 0 and print what the block says, but for ids, times, sizes, the place of the project and hints.
func TestReadme(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../README.md")
	must(t, err)
	_, block, ok := strings.Cut(string(b), "\n```console\n")
	if !ok {
		t.Fatal("README.md has no console block")
	}
	block, _, ok = strings.Cut(block, "\n```")
	if !ok {
		t.Fatal("the console block of README.md has no end")
	}
	// One shell runs them all, so that cd and variables last; it prints each command before it runs it.
	var script strings.Builder
	commands := 0
	for line := range strings.Lines(block + "\n") {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands++
			script.WriteString("cat <<'REWIND-README'\n" + line + "REWIND-README\n" + command)
		}
	}
	if commands == 0 {
		t.Fatal("the console block of README.md has no line that begins with \"$ \"")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "home/you/project")
	write(t, project, map[string]string{"src/main.go": "package main\n\nfunc main() {}\n", "notes.txt": "look at the parser\n"})
	cmd := exec.Command("bash", "-eu", "-o", "pipefail", "-c", script.String())
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "HOME="+home, "REWIND_HOME=", "PAGER=cat", "TERM=dumb")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := plain(strings.ReplaceAll(string(out), dir, ""))
	if d := difference(plain(block), got); d != "" {
		t.Errorf("the session of README.md is not what happens (-README +now):\n%s\nwhole:\n%s", d, out)
	}
}

// varying is what differs from one run of a session to the next, with a word for it.
var varying = []struct {
	what *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`(?m)^rewind: hint: .*\n?`), ""},
	{regexp.MustCompile(`\S*/\.rewind/storage/\S+`), "STORE"},
	{regexp.MustCompile(`\S*/project\b`), "PROJECT"},
	{regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z|\b[0-9]+[smhd] ago|\bjust now|\bnow\b`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{7,}\b`), "ID"},
	{regexp.MustCompile(`\b[0-9.]+ [KM]?i?B\b`), "SIZE"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// plain puts words in the place of what varies.
func plain(s string) string {
	for _, v := range varying {
		s = v.what.ReplaceAllString(s, v.word)
	}
	return strings.TrimSpace(s)
}
