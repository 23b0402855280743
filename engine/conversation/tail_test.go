package conversation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/torture"
	"rewind/objstore"
)

// follower is one session whose file is written and captured in any order.
type follower struct {
	*enginetest.Project
	agent  hooks.Agent
	id     string
	dir    string
	file   string
	packed bool // the file is there as .zst
	n      int
	lost   bool   // a rewrite that shows only when the whole file is compared
	held   []held // what checkpoints were taken at
	last   model.Cursor
	stored []byte // at last
}

type held struct {
	cp    *model.Checkpoint
	bytes []byte
}

func (m *follower) fresh() {
	m.n++
	name := fmt.Sprintf("%08x-0000-4000-8000-%012x.jsonl", 1, m.n)
	if m.agent == hooks.Codex {
		name = "rollout-2026-11-20T10-00-00-" + name
	}
	m.file, m.packed = filepath.Join(m.dir, name), false
}

func (m *follower) line(t *rapid.T) string {
	m.n++
	n := rapid.SampledFrom([]int{1, 30, 500, 3000, 30_000, 70_000}).Draw(t, "line")
	return fmt.Sprintf(`{"type":"x","n":%d,"pad":%q}`+"\n", m.n, strings.Repeat(fmt.Sprint(m.n, " "), n/4))
}

func (m *follower) content() []byte {
	b, err := os.ReadFile(m.file)
	if err != nil && !os.IsNotExist(err) {
		m.T.Fatalf("%v", err)
	}
	return b
}

// put writes the file as it is to be, in place; its time is another one than before, as clocks do not always tell.
func (m *follower) put(b []byte) {
	m.unpack()
	m.Must(os.WriteFile(m.file, b, 0o600))
	m.touch()
}

func (m *follower) touch() {
	m.Tick = m.Tick.Add(time.Second)
	m.Must(os.Chtimes(m.file, m.Tick, m.Tick))
}

func (m *follower) unpack() {
	if m.packed {
		m.packed = false
		_ = os.Remove(m.file + ".zst")
	}
}

func (m *follower) appendSome(t *rapid.T) {
	b := m.content()
	for range rapid.IntRange(1, 4).Draw(t, "lines") {
		b = append(b, m.line(t)...)
	}
	m.put(b)
}

func (m *follower) appendPartial(t *rapid.T) {
	line := m.line(t)
	m.put(append(m.content(), line[:len(line)/2]...))
}

func (m *follower) finish(*rapid.T) {
	if b := m.content(); len(b) > 0 && b[len(b)-1] != '\n' {
		m.put(append(b, "\"}\n"...))
	}
}

func (m *follower) truncate(t *rapid.T) {
	if b := m.content(); len(b) > 0 {
		m.put(b[:rapid.IntRange(0, len(b)-1).Draw(t, "to")])
	}
}

func (m *follower) rewriteHead(t *rapid.T) {
	b := m.content()
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		head := m.line(t)
		m.put(append([]byte(head), b[i+1:]...))
		m.lost = m.lost || len(head) == bytes.IndexByte(m.stored, '\n')+1
	}
}

func (m *follower) rewriteMiddle(t *rapid.T) {
	b := m.content()
	i := bytes.IndexByte(b, ':')
	if i < 0 {
		return
	}
	at := rapid.IntRange(i, len(b)-1).Draw(t, "at")
	if b[at] == '\n' {
		return
	}
	b[at] ^= 1
	if b[at] == '\n' {
		return
	}
	m.put(b)
	m.lost = true
}

func (m *follower) rotate(t *rapid.T) {
	b := m.content()
	m.fresh()
	if rapid.Bool().Draw(t, "copy") {
		m.put(b)
	}
	m.lost = false
}

func (m *follower) replace(t *rapid.T) {
	b := m.content()
	if rapid.Bool().Draw(t, "other") {
		b = nil
	}
	b = append(b, m.line(t)...)
	m.unpack()
	m.Must(os.WriteFile(m.file+".tmp", b, 0o600))
	m.Must(os.Rename(m.file+".tmp", m.file))
	m.touch()
}

func (m *follower) gone(*rapid.T) {
	m.unpack()
	_ = os.Remove(m.file)
}

// compress is what Codex does to old files.
func (m *follower) compress(*rapid.T) {
	b := m.content()
	if m.agent != hooks.Codex || len(b) == 0 {
		return
	}
	enc, err := zstd.NewWriter(nil)
	m.Must(err)
	m.Must(os.WriteFile(m.file+".zst", enc.EncodeAll(b, nil), 0o600))
	m.Must(enc.Close())
	m.Must(os.Remove(m.file))
	m.packed = true
}

func (m *follower) read2() ([]byte, bool) {
	if m.packed {
		raw, err := os.ReadFile(m.file + ".zst")
		m.Must(err)
		dec, err := zstd.NewReader(nil)
		m.Must(err)
		defer dec.Close()
		b, err := dec.DecodeAll(raw, nil)
		m.Must(err)
		return b, true
	}
	b, err := os.ReadFile(m.file)
	return b, err == nil
}

func (m *follower) event(t *rapid.T) {
	m.n++
	m.Write("f", enginetest.Big(fmt.Sprint(m.n)))
	tier, err := hooks.LoadTier("balanced")
	m.Must(err)
	kind := rapid.SampledFrom([]hooks.Kind{hooks.Stop, hooks.Prompt, hooks.AfterTool}).Draw(t, "event")
	h, err := m.E.Worktree.Handle(enginetest.Bg, hooks.Event{
		Agent: m.agent, Session: m.id, Cwd: m.Root, Kind: kind, Transcript: m.file,
		Tool: hooks.Tool{Name: "Bash", Call: fmt.Sprint(m.n)},
	}, capture.HandleOptions{Tier: tier})
	m.Must(err)
	m.check()
	cp := m.Get(h)
	if cp.Conversation != m.last.TranscriptEnd {
		m.T.Fatalf("the checkpoint was taken at %+v, the session is at %+v", cp.Conversation, m.last.TranscriptEnd)
	}
	m.held = append(m.held, held{cp, m.stored})
}

func (m *follower) quiet(*rapid.T) {
	if m.name() == "" {
		return
	}
	m.Settle()
	m.check()
}

func (m *follower) name() string {
	name := string(m.agent) + "/" + m.id
	if m.E.Log.Session(name) == nil || m.E.Log.Session(name).Transcript != m.file {
		return ""
	}
	return name
}

// check holds what is stored against the file.
func (m *follower) check() {
	m.T.Helper()
	s := m.Project.Session(m.name())
	if s.Problem != "" {
		m.T.Fatalf("problem: %s", s.Problem)
	}
	got := m.Talk(s)
	b, there := m.read2()
	want := enginetest.WholeLines(b)
	last := !m.packed && json.Valid(b[len(want):]) // a whole last record, and the file is quiet
	switch {
	case !there: // what was captured stays
		if s.Cursor.TranscriptEnd != m.last.TranscriptEnd {
			m.T.Fatalf("the file is gone, and the cursor went from %+v to %+v", m.last, s.Cursor)
		}
	case bytes.Equal(got, want):
	case bytes.Equal(got, b) && last:
	case m.lost && (len(got) == len(want) || last && len(got) == len(b)):
	default:
		m.T.Fatalf("%d bytes are stored, the file has %d whole ones (the same: %d)", len(got), len(want),
			same(got, want))
	}
	switch {
	case s.Cursor.Generation < m.last.Generation:
		m.T.Fatalf("generation %d after %d", s.Cursor.Generation, m.last.Generation)
	case s.Cursor.Generation == m.last.Generation && !bytes.HasPrefix(got, m.stored):
		m.T.Fatalf("the same generation, but it does not go on from what was stored")
	}
	m.last, m.stored = s.Cursor, got
}

func same(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// TestPromise14FollowModel: what is stored of a session's file is the file up to its last newline, or up to its last
// record if it is quiet, whatever was done to it; a checkpoint keeps the bytes of its moment.
func TestPromise14FollowModel(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		base := filepath.Join(dir, fmt.Sprint(run))
		if err := os.MkdirAll(base+"/project", 0o755); err != nil {
			t.Fatal(err)
		}
		m := &follower{Project: enginetest.OpenProject(t, base+"/project", base+"/home"), id: enginetest.ClaudeID(run)}
		defer func() { m.Close(); _ = os.RemoveAll(base) }()
		m.agent = rapid.SampledFrom([]hooks.Agent{hooks.Claude, hooks.Codex}).Draw(t, "agent")
		m.dir = m.Chats()
		if m.agent == hooks.Codex {
			m.dir = filepath.Join(m.User(), ".codex", "sessions", "2026", "11", "20")
		}
		m.Must(os.MkdirAll(m.dir, 0o700))
		m.fresh()
		t.Repeat(map[string]func(*rapid.T){
			"append": m.appendSome, "append2": m.appendSome, "partial": m.appendPartial, "finish": m.finish,
			"truncate": m.truncate,
			"head":     m.rewriteHead,
			"middle":   m.rewriteMiddle, "rotate": m.rotate, "replace": m.replace, "delete": m.gone,
			"compress": m.compress,
			"event":    m.event, "event2": m.event, "settle": m.quiet, "reopen": func(*rapid.T) { m.Reopen() },
		})
		// A rewrite that did not show by itself shows when the file has grown by an eighth and a block.
		m.put(append(enginetest.WholeLines(m.content()),
			bytes.Repeat([]byte(`{"type":"x"}`+"\n"), (len(m.content())/8+conversation.TranscriptBlock)/10)...))
		m.event(t)
		m.lost = false
		tier, err := hooks.LoadTier("balanced")
		m.Must(err)
		_, err = m.E.Worktree.Handle(enginetest.Bg,
			hooks.Event{Agent: m.agent, Session: m.id, Cwd: m.Root, Kind: hooks.Stop, Transcript: m.file},
			capture.HandleOptions{Tier: tier})
		m.Must(err)
		m.Settle()
		m.check()
		for _, h := range m.held {
			cp, err := m.E.Log.Checkpoint(h.cp.ID)
			m.Must(err)
			if got := enginetest.ReadAll(t, m.E.Log.Objs, cp.Conversation.Transcript); !bytes.Equal(got, h.bytes) ||
				int64(len(got)) != cp.Conversation.Length {
				t.Fatalf("checkpoint %d has %d bytes of the conversation, there were %d", cp.Seq, len(got),
					len(h.bytes))
			}
		}
		m.Verify()
	})
}

// scribbler writes a session file for as long as it is read, and knows every state that it had.
type scribbler struct {
	r      *rand.Rand
	file   string
	now    []byte
	mu     sync.Mutex
	states [][]byte
	n      int
}

func (s *scribbler) line() []byte {
	s.n++
	return fmt.Appendf(nil, `{"type":"x","n":%d,"pad":%q}`+"\n", s.n, strings.Repeat(fmt.Sprint(s.n, "."), s.r.IntN(300)))
}

// becomes notes a state before the file can have it.
func (s *scribbler) becomes(b []byte) {
	s.now = b
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = append(s.states, bytes.Clone(b))
}

func (s *scribbler) step() error {
	f, err := os.OpenFile(s.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	switch s.r.IntN(10) {
	case 0: // cut off
		if len(s.now) == 0 {
			return nil
		}
		s.becomes(s.now[:s.r.IntN(len(s.now))])
		return f.Truncate(int64(len(s.now)))
	case 1: // written anew
		var b []byte
		for range s.r.IntN(100) {
			b = append(b, s.line()...)
		}
		s.becomes(b)
		return os.WriteFile(s.file, b, 0o600)
	case 2: // replaced
		s.becomes(s.line())
		if err := os.WriteFile(s.file+".tmp", s.now, 0o600); err != nil {
			return err
		}
		return os.Rename(s.file+".tmp", s.file)
	case 3, 4: // something in it
		if len(s.now) == 0 {
			return nil
		}
		b := bytes.Clone(s.now)
		at := s.r.IntN(len(b))
		if b[at] == '\n' {
			return nil
		}
		b[at] = "0123456789"[s.r.IntN(10)]
		s.becomes(b)
		_, err := f.WriteAt(b[at:at+1], int64(at))
		return err
	default:
		line := s.line()
		at := int64(len(s.now))
		s.becomes(append(bytes.Clone(s.now), line...))
		half := s.r.IntN(len(line))
		if _, err := f.WriteAt(line[:half], at); err != nil {
			return err
		}
		_, err := f.WriteAt(line[half:], at+int64(half))
		return err
	}
}

func (s *scribbler) had(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, state := range s.states {
		if bytes.HasPrefix(state, b) {
			return true
		}
	}
	return false
}

// TestT14Promise14CaptureWhileWritten: whatever is done to a session's file while it is read, what is captured is a
// state that it had, up to a line's end.
func TestT14Promise14CaptureWhileWritten(t *testing.T) {
	m := torture.Begin(t)
	runs := m.Points
	p := enginetest.NewProject(t)
	captured := map[objstore.ID]bool{}
	for run := range runs {
		k := p.Talker(run + 1)
		s := &scribbler{r: rand.New(rand.NewPCG(m.Seed-1+uint64(run), 3)), file: k.File, states: [][]byte{nil}}
		var end sync.WaitGroup
		stop, stepped := make(chan struct{}), make(chan struct{}, 1)
		end.Go(func() {
			defer close(stepped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.step(); err != nil {
					t.Error(err)
					return
				}
				select {
				case stepped <- struct{}{}:
				default:
				}
				time.Sleep(time.Duration(s.r.IntN(800)) * time.Microsecond)
			}
		})
		for i := range 12 {
			<-stepped // else a busy machine has nothing written
			if i%3 == 2 {
				p.Settle()
			} else {
				k.Send(hooks.Event{Kind: hooks.Stop}, capture.HandleOptions{})
			}
			now := p.Session(k.Name())
			if !captured[now.Cursor.Transcript] {
				captured[now.Cursor.Transcript] = true
				if b := p.Talk(now); !s.had(b) || len(b) > 0 && b[len(b)-1] != '\n' {
					t.Errorf("run %d: %d bytes were captured that the file never had", run, len(b))
				}
			}
			if now.Problem != "" {
				t.Errorf("run %d: %s", run, now.Problem)
			}
		}
		close(stop)
		end.Wait()
		// At rest it is captured whole.
		k.Send(hooks.Event{Kind: hooks.Stop}, capture.HandleOptions{})
		p.Settle()
		if got := p.Talk(p.Session(k.Name())); !bytes.Equal(got, enginetest.WholeLines(s.now)) {
			t.Errorf("run %d: at rest %d bytes are stored, the file has %d", run, len(got), len(s.now))
		}
		m.Point()
	}
	t.Logf("%d states captured in %d runs", len(captured), runs)
	if len(captured) < runs/4 {
		t.Error("hardly anything was captured while the file was written")
	}
}
