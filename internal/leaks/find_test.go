package leaks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/internal/value"
)

// Tokens are made when the tests run, so that nothing in this repository looks like one.
func made(n int, from string) string {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	var b strings.Builder
	for range n {
		b.WriteByte(from[r.IntN(len(from))])
	}
	return b.String()
}

const (
	alnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	small = "abcdefghijklmnopqrstuvwxyz0123456789"
	base  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hexa  = "0123456789abcdef"
)

func github() string { return "gh" + "p_" + made(36, alnum) }
func aws() string    { return "AK" + "IA" + made(16, base) }
func npm() string    { return "np" + "m_" + made(36, small) }
func key() string {
	return "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + made(64, alnum) + "\n" + made(64,
		alnum) + "\n-----END OPENSSH " + "PRIVATE KEY-----\n"
}

func found(t *testing.T, s *Scanner, path, content string) string {
	t.Helper()
	list, err := s.Find(context.Background(), path, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s:%d", f.Rule, f.Line))
	}
	return strings.Join(out, " ")
}

func TestFind(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	far := strings.Repeat("func f() { return 1 }\n", 4000)
	for _, c := range []struct{ path, content, want string }{
		{"prod.env", "A=1\n\nAPI_KEY=" + made(32, hexa) + "\n", "generic-api-key:3"},
		{".envrc", "export GITHUB_TOKEN=" + github() + "\n", "github-pat:1"},
		{".npmrc", "registry=x\n//r/:_authToken=" + npm() + "\n", "npm-access-token:2"},
		{"deploy_key", key(), "private-key:1"},
		{
			"local.settings.json", "{\n \"Values\": {\n  \"ClientSecret\": \"" + made(40, alnum) + "\"\n }\n}\n",
			"generic-api-key:3",
		},
		{"auth.json", "{\"github-oauth\": {\"x\": \"" + github() + "\"}}", "github-pat:1"},
		{"secrets.yaml", "a: 1\naws:\n  id: " + aws() + "\n", "aws-access-token:3"},
		{"a.go", far + "var k = \"" + github() + "\"\n" + far, "github-pat:4001"},
		{"two", "x " + github() + "\nid: " + aws() + "\n", "github-pat:1 aws-access-token:2"},
		{"windows.env", "A=1\r\nAPI_KEY=" + made(32, hexa) + "\r\n", "generic-api-key:2"},
		{"bad utf8", "\xff\xfe\x80 " + github() + "\xff\n", "github-pat:1"},
		{
			"one long line", strings.Repeat("x=1;", 50_000) + " " + github() + " " + strings.Repeat("y=2;", 50_000),
			"github-pat:1",
		},

		{"allowed", "t = \"" + github() + "\" # gitleaks:allow\n", ""},
		{"go.sum", "x " + github() + "\n", ""},
		{"sub/package-lock.json", "x " + github() + "\n", ""},
		{"x.env", "API_KEY=${API_KEY}\nTOKEN=changeme\nPASSWORD=\n", ""},
		{"x.env", "API_KEY=your_api_key_here\n", ""},
		{"main.go", "package main\n\nfunc key() string { return os.Getenv(\"API_KEY\") }\n", ""},
		{"binary", "\x00\x01" + github(), ""},
		{"empty", "", ""},
		{"large", github() + strings.Repeat("\n", MaxSize), ""},
	} {
		if got := found(t, s, c.path, c.content); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}

// TestFindIsTheWhole compares asking near keywords with asking everywhere.
func TestFindIsTheWhole(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	lines := []string{
		"", "a", "func f() {", "x := 1 // the key of it", "token: string", "# api", "\"secret\",",
		strings.Repeat("word ", 40),
	}
	for range 200 {
		var b strings.Builder
		for range r.IntN(40) {
			switch r.IntN(12) {
			case 0:
				b.WriteString("k = \"" + github() + "\"\n")
			case 1:
				b.WriteString("secret_key =\n  \"" + made(40, alnum) + "\"\n")
			case 2:
				b.WriteString(key())
			case 3:
				b.WriteString("client_secret: '" + made(30+r.IntN(9), alnum) + "'\n")
			default:
				b.WriteString(lines[r.IntN(len(lines))] + "\n")
			}
		}
		got := found(t, s, "x", b.String())
		l := &search{s: s, path: "x", text: b.String(), near: make([][]span, len(s.rules))}
		l.keywords()
		var all []Match
		for i, rule := range s.rules {
			if len(l.near[i]) > 0 && rule.path == nil {
				if at, _, ok := l.ask(rule, []span{{0, len(l.text)}}); ok {
					all = append(all,
						Match{Finding: value.Finding{Rule: rule.id, Line: 1 + strings.Count(l.text[:at], "\n")}})
				}
			}
		}
		var want []string
		for _, f := range best(all) {
			want = append(want, fmt.Sprintf("%s:%d", f.Rule, f.Line))
		}
		if got != strings.Join(want, " ") {
			t.Fatalf("%q, want %q in\n%s", got, want, b.String())
		}
	}
}

// TestFindHostile: the work on one content has an end, whatever is in it.
func TestFindHostile(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	words := []byte(rulesFile)
	for name, content := range map[string][]byte{
		"every keyword":  bytes.Repeat(words, MaxSize/len(words)),
		"matches":        bytes.Repeat([]byte("api_key = \"abcdefghijkl\"\n"), MaxSize/25),
		"one line":       bytes.Repeat([]byte("key=token:secret="), MaxSize/17),
		"nearly a match": append([]byte("key"), bytes.Repeat([]byte(" "), MaxSize-3)...),
		"keys begun":     bytes.Repeat([]byte("-----BEGIN PRIVATE"+" KEY-----"), MaxSize/30),
	} {
		l := &search{s: s, path: "x", text: string(content), near: make([][]span, len(s.rules))}
		l.keywords()
		for i, r := range s.rules {
			if len(l.near[i]) > 0 {
				l.ask(r, l.near[i])
			}
		}
		if l.asked > maxAsked+MaxSize || l.tries > maxTries {
			t.Errorf("%s: %d bytes were asked about, %d matches", name, l.asked, l.tries)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if _, err := s.Find(ctx, "x", []byte("key "+github())); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended: %v", err)
	}
}

func FuzzFind(f *testing.F) {
	s, err := New()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("prod.env", []byte("API_KEY="+made(32, hexa)))
	f.Add("x", []byte(key()))
	f.Fuzz(func(t *testing.T, path string, content []byte) {
		list, err := s.Find(context.Background(), path, content)
		if err != nil {
			t.Fatal(err)
		}
		lines := 1 + bytes.Count(content, []byte("\n"))
		for _, found := range list {
			if found.Line < 1 || found.Line > lines {
				t.Fatalf("line %d of %d", found.Line, lines)
			}
		}
	})
}

func TestRules(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.rules) < 200 || len(Version()) != 16 {
		t.Errorf("%d rules, version %q", len(s.rules), Version())
	}
	for _, r := range s.rules {
		if r.compile(); r.group > r.re.NumSubexp() {
			t.Errorf("%s: group %d", r.id, r.group)
		}
		for _, a := range slices.Concat(r.allow, s.allow) {
			a.paths.match("x")
			a.regexes.match("x")
		}
	}
}

func BenchmarkFind(b *testing.B) {
	s, err := New()
	if err != nil {
		b.Fatal(err)
	}
	text := bytes.Repeat([]byte("func (s *Store) Get(k Kind, id ID) ([]byte, error) {\n\treturn s.read(k, id.Key())\n}\n\n"+
		"// token is what the parser gives.\n"), 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Find(context.Background(), "a.go", text); err != nil {
			b.Fatal(err)
		}
	}
}
