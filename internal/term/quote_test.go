package term

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{"plain/path.go", "plain/path.go"},
		{"with space", "with space"},
		{"naïve/漢字.txt", "naïve/漢字.txt"},
		{"a\nb", `"a\nb"`},
		{"tab\tbell\a\b\v\f\r", `"tab\tbell\a\b\v\f\r"`},
		{`quote".txt`, `"quote\".txt"`},
		{`back\slash`, `"back\\slash"`},
		{"esc\x1b[31m", `"esc\033[31m"`},
		{"del\x7f", `"del\177"`},
		{"\xff\xfe", `"\377\376"`},
		{"caf\xe9/naïve", `"caf\351/naïve"`},
		{"x\u202ecod.exe", `"x\342\200\256cod.exe"`},
		{"a\u200bb", `"a\342\200\213b"`},
		{"👨‍👩‍👧", "👨‍👩‍👧"},
	} {
		if got := Quote(c.in); got != c.want {
			t.Errorf("Quote(%q) = %s, want %s", c.in, got, c.want)
		}
		if back, err := unquote(c.want); err != nil || back != c.in {
			t.Errorf("%s is read as %q, %v", c.want, back, err)
		}
	}
}

// unquote reads what Quote wrote, as git does.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	s = s[1:]
	var b strings.Builder
	for s != `"` {
		if s == "" {
			return "", errors.New("no closing quote")
		}
		if s[0] != '\\' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if len(s) < 2 {
			return "", errors.New("a lone backslash")
		}
		if k := strings.IndexByte(`abtnvfr"\`, s[1]); k >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r\"\\"[k])
			s = s[2:]
			continue
		}
		if len(s) < 4 || s[1] < '0' || s[1] > '3' {
			return "", errors.New("not an octal escape: " + s)
		}
		b.WriteByte((s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0'))
		s = s[4:]
	}
	return b.String(), nil
}

func TestQuoteIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := hostile().Draw(t, "path")
		back, err := unquote(Quote(path))
		if err != nil || back != path {
			t.Fatalf("%q quoted %q is read as %q, %v", path, Quote(path), back, err)
		}
	})
}

// TestQuoteAsGit compares with git itself on paths whose runes are harmless or
// ASCII; git leaves other invisible runes as they are, which is not safe to print.
func TestQuoteAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	paths := []string{
		"plain", "with space", "naïve", "漢字", "a\nb", "tab\there", `q"uote`, `back\slash`, "esc\x1b[m",
		"bell\a\b\v\f\r", "del\x7f", "\x01\x02", "dir with\nline/file", "émoji 👩",
	}
	dir := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) []byte {
		cmd := exec.Command("git", append([]string{"-c", "core.quotePath=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return out
	}
	git("init", "-q")
	quoted := map[string]bool{}
	for line := range bytes.Lines(git("ls-files", "--others")) {
		quoted[string(bytes.TrimSuffix(line, []byte("\n")))] = true
	}
	if len(quoted) != len(paths) {
		t.Fatalf("git lists %d of %d paths", len(quoted), len(paths))
	}
	for _, p := range paths {
		if !quoted[Quote(p)] {
			t.Errorf("Quote(%q) = %s is not how git prints it", p, Quote(p))
		}
	}
}
