package workload

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rewind/transcript"
)

const sessionID = "5f1c0d2e-7a44-4c1b-9d55-0a1b2c3d4e5f"

func scan(t *testing.T, agent transcript.Agent, b []byte) *transcript.Conversation {
	t.Helper()
	src := transcript.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: t.Name()}
	c, err := transcript.Scan(agent, src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A generated session is one that its agent could have written: every turn is seen, and it can be gone on with.
func TestSessionIsASession(t *testing.T) {
	const golden = "938fb8a1303cee22"
	path := filepath.Join(t.TempDir(), sessionID+".jsonl")
	s, turns, err := WriteSession(path, sessionID, "/home/dev/proj", 300<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 300<<10 || len(b) > 500<<10 {
		t.Errorf("%d bytes", len(b))
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(b))[:16]; got != golden {
		t.Errorf("session of seed 1 is %s, was %s", got, golden)
	}
	for range 20 {
		one := s.Reply(1024)
		if len(one) != 1024 {
			t.Errorf("a reply of %d bytes", len(one))
		}
		b = append(b, one...)
	}
	if c := scan(t, transcript.Claude, b); len(c.Turns) != turns || c.ID != sessionID || c.Cwd != "/home/dev/proj" {
		t.Errorf("%d turns of %s in %s, want %d", len(c.Turns), c.ID, c.Cwd, turns)
	}
	if err := transcript.Check(transcript.Claude, transcript.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: path},
		sessionID); err != nil {
		t.Error(err)
	}
}

// What is repeated is one conversation of so many turns.
func TestRepeat(t *testing.T) {
	for _, s := range Samples() {
		t.Run(string(s.Agent), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("../..", s.Path))
			if err != nil {
				t.Fatal(err)
			}
			one := scan(t, s.Agent, b)
			const rounds = 5
			all := Repeat(b, one.ID, s.Head, rounds*len(b)-len(b)/2)
			c := scan(t, s.Agent, all)
			if len(c.Turns) < rounds*len(one.Turns) || c.ID != one.ID || c.Messages < rounds*one.Messages {
				t.Errorf("%d turns, %d messages of %s; one round has %d and %d of %s", len(c.Turns), c.Messages, c.ID, len(one.Turns),
					one.Messages, one.ID)
			}
		})
	}
}
