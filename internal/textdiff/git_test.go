package textdiff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip("missing tool: " + name)
	}
}

// randomPair makes an old text and an edited one: insertions, deletions,
// replacements and moved blocks, with and without a line feed at the end.
func randomPair(r *rand.Rand) (old, new []byte) {
	kinds := 2 + r.IntN(40)
	line := func() string {
		switch n := r.IntN(kinds); n {
		case 0:
			return ""
		case 1:
			return "\\ No newline at end of file"
		case 2:
			return "--- a/x"
		case 3:
			return "+++ b/x"
		case 4:
			return "@@ -1 +1 @@"
		case 5:
			return "caf\xe9\r"
		default:
			return strings.Repeat("\t", n%3) + fmt.Sprint("line ", n)
		}
	}
	lines := make([]string, r.IntN(60))
	for i := range lines {
		lines[i] = line()
	}
	edited := append([]string(nil), lines...)
	for range r.IntN(8) {
		at := r.IntN(len(edited) + 1)
		end := min(len(edited), at+r.IntN(5))
		switch r.IntN(4) {
		case 0:
			edited = append(edited[:at:at], append([]string{line(), line()}, edited[at:]...)...)
		case 1:
			edited = append(edited[:at:at], edited[end:]...)
		case 2:
			for i := at; i < end; i++ {
				edited[i] = line()
			}
		case 3:
			block := append([]string(nil), edited[at:end]...)
			edited = append(edited[:at:at], edited[end:]...)
			to := r.IntN(len(edited) + 1)
			edited = append(edited[:to:to], append(block, edited[to:]...)...)
		}
	}
	join := func(lines []string) []byte {
		text := strings.Join(lines, "\n")
		if len(lines) > 0 && r.IntN(3) > 0 {
			text += "\n"
		}
		return []byte(text)
	}
	return join(lines), join(edited)
}

// TestPatchToolsAccept lets git apply, and patch, turn 300 old texts into the
// new ones, all in one run of each.
func TestPatchToolsAccept(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	want := map[string][]byte{}
	olds := map[string][]byte{}
	var diffs bytes.Buffer
	changed := 0
	for i := range 300 {
		name := fmt.Sprintf("f %03d", i) // a space: the hard case of names
		old, new := randomPair(r)
		olds[name], want[name] = old, new
		before, after := Header{"a/" + name}, Header{"b/" + name}
		if len(old) == 0 || len(new) == 0 {
			continue // a patch takes these for created and removed files
		}
		hunks := Diff(old, new, 3).Hunks
		if len(hunks) > 0 {
			changed++
			fmt.Fprintf(&diffs, "diff --git %s %s\n", before.Name, after.Name)
		}
		if err := Unified(&diffs, before, after, hunks); err != nil {
			t.Fatal(err)
		}
	}
	if changed < 200 {
		t.Fatalf("only %d texts differ", changed)
	}
	for _, tool := range [][]string{
		{"git", "apply", "--whitespace=nowarn", "-"},
		{"patch", "-p1", "-s", "--binary", "-F0", "-N"},
	} {
		t.Run(tool[0], func(t *testing.T) {
			needTool(t, tool[0])
			dir := t.TempDir()
			for name, old := range olds {
				if err := os.WriteFile(filepath.Join(dir, name), old, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(tool[0], tool[1:]...)
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(diffs.Bytes())
			cmd.Env = gitEnv(dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for name, new := range want {
				if len(olds[name]) == 0 || len(new) == 0 {
					continue
				}
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, new) {
					t.Errorf("%s: %q, want %q", name, got, new)
				}
			}
		})
	}
}

// gitEnv keeps git from looking at anything but dir.
func gitEnv(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
}

// TestNoMoreEditsThanGit compares the number of edited lines with git's on texts
// shaped like real edits. Git's default is a heuristic, so fewer is fine.
func TestNoMoreEditsThanGit(t *testing.T) {
	needTool(t, "git")
	for _, c := range realCases() {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, b := range map[string][]byte{"old": c.old, "new": c.new} {
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("git", "diff", "--no-index", "--numstat", "old", "new")
			cmd.Dir, cmd.Env = dir, gitEnv(dir)
			out, _ := cmd.Output() // exits 1 when the files differ
			var gitAdded, gitRemoved int
			if _, err := fmt.Sscan(string(out), &gitAdded, &gitRemoved); err != nil {
				t.Fatalf("%q: %v", out, err)
			}
			added, removed := Stat(Diff(c.old, c.new, 3).Hunks)
			t.Logf("+%d -%d, git +%d -%d", added, removed, gitAdded, gitRemoved)
			if ours, git := added+removed, gitAdded+gitRemoved; ours*10 > git*11 {
				t.Errorf("%d edited lines, git %d", ours, git)
			}
			if added-removed != gitAdded-gitRemoved {
				t.Errorf("balance %d, git %d", added-removed, gitAdded-gitRemoved)
			}
		})
	}
}

type realCase struct {
	name     string
	old, new []byte
}

// realCases are edits of the sources of this package and of generated programs.
func realCases() []realCase {
	source, err := os.ReadFile("diff.go")
	if err != nil {
		panic(err)
	}
	lines := strings.SplitAfter(string(source), "\n")
	half := len(lines) / 2
	var cases []realCase
	add := func(name, old, new string) { cases = append(cases, realCase{name, []byte(old), []byte(new)}) }
	all := string(source)
	add("rename a variable", all, strings.ReplaceAll(all, "hunks", "places"))
	add("indent the second half", all, strings.Join(lines[:half], "")+strings.ReplaceAll(strings.Join(lines[half:], ""), "\n\t", "\n\t\t"))
	add("swap the halves", all, strings.Join(lines[half:], "")+strings.Join(lines[:half], ""))
	add("drop every third line", all, dropEvery(lines, 3))
	add("new line ends", all, strings.ReplaceAll(all, "\n", "\r\n"))
	add("new file", "", all)
	add("another file", all, program(60, 0))
	add("function added", program(400, 0), strings.Replace(program(400, 0), "func f200", "func added() {\n\treturn\n}\n\nfunc f200", 1))
	add("functions moved", program(400, 0), strings.Replace(program(400, 0), "func f10()", "", 1)+"func f10()\n")
	add("functions in reverse", program(60, 0), program(60, 1))
	add("functions shuffled", program(800, 0), program(800, 2))
	add("large, edited all over", program(4000, 0), strings.ReplaceAll(program(4000, 0), "7)", "7+1)"))
	return cases
}

func dropEvery(lines []string, n int) string {
	var b strings.Builder
	for i, l := range lines {
		if i%n != 0 {
			b.WriteString(l)
		}
	}
	return b.String()
}

// program makes n small functions; order 1 is reversed, 2 swaps neighbours.
func program(n, order int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf("func f%d() {\n\tif x {\n\t\tcall(%d)\n\t}\n\treturn\n}\n\n", i, i)
	}
	out := make([]string, n)
	for i := range out {
		switch order {
		case 1:
			out[i] = parts[n-1-i]
		case 2:
			out[i] = parts[min(i^1, n-1)]
		default:
			out[i] = parts[i]
		}
	}
	return strings.Join(out, "")
}
