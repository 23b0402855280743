package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/api"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/engine/model"
)

// A talk is a session of Claude's in a site's world that grows, as its agent writes it.
type talk struct {
	*site
	n        int
	id, path string
	s        *workload.Session
}

const (
	takeLimit    = 5 * time.Minute // for the first capture of a session, of 1 GB too on a busy machine
	promptGrowth = 10 << 10        // by how much a session file has grown since the last hook
)

// newTalk writes the nth session of a site's project, of so many bytes, where its agent would, and has it taken in:
// what is too much for a hook is taken after it. Only how far that has come is asked for: a list of the turns would
// read the file itself, over and over beside the capture.
func (s *site) newTalk(n int, size int64) *talk {
	k := s.talk(n)
	s.say("a conversation of %s", inBytes.format(float64(size)))
	var err error
	k.s, _, err = workload.WriteSession(k.path, k.id, s.rewind.tree, size, uint64(n))
	must(err)
	all := get(os.Stat(k.path)).Size()
	k.prompt(s.rewind.c)
	began := time.Now()
	for have := int64(0); have != all; s.wait(500 * time.Millisecond) {
		want(time.Since(began) < takeLimit, "of a session of %d bytes %d were taken in %v", all, have, takeLimit)
		var st api.StatusResponse
		err := caught(func() { s.rewind.ask(&st, "status") }) // a busy daemon is asked again
		if i := slices.IndexFunc(st.Sessions, func(s api.Session) bool { return s.Session == "claude/"+k.id }); err == nil && i >= 0 {
			have = st.Sessions[i].Captured
		}
	}
	return k
}

// talk is the nth session of a site's project, of which nothing is written yet.
func (s *site) talk(n int) *talk {
	k := &talk{site: s, n: n, id: fmt.Sprintf("5f1c0d2e-7a44-4c1b-9d55-%012d", n)}
	slug := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, s.rewind.tree)
	k.path = filepath.Join(s.bench.dir, "user", ".claude", "projects", slug, k.id+".jsonl")
	return k
}

// prompt tells of a prompt, in the tree and with the daemon of c.
func (k *talk) prompt(c command) float64 {
	took, said := k.event(c, "user-prompt-submit", get(json.Marshal(map[string]any{
		"session_id": k.id, "transcript_path": k.path, "cwd": c.dir, "prompt_id": "33311054-b639-426a-8ede-15a9964e66a9",
		"permission_mode": "acceptEdits", "hook_event_name": "UserPromptSubmit", "prompt": "make the parser faster",
	})))
	want(said == "", "the hook said %.300q", said)
	time.Sleep(restTime)
	return took
}

// parts are a prompt to the daemon that does nothing, and one to rewind's after the conversation has grown.
func (k *talk) parts(floor, rewind string) []part {
	return []part{{floor, func(int) float64 { return k.prompt(k.floor) }}, {rewind, func(int) float64 {
		f := get(os.OpenFile(k.path, os.O_APPEND|os.O_WRONLY, 0))
		_, err := f.Write(k.s.Reply(promptGrowth))
		must(errors.Join(err, f.Close()))
		return k.prompt(k.rewind.c)
	}}}
}

// taken fails unless every byte of the sessions is in the store, when the daemon has ended; they are removed.
func (s *site) taken(talks ...*talk) {
	s.rewind.watched(func(e *engine.Engine) {
		list := get(e.Log.Sessions())
		for _, k := range talks {
			size := get(os.Stat(k.path)).Size()
			i := slices.IndexFunc(list, func(s model.Session) bool { return s.ID == k.id })
			want(i >= 0 && list[i].Cursor.Length == size, "of the %d bytes of a session not all were taken", size)
			must(os.Remove(k.path))
		}
	})
}

// prompt is the hook of a prompt in a long conversation.
func (t *table) prompt(s *site) {
	k := s.newTalk(1, t.opt.transcript)
	got := t.race(warmCalls, t.opt.rounds, k.parts("floor", "rewind")...)
	s.taken(k)
	t.tell("prompt", inBytes.format(float64(t.opt.transcript))+" of conversation", s.stats.Files, got)
}
