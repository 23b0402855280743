package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/internal/value"
	"rewind/transcript"
)

// lines is a session as Claude 2.1.20 wrote it, cut down.
const lines = `{"type":"summary","summary":"old","leafUuid":"x"}
{"type":"file-history-snapshot","timestamp":"2026-01-01T00:00:00.000Z"}
{"type":"user","isMeta":true,"cwd":"/home/dev/proj","gitBranch":"main","timestamp":"2026-01-20T10:00:00.000Z","message":{"content":"<local-command>"}}
{"type":"user","cwd":"/home/dev/proj","gitBranch":"main","timestamp":"2026-01-20T10:00:01.000Z","message":{"content":[{"type":"image"},{"type":"text","text":"make <it>\nquick & \"good\""}]}}
{"type":"user","isSidechain":true,"timestamp":"2026-01-20T10:09:00.000Z","message":{"content":"aside"}}
not json
{"type":"assistant","gitBranch":"other","timestamp":"2026-01-20T10:00:02.000Z","message":{"content":[{"type":"text","text":"done"}]}}
`

// indexed writes a session beside an index, has it listed and returns what became of the index.
func indexed(t *testing.T, index, title string) (after string, err error) {
	t.Helper()
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, session+".jsonl"), lines)
	when := time.UnixMilli(1770134070546)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	file := put(t, filepath.Join(dir, indexName), index)
	err = Listed(context.Background(), transcript.Claude, value.AgentEnv{}, dir, path, session, title)
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("files %v", list)
	}
	return strings.ReplaceAll(get(t, file), dir+string(filepath.Separator), "/dir/"), err
}

const entry = `{
      "sessionId": "11111111-2222-4333-8444-555555555555",
      "fullPath": "/dir/11111111-2222-4333-8444-555555555555.jsonl",
      "fileMtime": 1770134070546,
      "firstPrompt": "make <it> quick & \"good\"",
      "customTitle": "a title",
      "summary": "a title",
      "messageCount": 3,
      "created": "2026-01-20T10:00:00.000Z",
      "modified": "2026-01-20T10:00:02.000Z",
      "gitBranch": "other",
      "projectPath": "/home/dev/proj",
      "isSidechain": false
    }`

func TestIndex(t *testing.T) {
	one := `{ "sessionId": "another",  "odd":1e2, "x":{"b":1,"a":[ ]} }`
	tests := []struct{ name, before, after string }{
		{
			"first", "{\n  \"version\": 1,\n  \"entries\": []\n}", "{\n  \"version\": 1,\n  \"entries\": [\n    " +
				entry + "\n  ]\n}",
		},
		{
			"second", "{\n  \"entries\": [\n    " + one +
				"\n  ],\n \"version\": 1,\n  \"originalPath\": \"/home/dev/\\u00e9\"\n}\n\n",
			"{\n  \"entries\": [\n    " + one + ",\n    " + entry + "\n  ],\n \"version\": 1,\n" +
				"  \"originalPath\": \"/home/dev/\\u00e9\"\n}\n\n",
		},
		{
			"again", "{\n  \"entries\": [\n    {\n      \"sessionId\": \"" + session +
				"\",\n      \"fullPath\": \"/old\",\n" +
				"      \"tag\":  \"kept\"\n    },\n    " + one + "\n  ],\n  \"version\": 1\n}",
			"{\n  \"entries\": [\n    {\n      \"sessionId\": \"" + session + "\",\n      \"fullPath\": \"/dir/" +
				session +
				".jsonl\",\n      \"tag\": \"kept\",\n" +
				strings.SplitN(entry, "\n", 4)[3] + ",\n    " + one + "\n  ],\n  \"version\": 1\n}",
		},
		{
			"in one line", `{"version":1,"entries":[` + one + `],"x":2}`,
			`{"version":1,"entries":[` + one + "," + compact(t, entry) + `],"x":2}`,
		},
		{"in one line, first", `{"version":1,"entries":[ ],"x":2}`, `{"version":1,"entries":[` + compact(t, entry) + `],"x":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := indexed(t, tt.before, "a title")
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.after)
			}
			if !json.Valid([]byte(got)) {
				t.Error("it is no JSON any more")
			}
		})
	}
}

func compact(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestIndexRefused(t *testing.T) {
	for _, before := range []string{
		"", "null", "[]", "{}", `{"version":1}`, `{"version":2,"entries":[]}`, `{"version":1,"entries":{}}`, `{"version":1,"entries":[]`,
		`{"version":1,"entries":[{"sessionId":1}]}`, `{"version":1,"entries":["x"]}`, `{"version":1,"entries":[],"entries":[]}`,
		"\xef\xbb\xbf" + `{"version":1,"entries":[]}`, `{"version":1,"entries":[]} x`, strings.Repeat("[",
			100_000), `{"version":1,"entries":[]}` + "\x00",
	} {
		after, err := indexed(t, before, "a title")
		if err == nil || !strings.Contains(err.Error(), indexName) {
			t.Errorf("%.40q: %v", before, err)
		}
		if after != before {
			t.Errorf("%.40q was changed", before)
		}
	}
}

// TestIndexNone holds that no index is made.
func TestIndexNone(t *testing.T) {
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, session+".jsonl"), lines)
	if err := Listed(context.Background(), transcript.Claude, value.AgentEnv{}, dir, path, session, "a title"); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("files %v", list)
	}
}

// TestIndexFile holds what a replaced file keeps, and that a link stays one.
func TestIndexFile(t *testing.T) {
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, session+".jsonl"), lines)
	real := put(t, filepath.Join(dir, "kept", "index"), `{"version":1,"entries":[]}`)
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, indexName)); err != nil {
		t.Fatal(err)
	}
	list := func() error {
		return Listed(context.Background(), transcript.Claude, value.AgentEnv{}, dir, path, session, "")
	}
	if err := list(); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Lstat(real)
	if err != nil || fi.Mode() != 0o640 || !strings.Contains(get(t, real), session) ||
		strings.Contains(get(t, real), "customTitle") {
		t.Errorf("%v, %v:\n%s", fi.Mode(), err, get(t, real))
	}
	if fi, err := os.Lstat(filepath.Join(dir, indexName)); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", fi, err)
	}
	put(t, real, `{"version":1,"entries":[]}`)
	if err := os.Chmod(real, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := list(); err == nil || strings.Contains(get(t, real), session) {
		t.Errorf("a read-only file: %v", err)
	}
}

func TestReplaceChanged(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), indexName), "before")
	f, err := readFile(path, maxIndex)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, "by another")
	if err := f.replace([]byte("after"), maxIndex); err != errChanged {
		t.Errorf("got %v", err)
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); get(t, path) != "by another" || len(list) != 1 {
		t.Errorf("%q, files %v", get(t, path), list)
	}
}

func TestReadSession(t *testing.T) {
	long := `{"type":"user","timestamp":"t9","message":{"content":"` + strings.Repeat("x", 3*maxLine) + `"}}` + "\n"
	prompt := strings.Repeat("é", maxPrompt+5)
	text := long + `{"type":"user","timestamp":"t1","cwd":"/home/dev","message":{"content":"` + prompt + `"}}` + "\n" + long +
		`{"type":"assistant","timestamp":"t2"}`
	s, err := readSession(strings.NewReader(text))
	want := sessionFacts{
		prompt: prompt[:2*maxPrompt] + "…", created: "t1", modified: "t2", cwd: "/home/dev",
		messages: 2,
	}
	if err != nil || s != want {
		t.Errorf("got %+v, %v", s, err)
	}
}

// FuzzPutEntry holds that an index stays one, with one entry more at most, and that what was there is there.
func FuzzPutEntry(f *testing.F) {
	f.Add([]byte(`{"version":1,"entries":[]}`))
	f.Add([]byte("{\n  \"version\": 1,\n  \"entries\": [\n    {\n      \"sessionId\": \"a\"\n    }\n  ]\n}"))
	f.Add([]byte(`{"entries":[ {"sessionId":"` + session + `","x":[{}]} , {"sessionId":"b"}],"version":1, "x":"\ud800"}`))
	f.Add([]byte(`{"entries":[],"version":1,"entries":[]}`))
	fields := []member{{"sessionId", text(session)}, {"messageCount", json.RawMessage("3")}}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, before, err := readIndex(data)
		if err != nil {
			return
		}
		after, err := putEntry(data, session, fields)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		_, entries, err := readIndex(after)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, after, err)
		}
		found := 0
		for i, e := range entries {
			if e.id == session {
				found++
				continue
			}
			if i >= len(before) || !bytes.Equal(after[e.start:e.end], data[before[i].start:before[i].end]) {
				t.Fatalf("%q became %q: entry %d", data, after, i)
			}
		}
		if found == 0 || len(entries) > len(before)+1 {
			t.Fatalf("%q became %q", data, after)
		}
		if again, err := putEntry(after, session, fields); err != nil || !bytes.Equal(again, after) && found == 1 {
			t.Fatalf("%q became %q, and then %q: %v", data, after, again, err)
		}
	})
}
