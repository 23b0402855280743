package restore_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
	"rewind/transcript"
)

// Every version of a session file that was captured can be gone to by name, from any other, in place: the file is the
// version's up to the end of its turn, and undo-restore brings back what it was, to the byte. So of every agent's
// files.
func TestPromise14VersionsInPlace(t *testing.T) {
	for n, tt := range agentSamples {
		if strings.HasSuffix(tt.file, "-1turn.jsonl") {
			continue // one turn only: there is no place to go back to
		}
		t.Run(string(tt.agent)+" "+tt.file, func(t *testing.T) {
			p := newSampled(t, n)
			w := model.SessionChoice{Session: p.name}
			whole := map[string][]byte{} // versions, by the checkpoint that was taken of each
			take := func(content string, raw []byte) string {
				p.Must(os.WriteFile(p.file, raw, 0o600))
				p.Write("f", enginetest.Big(content))
				h := p.stop()
				whole[h.Checkpoint.String()] = raw
				return h.Checkpoint.String()
			}
			src := transcript.Source{ReaderAt: bytes.NewReader(p.raw), Size: int64(len(p.raw)), Name: p.file}
			cut, err := transcript.CutTurn(p.agent, src, 1)
			p.Must(err)
			var first bytes.Buffer
			p.Must(transcript.WriteCut(&first, p.agent, src, cut.Offset))
			one := take("0", first.Bytes())
			take("1", p.raw)
			// The last turn again, on another day; then the last two; and once more with a turn less.
			for i, turn := range []int{len(p.c.Turns) - 1, 1, len(p.c.Turns) - 1} {
				p.Back(one, restore.Options{Session: w, InPlace: true})
				at := p.c.Turns[turn].Start
				day := []byte("2026-12-0" + string(rune('1'+i)))
				end := int64(len(p.raw))
				take(string(rune('2'+i)), slices.Concat(p.raw[:at], bytes.ReplaceAll(p.raw[at:end], []byte("2026-11-20"), day)))
			}
			names := slices.Sorted(maps.Keys(whole))
			r := rand.New(rand.NewPCG(1, uint64(n)))
			versions := 0
			for i := range 12 {
				was, code := p.Slurp(p.file), p.Read("f")
				name := names[r.IntN(len(names))]
				if i%4 == 0 {
					name = one
				}
				res := p.Back(name, restore.Options{Session: w, InPlace: true})
				now := p.Slurp(p.file)
				want := len(p.scan(p.file, whole[name]).Turns)
				if turns := len(p.scan(p.file, []byte(now)).Turns); turns != res.Conversation.Turn || turns != want {
					t.Fatalf("%.8s: %d turns, told %d, want %d", name, turns, res.Conversation.Turn, want)
				}
				if !conversation.IsDocument(p.file) && !strings.HasPrefix(string(whole[name]), now) {
					t.Fatalf("%.8s: %d bytes are no beginning of the version", name, len(now))
				}
				if res.Conversation.Version {
					versions++
				}
				if res.Operation == nil {
					continue
				}
				p.Settle()
				back, err := p.E.Restorer.UndoRestore(enginetest.Bg, res.Operation.Seq, restore.Options{Env: p.Env()})
				p.Must(err)
				if p.Slurp(p.file) != was || p.Read("f") != code {
					t.Fatalf("%.8s: undo-restore: not as it was: %+v", name, back.Conversation)
				}
				p.Settle()
				if r.IntN(3) > 0 {
					_, err = p.E.Restorer.UndoRestore(enginetest.Bg, back.Operation.Seq, restore.Options{Env: p.Env()})
					p.Must(err)
					if p.Slurp(p.file) != now {
						t.Fatalf("%.8s: undo of the undo-restore: not as it went", name)
					}
					p.Settle()
				}
			}
			if versions == 0 {
				t.Error("the file was never anything but cut")
			}
			p.Verify()
		})
	}
}

// A session file that somebody has damaged, or rewritten, becomes what was captured, and what it was comes back; one
// that is another session's by now, or has been compressed, is left.
func TestCutOfAFileThatIsAnother(t *testing.T) {
	t.Parallel()
	others := func(_, other string) string { return other }
	for name, c := range map[string]struct {
		agent  transcript.Agent
		now    func(text, other string) string
		refuse bool
	}{
		"damaged":       {transcript.Claude, func(string, string) string { return "no record\n" }, false},
		"of another id": {transcript.Claude, others, false},
		"begun otherwise": {
			transcript.Claude, func(text, _ string) string { return strings.Replace(text, "one", "two", 1) }, false,
		},
		"of Codex, of another session's": {transcript.Codex, others, true},
		"of Droid, of another session's": {transcript.Droid, others, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			talk := func(id string) (s *enginetest.Scribe, first string) {
				s = p.Scribe(c.agent, id)
				s.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
				for _, text := range []string{"one", "three"} {
					s.Tell(hooks.Prompt, map[string]any{"prompt": text})
					s.Asked(text)
					p.Write("f", enginetest.Big(text))
					s.Says("done: " + text)
					if h := s.Tell(hooks.Stop, nil); first == "" {
						first = h.Checkpoint.String()
					}
				}
				return s, first
			}
			other, _ := talk(enginetest.Unique())
			s, first := talk(enginetest.Unique())
			p.Settle()
			now := c.now(p.Slurp(s.File), p.Slurp(other.File))
			p.Must(os.WriteFile(s.File, []byte(now), 0o600))
			o := restore.Options{InPlace: true, Env: p.Env()}
			r, err := p.E.Restorer.Checkout(enginetest.Bg, first, o)
			if c.refuse {
				var not *model.NotInPlaceError
				if !errors.As(err, &not) || not.Session != s.Name() || p.Slurp(s.File) != now ||
					p.Read("f") != enginetest.Big("three") {
					t.Errorf("%v, f %.5q", err, p.Read("f"))
				}
				return
			}
			p.Must(err)
			text := p.Slurp(s.File)
			if !r.Conversation.Version || !strings.Contains(text, "done: one") || strings.Contains(text, "three") ||
				p.Read("f") != enginetest.Big("one") {
				t.Errorf("%+v, f %.5q, the file has %q", r.Conversation, p.Read("f"), text)
			}
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, r.Operation.Seq, restore.Options{Env: p.Env()})
			p.Must(err)
			if p.Slurp(s.File) != now {
				t.Error("what it was does not come back")
			}
		})
	}
}

// A file that begins as it was captured is cut, of whatever form it is: that is no other version of it.
func TestCutIsNoOtherVersion(t *testing.T) {
	t.Parallel()
	for n, tt := range agentSamples {
		p := newSampled(t, n)
		if len(p.c.Turns) < 2 {
			continue
		}
		p.stop()
		r := p.Back("turn:1", restore.Options{InPlace: true, Scope: refs.Scope{ContextOnly: true}})
		if c := r.Conversation; c.Mode != model.ConversationInPlace || c.Version || c.Turn != 1 {
			t.Errorf("%s %s: %+v", tt.agent, tt.file, c)
		}
	}
}

// A session that goes on from the file of another one is cut, or nothing has changed where a read of the store fails,
// and gets its end again.
func TestCutOfASegmentWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, files, was := codexRun(t)
	seen, o := newPlaces(), restore.Options{Env: p.Env(), InPlace: true, Scope: talkAlone}
	dry := o
	dry.DryRun = true
	for _, session := range slices.Sorted(maps.Keys(files)) {
		s := p.Session(session)
		name := fmt.Sprintf("turn:%d@%s", s.Turn-1, session)
		if s.Cursor.Base == 0 || s.Turn < 2 {
			continue
		}
		if _, err := p.E.Restorer.Checkout(enginetest.Bg, name, dry); err != nil {
			continue // it stands in the other file, or others go on from it
		}
		p.Write("f", "at its end")
		end, err := p.E.Worktree.Handle(enginetest.Bg, hooks.Event{
			Agent: s.Agent, Session: s.ID, Cwd: p.Root, Kind: hooks.Stop, Transcript: s.Transcript,
		}, capture.HandleOptions{Tier: p.Agent("x").Tier})
		p.Must(err)
		p.Settle()
		seen.fail(p, "cut", func(q *enginetest.Project) (string, error) {
			if j, err := q.E.Log.ReadJournal(); err != nil || j != nil {
				_, err = q.E.Restorer.Abort(enginetest.Bg, q.Env())
				return "", err
			}
			text, err := told(q.E.Restorer.Checkout(enginetest.Bg, name, o))
			if now := q.Slurp(s.Transcript); (err == nil) == (now == was[s.Transcript]) {
				q.T.Fatalf("%v, and %d of %d bytes are left", err, len(now), len(was[s.Transcript]))
			}
			q.Must(os.WriteFile(s.Transcript, []byte(was[s.Transcript]), 0o600))
			return text, err
		})
		cut := p.Checkout(name, o)
		now := p.Session(session)
		if c := cut.Conversation; c.Mode != model.ConversationInPlace || c.Version || now.Turn != s.Turn-1 {
			t.Errorf("%+v, turn %d", c, now.Turn)
		}
		// what is captured has the records of the other file in front, and is another version
		said, base := string(p.Talk(now)), now.Cursor.Base
		later := now.Cursor.Generation > s.Cursor.Generation
		if said[base:] != p.Slurp(s.Transcript) || base != s.Cursor.Base || !later {
			t.Errorf("%d bytes are captured, the cursor is %+v", len(said), now.Cursor)
		}
		p.Settle()
		r := p.Checkout(end.Checkpoint.String(), o)
		if c := r.Conversation; c.Mode != model.ConversationInPlace || !c.Version || p.Session(session).Turn != s.Turn {
			t.Errorf("%+v, turn %d", c, p.Session(session).Turn)
		}
		asItWas(t, p, "to its end", was)
		return
	}
	t.Error("no session that goes on from another file can be cut")
}
