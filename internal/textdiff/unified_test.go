package textdiff

import (
	"bytes"
	"errors"
	"testing"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		name             string
		oldName, newName string
		old, new         string
		context          int
		want             string
	}{
		{"equal", "a/f", "b/f", "a\n", "a\n", 3, ""},
		{"both empty", "a/f", "b/f", "", "", 3, ""},
		{
			"change", "a/f", "b/f", "1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n", 1,
			"--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n",
		},
		{
			"no context", "a/f", "b/f", "1\n2\n3\n", "1\nx\n3\n", 0,
			"--- a/f\n+++ b/f\n@@ -2 +2 @@\n-2\n+x\n",
		},
		{
			"insert without context", "a/f", "b/f", "1\n2\n", "1\nx\n2\n", 0,
			"--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+x\n",
		},
		{
			"delete without context", "a/f", "b/f", "1\nx\n2\n", "1\n2\n", 0,
			"--- a/f\n+++ b/f\n@@ -2 +1,0 @@\n-x\n",
		},
		{
			"new file", "/dev/null", "b/f", "", "1\n2\n", 3,
			"--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+1\n+2\n",
		},
		{
			"removed file", "a/f", "/dev/null", "1\n", "", 3,
			"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
		},
		{
			"line feed added at the end", "a/f", "b/f", "1", "1\n", 3,
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n",
		},
		{
			"no line feed on either side", "a/f", "b/f", "1\n2", "x\n2", 3,
			"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+x\n 2\n\\ No newline at end of file\n",
		},
		{
			"carriage return counts", "a/f", "b/f", "1\r\n", "1\n", 3,
			"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\r\n+1\n",
		},
		{
			"name with a space", "a/x y", `"b/x\ty z"`, "1\n", "2\n", 3,
			"--- a/x y\t\n+++ \"b/x\\ty z\"\n@@ -1 +1 @@\n-1\n+2\n",
		},
	} {
		var b bytes.Buffer
		r := Diff([]byte(c.old), []byte(c.new), c.context)
		if err := Unified(&b, Header{c.oldName}, Header{c.newName}, r.Hunks); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, b.String(), c.want)
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestUnifiedReportsWriteError(t *testing.T) {
	r := Diff(nil, bytes.Repeat([]byte("line\n"), 5000), 3)
	if err := Unified(brokenWriter{}, Header{"a"}, Header{"b"}, r.Hunks); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want the writer's", err)
	}
}
