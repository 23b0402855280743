package transcript

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestGeminiPlace(t *testing.T) {
	const chats = "/home/dev/.gemini/tmp/proj/chats/"
	for _, tt := range []struct{ path, root string }{
		{chats + "session-2026-11-20T10-11-40050841.jsonl", "/home/dev/.gemini"},
		{"/srv/g/tmp/9c968053b4a85afc/chats/session-2026-11-20T10-12-0265b072.json", "/srv/g"},
		{chats + "session-2026-11-20T10-11-4005084.jsonl", ""},
		{chats + "session-2026-11-20T10-11-4005084x.jsonl", ""},
		{chats + "session-2026-11-40T10-11-40050841.jsonl", ""},
		{chats + "session-2026-11-20T10-11-40050841.txt", ""},
		{chats + "40050841-0b0c-47f8-b082-9485cbec393e/9485cbec393e.jsonl", ""},
		{"/home/dev/.gemini/chats/session-2026-11-20T10-11-40050841.jsonl", ""},
		{"/tmp/proj/chats/session-2026-11-20T10-11-40050841.jsonl", ""},
	} {
		root, id, err := SessionFile(Gemini, tt.path)
		if root != tt.root || id != "" || (err == nil) != (tt.root != "") {
			t.Errorf("%s: %q %q %v", tt.path, root, id, err)
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	for _, ext := range []string{".json", ".jsonl"} {
		to, err := ForkPath(Gemini, chats+"session-2026-11-20T10-11-40050841"+ext, forkID, at)
		if want := chats + "session-2026-01-02T02-04-0f0f0f0f" + ext; to != want {
			t.Error(to, err)
		}
		if _, _, err := SessionFile(Gemini, to); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(Resume(Gemini, forkID), " "); got != "gemini --resume "+forkID {
		t.Error(got)
	}
}

func TestGeminiFind(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	session, name := file(geminiData(geminiUser("p", "one"))), "session-2026-11-20T10-11-40050841.jsonl"
	root := fstest.MapFS{
		"projects.json":          file(`{"projects":{"/home/dev/proj":"proj","/home/dev/other":"other","/home/dev/odd":"../tmp/other"}}`),
		"tmp/proj/chats/" + name: session,
		"tmp/proj/chats/" + strings.TrimSuffix(name, "l"): session,
		"tmp/proj/chats/notes.jsonl":                      session,
		"tmp/proj/chats/sub/" + name:                      session,
		"tmp/proj/chats/" + name[:33] + "ff.jsonl":        file(strings.Replace(geminiData(), `"main"`, `"subagent"`, 1)),
		"tmp/other/chats/" + name:                         session,
		"tmp/proj-1/.project_root":                        file("/home/dev/proj\n"),
		"tmp/proj-1/chats/" + name:                        session,
		// sha256 of /home/dev/proj
		"tmp/bb97ae4cdb5b0dd7e32b198a7ebcb35332fca3343779f0895ffb11258627aa8f/chats/" + name: session,
	}
	got, _, err := Find(Gemini, root, "/home/dev/proj")
	slices.Sort(got)
	if want := []string{
		"tmp/bb97ae4cdb5b0dd7e32b198a7ebcb35332fca3343779f0895ffb11258627aa8f/chats/" + name, "tmp/proj-1/chats/" + name,
		"tmp/proj/chats/" + name,
	}; err != nil || !slices.Equal(got, want) {
		t.Error(got, err)
	}
	if got, _, err := Find(Gemini, root, "/home/dev/odd"); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}
