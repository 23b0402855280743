package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the session that docs/tour.md begins with: every command of its first console block, in a project of
// two files, must exit with 0 and print what the block says, but for ids, times, sizes, the place of the project and
// hints.
func TestReadme(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/tour.md")
	must(t, err)
	_, block, ok := strings.Cut(string(b), "\n```console\n")
	if !ok {
		t.Fatal("docs/tour.md has no console block")
	}
	block, _, ok = strings.Cut(block, "\n```")
	if !ok {
		t.Fatal("the console block of docs/tour.md has no end")
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
		t.Fatal("the console block of docs/tour.md has no line that begins with \"$ \"")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	home, project := filepath.Join(dir, "home/you"), filepath.Join(dir, "home/you/project")
	layOutProject(t, project)
	layOutAgent(t, home)
	cmd := exec.Command("bash", "-eu", "-o", "pipefail", "-c", script.String())
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"), "REWIND_HOME=", "PAGER=cat",
		"TERM=dumb")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := plain(strings.ReplaceAll(string(out), dir, ""))
	if d := difference(plain(block), got); d != "" {
		t.Errorf("the session of docs/tour.md is not what happens (-README +now):\n%s\nwhole:\n%s", d, out)
	}
}

// layOutProject makes the project of the session.
func layOutProject(t *testing.T, dir string) {
	t.Helper()
	write(t, dir, map[string]string{
		"src/main.go":  "package main\n\nfunc main() {}\n",
		"src/old/data": strings.Repeat("kept for a reason\n", 9), "docs/notes.txt": "look at the parser\n", "notes.txt": "todo\n",
	})
}

// layOutAgent installs what hooks call as make install does, and a stand-in for an agent that has been started before:
// it does two turns of work and, like the real one, runs the commands that are registered in its settings around each
// tool call.
func layOutAgent(t *testing.T, home string) {
	t.Helper()
	system := filepath.Join(home, ".rewind/system")
	must(t, os.MkdirAll(system, 0o700))
	from, err := releasedPrograms()
	must(t, err)
	for _, program := range []string{"rewind", "rewindd", "smart-checkpoint"} {
		must(t, os.Link(filepath.Join(from, program), filepath.Join(system, program)))
	}
	write(t, home, map[string]string{"bin/claude": agentScript, ".claude.json": "{}"})
	must(t, os.Chmod(filepath.Join(home, "bin/claude"), 0o755))
}

const agentScript = `#!/bin/bash
set -eu
umask 077
id=5f1c0d2e-7a44-4c1b-9d55-0a1b2c3d4e5f
file=~/.claude/projects/$(printf %s "$PWD" | tr -c A-Za-z0-9 -)/$id.jsonl
mkdir -p "${file%/*}"
touch "$file"
n=$(wc -l <"$file")
uuid() { printf '"c1a0de00-0000-4000-8000-%012d"' $1; }
say() { # role, content
	parent=null
	[ $n = 0 ] || parent=$(uuid $n)
	n=$((n + 1))
	printf '{"parentUuid":%s,"isSidechain":false,"type":"%s","message":{"role":"%s","content":%s},"uuid":%s,"timestamp":"%s","userType":"external","entrypoint":"cli","cwd":"%s","sessionId":"%s","version":"2.1.328"}\n' \
		"$parent" $1 $1 "$2" "$(uuid $n)" "$(date -u +%FT%TZ)" "$PWD" $id >>"$file"
}
hook() { # event, fields
	command=$(sed -n "s/^ *\"command\": \"\(.* $1 --agent claude\)\",*$/\1/p" ~/.claude/settings.json)
	printf '{"session_id":"%s","transcript_path":"%s","cwd":"%s",%s}' $id "$file" "$PWD" "$2" | sh -c "$command --deadline 60000"
}
tool() { # call, command
	hook pre-tool-use '"tool_name":"Bash","tool_use_id":"'$1'"'
	bash -c "$2"
	hook post-tool-use '"tool_name":"Bash","tool_use_id":"'$1'"'
}
hook session-start '"source":"startup"'
hook prompt '"prompt":"'"${@: -1}"'"'
say user '"'"${@: -1}"'"'
if [ "$1" = -c ]; then
	tool b 'rm -rf src/old docs; echo "func tidy() {}" > src/tidy.go; seq 100 > src/table'
	done='the tree is tidy now.'
else
	tool a 'seq -f "// faster %g" 20 >> src/main.go'
	done='the parser is four times faster.'
fi
say assistant '[{"type":"text","text":"Done: '"$done"'"}]'
echo "Done: $done"
hook stop '"stop_hook_active":false'
`

// varying is what differs from one run of a session to the next, with a word for it.
var varying = []struct {
	what *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`(?m)^rewind: hint: .*\n?`), ""},
	{regexp.MustCompile(`\S*/\.rewind/storage/\S+`), "STORE"},
	{regexp.MustCompile(`\S*/\.claude/projects/\S+`), "SESSION"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "ID"},
	{regexp.MustCompile(`\S*/project\b`), "PROJECT"},
	{regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z|\b[0-9]+[smhd] ago|\b[0-9]{2}:[0-9]{2}\b|\bjust now|\bnow\b`), "TIME"},
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
