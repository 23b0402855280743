package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rewind/api"
	"rewind/internal/term"
)

// TestExitCodes holds the table of exit codes against its rules, the help and docs/api.md.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	codes, words := map[int]string{}, map[string]int{}
	for _, c := range api.ExitCodes() {
		if c.Code == 2 {
			t.Errorf("exit code 2 is %q: agents read it as \"block\"", c.Word)
		}
		if _, ok := codes[c.Code]; ok {
			t.Errorf("exit code %d is there twice", c.Code)
		}
		if _, ok := words[c.Word]; ok {
			t.Errorf("word %q is there twice", c.Word)
		}
		if c.Code < 0 || c.Code > 255 || c.Meaning == "" || !regexp.MustCompile(`^[a-z_]+$`).MatchString(c.Word) {
			t.Errorf("bad row %+v", c)
		}
		if got := api.CodeOf(c.Word); got != c.Code {
			t.Errorf("CodeOf(%q) = %d, want %d", c.Word, got, c.Code)
		}
		codes[c.Code], words[c.Word] = c.Word, c.Code
	}
	for code, word := range map[int]string{
		0: "ok", 1: "failed", 3: "usage", 10: "no_project", 11: "busy", 12: "not_found", 13: "ambiguous", 14: "unsaved", 15: "partial",
		16: "corrupt", 17: "newer_format", 18: "no_space", 19: "permission", 20: "half_done", 21: "changed", 22: "within_call",
		130: "interrupted",
	} {
		if codes[code] != word {
			t.Errorf("exit code %d is %q, scripts know it as %q", code, codes[code], word)
		}
	}
	if got := api.CodeOf("never heard of"); got != 1 {
		t.Errorf("an unknown word exits with %d, want 1", got)
	}
}

func TestExitCodesInHelp(t *testing.T) {
	t.Parallel()
	_, help, _ := here(t.TempDir(), "help", "exit-codes")
	help = regexp.MustCompile(`\n {10,}`).ReplaceAllString(help, " ") // a meaning goes on below itself
	rows := regexp.MustCompile(`(?m)^ +([0-9]+)  ([a-z_]+) +(.+)$`).FindAllStringSubmatch(help, -1)
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(r[1:], "|"))
	}
	var want []string
	for _, c := range api.ExitCodes() {
		want = append(want, fmt.Sprintf("%d|%s|%s", c.Code, c.Word, c.Meaning))
	}
	if d := difference(strings.Join(want, "\n"), strings.Join(got, "\n")); d != "" {
		t.Errorf("rewind help exit-codes (-want +got):\n%s", d)
	}
}

// TestExitCodesInDocs compares with the table of docs/api.md: rows | code | `word` | meaning | below a heading that
// names exit codes.
func TestExitCodesInDocs(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/api.md")
	must(t, err)
	_, section, ok := strings.Cut(string(b), "xit codes\n")
	if !ok {
		t.Fatal("docs/api.md has no such heading")
	}
	if end := strings.Index(section, "\n## "); end >= 0 {
		section = section[:end]
	}
	want := map[int]string{}
	for _, r := range regexp.MustCompile("(?m)^\\| *`?([0-9]+)`? *\\| *`?([a-z_]+)`? *\\|").FindAllStringSubmatch(section, -1) {
		n, err := strconv.Atoi(r[1])
		must(t, err)
		want[n] = r[2]
	}
	for _, c := range api.ExitCodes() {
		if want[c.Code] != c.Word {
			t.Errorf("docs/api.md calls exit code %d %q, the program %q", c.Code, want[c.Code], c.Word)
		}
		delete(want, c.Code)
	}
	for code, word := range want {
		t.Errorf("docs/api.md has exit code %d %q, the program has not", code, word)
	}
}

// TestPanicIsNotTwo: a panic of Go exits with 2, which an agent reads as "block".
func TestPanicIsNotTwo(t *testing.T) {
	t.Parallel()
	s, _, errs := term.Test("", false)
	s.Out = panicWriter{}
	if code := runMain([]string{"version"}, s); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(errs.String(), "rewind: error: internal error: ") {
		t.Errorf("standard error: %s", errs)
	}
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("broken") }
