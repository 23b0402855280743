package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/term"
)

// here runs a command line in this process, in a project.
func here(dir string, args ...string) (code int, out, errs string) {
	s, stdout, stderr := term.Test("", false)
	code = execute(context.Background(), append([]string{"-C", dir}, args...), s)
	return code, stdout.String(), stderr.String()
}

// mustHere is here for what must succeed.
func mustHere(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, out, errs := here(dir, args...)
	if code != 0 {
		t.Fatalf("rewind %s in %s: exit code %d\n%s%s", strings.Join(args, " "), dir, code, out, errs)
	}
	return out
}

// checkpoints are the ids that list shows, newest first, safety checkpoints included.
func checkpoints(t *testing.T, dir string) []string {
	t.Helper()
	var v struct{ Checkpoints []struct{ ID string } }
	if err := json.Unmarshal([]byte(mustHere(t, dir, "list", "--all", "--limit", "0", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range v.Checkpoints {
		ids = append(ids, c.ID)
	}
	return ids
}

// discard removes a project, directories without permissions included.
func discard(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

// write makes files below a directory, with their parents.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// noise is content that does not compress.
func noise(seed int64, n int) string {
	b := make([]byte, n)
	_, _ = rand.New(rand.NewSource(seed)).Read(b)
	return string(b)
}

// must fails the test on the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
