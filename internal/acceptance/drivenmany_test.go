//go:build acceptance

package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
)

// manyForks, where it is set, is how many forks TestDrivenMany has each agent make; manySeed is where its dice begin.
const (
	manyForks = "REWIND_ACCEPTANCE_FORKS"
	manySeed  = "REWIND_ACCEPTANCE_SEED"
)

// many drives an agent to make many forks, at random, and notes what it was told to do before it looks at what came of
// that.
type many struct {
	*drive
	rnd   *rand.Rand
	forks int // that are still to be made
	tales []*tale
}

// A tale is a session that was made, and what was done with it.
type tale struct {
	id, kind string
	parent   string
	turn     int                    // of the parent, the last that both have
	turns    int                    // that were said, with those that were left
	live     []int                  // that the model sees
	left     []enginetest.DrivenWay // that were left
	blind    bool                   // it was made of a session with ways that were left: what it has of those is not told
	words    []string               // by turn, how its prompt begins
	keys     []string               // by turn, the agent's id of it
	before   int                    // files that were gone on from in another one
}

func (t *tale) last() int { return t.live[len(t.live)-1] }

// TestDrivenMany has each agent fork, go on and go back at random, as cheaply as it lets itself be driven.
func TestDrivenMany(t *testing.T) {
	t.Parallel()
	forks := 6
	if n, err := strconv.Atoi(os.Getenv(manyForks)); err == nil {
		forks = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv(manySeed), 10, 64); err == nil {
		seed = n
	}
	t.Logf("the dice begin at %d", seed)
	for _, v := range []struct {
		driver
		drive func(*many)
	}{
		{drivers[0], manyClaude},
		{drivers[1], manyClaude},
		{drivers[2], manyClaude},
		{driver{client: claude10, offline: claudeOffline}, manyClaude1},
		{drivers[3], manyCodex},
		{drivers[4], manyCodex},
		{drivers[5], manyGemini},
		{drivers[7], manyDroid},
	} {
		v.play(t, "many", func(w *world, d driver) {
			m := &many{
				drive: &drive{world: w, by: d, seen: map[string]bool{}}, rnd: rand.New(rand.NewPCG(seed, 0)),
				forks: forks,
			}
			defer m.keep()
			v.drive(m)
		})
	}
}

// keep notes where the files are.
func (m *many) keep() {
	m.Helper()
	for _, t := range m.tales {
		files := m.filesOf(t.id)
		if len(files) != t.before+1 {
			m.Errorf("%s: %s %s has the files %q, want %d", m.client, t.kind, t.id, files, t.before+1)
			continue
		}
		for i, f := range files {
			rel, err := filepath.Rel(m.home, f)
			if err != nil {
				m.Fatal(err)
			}
			s := enginetest.DrivenSession{
				File: rel, ID: t.id, Kind: t.kind, Parent: t.parent, Turn: t.turn,
				Left: t.left,
			}
			if i < len(files)-1 {
				s = enginetest.DrivenSession{File: rel, ID: t.id, Kind: "before a backtrack"}
			}
			if t.blind {
				s.Left = nil
			}
			m.list = append(m.list, s)
		}
	}
	m.drive.keep()
}

// filesOf are a session's files, the oldest first.
func (w *world) filesOf(id string) (list []string) {
	w.Helper()
	name := id
	if w.agent == "gemini" {
		name = id[:8]
	}
	for _, path := range w.transcripts() {
		if strings.Contains(filepath.Base(path), name) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

var manyWords = []string{
	"NEXT-FORK", "NEXT-CUT", "NEXT-MORE", "NEXT-BACK", "NEXT-LIVE", "MAKE-FILE", "BOTH-CALLS", "QUOTE-OTHERS",
}

// word is how the next prompt of a session begins: another one than those of the turns that were left where it goes on.
func (m *many) word(t *tale) string {
	not := map[string]bool{}
	for _, l := range t.left {
		not[t.words[l.Turns[0]-1]] = true
	}
	for {
		if w := manyWords[m.rnd.IntN(len(manyWords))]; !not[w] || len(not) > 4 {
			return w
		}
	}
}

// said notes a turn.
func (t *tale) said(word, key string) {
	t.turns++
	t.live = append(t.live, t.turns)
	t.words, t.keys = append(t.words, word), append(t.keys, key)
}

// back notes that the newest n turns were left.
func (t *tale) back(n int) {
	way := enginetest.DrivenWay{Turns: slices.Clone(t.live[len(t.live)-n:])}
	if t.live = t.live[:len(t.live)-n]; len(t.live) > 0 {
		way.After = t.last()
	}
	t.left = append(t.left, way)
	slices.SortFunc(t.left, func(a, b enginetest.DrivenWay) int { return a.Turns[0] - b.Turns[0] })
}

// first is a new session.
func (m *many) first(id string) *tale {
	t := &tale{id: id, kind: "first", left: []enginetest.DrivenWay{}}
	m.tales = append(m.tales, t)
	return t
}

// child is a session that was made of another one up to its turn n.
func (m *many) child(kind, id string, of *tale, n int) *tale {
	m.forks--
	t := &tale{id: id, kind: kind, parent: of.id, turn: n, left: []enginetest.DrivenWay{}, blind: len(of.left) > 0 ||
		of.blind}
	t.turns, t.words, t.keys = n, slices.Clone(of.words[:n]), slices.Clone(of.keys[:n])
	for _, k := range of.live {
		if k <= n {
			t.live = append(t.live, k)
		}
	}
	m.tales = append(m.tales, t)
	return t
}

// any is a session whose turns are known by number.
func (m *many) any() *tale {
	for {
		if t := m.tales[m.rnd.IntN(len(m.tales))]; !t.blind && len(t.live) > 0 {
			return t
		}
	}
}

// upTo is a turn that a session is forked behind: mostly its last.
func (m *many) upTo(t *tale) int {
	if m.rnd.IntN(3) > 0 {
		return t.last()
	}
	return t.live[m.rnd.IntN(len(t.live))]
}

// A hand is what an agent is driven by.
type hand struct {
	begin func(word string) *tale // a new session with one turn
	say   func(t *tale, word string)
	fork  func(t *tale)
	back  func(t *tale, n int) // nil: it cannot be driven to
}

// play makes the forks.
func (m *many) play(h hand) {
	more := func(t *tale) { h.say(t, m.word(t)) }
	for m.forks > 0 && !m.Failed() {
		dice := m.rnd.IntN(20)
		if len(m.tales) == 0 {
			dice = 0
		}
		switch {
		case dice == 0 && len(m.tales) > 0: // word for word
			of := m.any()
			t := h.begin(of.words[0])
			t.kind = "rerun"
			for _, n := range of.live[1:min(2, len(of.live))] {
				h.say(t, of.words[n-1])
			}
		case dice <= 1:
			t := h.begin(manyWords[m.rnd.IntN(len(manyWords))])
			for range m.rnd.IntN(2) {
				more(t)
			}
		case dice <= 4:
			more(m.any())
		case dice <= 8 && h.back != nil:
			t := m.any()
			if own := len(t.live); own > 1 {
				h.back(t, 1+m.rnd.IntN(own-1))
				more(t)
			}
		default:
			h.fork(m.any())
		}
	}
}

func manyCodex(m *many) {
	r := m.serve(nil, "app-server")
	r.call(nil, "initialize", map[string]any{"clientInfo": map[string]any{"name": "codex-tui", "version": "0"}})
	r.send(map[string]any{"method": "initialized"})
	type thread struct{ Thread struct{ ID string } }
	say := func(t *tale, word string) {
		var started struct{ Turn struct{ ID string } }
		r.call(&started, "turn/start", map[string]any{
			"threadId": t.id,
			"input":    []any{map[string]any{"type": "text", "text": word + " please", "text_elements": []any{}}},
		})
		r.next("turn/start", func(l rpcLine) bool {
			var p struct{ ThreadID string }
			return l.Method == "turn/completed" && json.Unmarshal(l.Params, &p) == nil && p.ThreadID == t.id
		})
		t.said(word, started.Turn.ID)
	}
	m.play(hand{
		begin: func(word string) *tale {
			var v thread
			r.call(&v, "thread/start",
				map[string]any{"cwd": m.project, "approvalPolicy": "never", "sandbox": "danger-full-access"})
			t := m.first(v.Thread.ID)
			say(t, word)
			return t
		},
		say: say,
		fork: func(of *tale) {
			n, params := of.last(), map[string]any{"threadId": of.id}
			if m.client == codex {
				if n = m.upTo(of); n < of.last() {
					params["lastTurnId"] = of.keys[n-1]
				}
			}
			var v thread
			r.call(&v, "thread/fork", params)
			say(m.child("thread/fork", v.Thread.ID, of, n), m.word(of))
		},
		back: func(t *tale, n int) {
			if m.client == codex {
				first := t.live[len(t.live)-n]
				if t.before > 1 || first <= t.turn && t.parent != "" {
					return
				}
				r.call(nil, "thread/revert", map[string]any{"threadId": t.id, "beforeTurnId": t.keys[first-1]})
				t.before++
			} else {
				r.call(nil, "thread/rollback", map[string]any{"threadId": t.id, "numTurns": n})
			}
			t.back(n)
		},
	})
}

// claudePrints has one turn without a terminal. It returns the session in which that was; "": on a busy machine it took
// too long.
func (m *many) claudePrints(word string, args ...string) string {
	m.Helper()
	var v printed
	out, err := m.try(append([]string{
		"-p", word + " please", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--output-format", "json",
	}, args...)...)
	if errors.Is(err, context.DeadlineExceeded) {
		m.Logf("%v", err)
		return ""
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &v)
	}
	if err != nil || v.Session == "" {
		m.Fatalf("%s: %v\n%s", m.client, err, out)
	}
	return v.Session
}

func manyClaude(m *many) {
	m.play(hand{
		begin: func(word string) *tale {
			id := m.claudePrints(word)
			if id == "" {
				m.Fatal("no session can be begun")
			}
			t := m.first(id)
			t.said(word, "")
			return t
		},
		say: func(t *tale, word string) {
			if id := m.claudePrints(word, "--resume", t.id); id != t.id {
				m.Fatalf("%s: %s was gone on with as %q", m.client, t.id, id)
			}
			t.said(word, "")
		},
		fork: func(of *tale) {
			if m.client == claude && m.rnd.IntN(2) == 0 {
				m.library()
				return
			}
			word := m.word(of)
			if id := m.claudePrints(word, "--resume", of.id, "--fork-session"); id != "" {
				m.child("--fork-session", id, of, of.last()).said(word, "")
			}
		},
	})
}

// library has Claude's library make a few forks, each of any session up to any turn.
func (m *many) library() {
	m.Helper()
	dir, err := clientsDir()
	if err != nil {
		m.Fatal(err)
	}
	script := fmt.Sprintf("import {forkSession} from %q;\n", "file://"+claudeSDK.path(dir))
	type fork struct {
		of *tale
		n  int
	}
	var forks []fork
	for range min(m.forks, 8) {
		f := fork{of: m.any()}
		f.n = m.upTo(f.of)
		forks = append(forks, f)
		script += fmt.Sprintf("console.log((await forkSession(%q, {dir: %q, upToMessageId: %q || undefined})).sessionId)\n",
			f.of.id, m.project, m.endOf(f.of, f.n))
	}
	ids := strings.Fields(m.must("node", "--input-type=module", "-e", script))
	if len(ids) != len(forks) {
		m.Fatalf("%d forks have the ids %q", len(forks), ids)
	}
	for i, f := range forks {
		m.child("forkSession", ids[i], f.of, f.n)
	}
}

// endOf is the id of the last message of turn n of a session; "": of its last.
func (m *many) endOf(of *tale, n int) string {
	m.Helper()
	last, turn := "", 0
	for l := range strings.Lines(m.read(m.file(of.id))) {
		var v struct {
			Type, UUID string
			Message    struct{ Content any }
		}
		_ = json.Unmarshal([]byte(l), &v)
		if s, ok := v.Message.Content.(string); ok && v.Type == "user" && isPrompt(s) {
			if turn++; turn == n+1 {
				return last
			}
		}
		if v.Type == "assistant" && v.UUID != "" {
			last = v.UUID
		}
	}
	return ""
}

// manyClaude1: 1.0 copies a session whenever it is gone on with.
func manyClaude1(m *many) {
	for m.forks > 0 && !m.Failed() {
		word := manyWords[m.rnd.IntN(len(manyWords))]
		if len(m.tales) == 0 || m.rnd.IntN(12) == 0 {
			if id := m.claudePrints(word); id != "" {
				m.first(id).said(word, "")
			}
			continue
		}
		of := m.any()
		if id := m.claudePrints(word, "--resume", of.id); id != "" {
			m.child("copy on resume", id, of, of.last()).said(word, "")
		}
	}
}

// manyGemini: it forks nothing, but goes back within its files.
func manyGemini(m *many) {
	for ; m.forks > 0 && !m.Failed(); m.forks-- {
		t := m.by.open(m.world, "")
		s := m.first("")
		say := func() {
			word := m.word(s)
			for slices.ContainsFunc(s.live, func(n int) bool { return s.words[n-1] == word }) {
				word = m.word(s)
			}
			t.say(word + " please")
			s.said(word, "")
		}
		say()
		say()
		if m.rnd.IntN(2) == 0 {
			say()
		}
		for range 1 + m.rnd.IntN(2) {
			n := 1 + m.rnd.IntN(len(s.live)-1)
			to := s.words[s.live[len(s.live)-n]-1]
			t.escapes("Stay at current position")
			t.chooses("Up", "● "+to+" please")
			t.press("Enter")
			t.chooses("Down", "Rewind conversation")
			for range 4 {
				if now, _ := t.screen(); strings.Contains(now, "● 2. Rewind conversation") ||
					strings.Contains(now, "● 1. Rewind conversation") {
					break
				}
				t.press("Down")
				t.settles()
			}
			t.press("Enter")
			t.settles()
			t.press("C-u")
			t.settles()
			s.back(n)
			say()
			if m.rnd.IntN(2) == 0 {
				say()
			}
		}
		m.by.leave(t)
		for _, f := range m.transcripts() {
			id := sessionField.FindStringSubmatch(m.read(f))
			if id != nil && !m.seen[id[1]] && strings.Contains(m.read(f), "please") {
				m.seen[id[1]], s.id = true, id[1]
			}
		}
	}
}

func manyDroid(m *many) {
	r := m.serve(map[string]any{
		"jsonrpc": "2.0", "type": "request", "factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.220.0",
	}, "exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc", "--auto", "high")
	on := ""
	open := func(t *tale) {
		if on != t.id {
			r.call(nil, "droid.load_session", map[string]any{"sessionId": t.id})
			on = t.id
		}
	}
	type notice struct {
		SessionID    string
		Notification struct{ Type, NewState string }
	}
	say := func(t *tale, word string) {
		open(t)
		key := fmt.Sprintf("%08x-0000-4000-8000-%012x", m.rnd.Uint32(), m.rnd.Uint64()>>16)
		r.call(nil, "droid.add_user_message", map[string]any{"text": word + " please", "messageId": key})
		done := false
		r.next("a turn", func(l rpcLine) bool {
			var p notice
			_ = json.Unmarshal(l.Params, &p)
			done = done || p.Notification.Type == "agent_turn_completed"
			return done && p.Notification.Type == "droid_working_state_changed" && p.Notification.NewState == "idle"
		})
		t.said(word, key)
	}
	m.play(hand{
		begin: func(word string) *tale {
			var v struct{ SessionID string }
			r.call(&v, "droid.initialize_session", map[string]any{
				"machineId": "m", "cwd": m.project, "interactionMode": "auto", "autonomyLevel": "high",
				"modelId": "custom:fake-0",
			})
			on = v.SessionID
			t := m.first(v.SessionID)
			say(t, word)
			return t
		},
		say: say,
		fork: func(of *tale) {
			open(of)
			var v struct{ NewSessionID string }
			n, kind := m.upTo(of), "fork_session"
			if n == of.last() {
				r.call(&v, "droid.fork_session", map[string]any{})
			} else {
				kind = "execute_rewind"
				r.call(&v, "droid.execute_rewind", map[string]any{
					"sessionId": of.id, "messageId": of.keys[n], "filesToRestore": []any{}, "filesToDelete": []any{},
					"forkTitle": "gone back",
				})
				on = ""
			}
			t := m.child(kind, v.NewSessionID, of, n)
			if m.rnd.IntN(3) > 0 {
				say(t, m.word(t))
			}
		},
	})
}
