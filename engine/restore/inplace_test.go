package restore_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
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
