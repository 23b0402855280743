package transcript

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// messagesOf is what a person would read, without where it stands.
func messagesOf(t testing.TB, agent Agent, src Source) []Message {
	t.Helper()
	all, err := Messages(agent, src, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].At, all[i].Line = 0, 0
	}
	return all
}

func bytesSource(name string, data []byte) Source {
	return Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: name}
}

func cutInPlace(t testing.TB, s sample, cut int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCut(&b, s.agent, s.source(), cut); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestForkAnywhere holds, for the real files cut at any byte: the fork is whole, says what the source says up to the
// cut and nothing behind it, is the same when it is made of the source cut there, and a fork of all of it says the
// same.
func TestForkAnywhere(t *testing.T) {
	for _, s := range samples(t) {
		if !hasAll(s) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				forkAt(t, s, rapid.Int64Range(0, int64(len(s.data))+10).Draw(rt, "at"))
			})
			forkAt(t, s, int64(len(s.data)))
		})
	}
}

func forkAt(t *testing.T, s sample, at int64) {
	t.Helper()
	cut, err := CutAt(s.agent, s.source(), at)
	if errors.Is(err, ErrEmpty) {
		return
	}
	if err != nil || cut.Offset > at {
		t.Fatalf("cut at %d: %+v, %v", at, cut, err)
	}
	fork := writeFork(t, s, cut.Offset)
	src := bytesSource("fork", fork)
	if err := Check(s.agent, src, forkID); err != nil {
		t.Fatalf("cut at %d, %d: %v", at, cut.Offset, err)
	}
	prefix := sample{agent: s.agent, name: s.name, data: cutInPlace(t, s, cut.Offset)}
	want, got := timeless(s.agent, messagesOf(t, s.agent, prefix.source())), timeless(s.agent, messagesOf(t, s.agent, src))
	dropped := 0
	if kept := cut.Turns; kept != nil {
		for i := range want {
			want[i].Turn = slices.Index(kept, want[i].Turn) + 1
		}
		for i, turn := range scan(t, s.agent, prefix.source()).Turns[:cut.Turn] {
			if !slices.Contains(kept, i+1) {
				dropped += turn.Messages
			}
		}
		cut.Turn, cut.Messages = len(kept), cut.Messages-dropped
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("cut at %d, %d: messages differ:\n got %+v\nwant %+v", at, cut.Offset, got, want)
	}
	c, err := Scan(s.agent, src)
	if err != nil {
		t.Fatal(err)
	}
	before, err := Scan(s.agent, prefix.source())
	if err != nil {
		t.Fatal(err)
	}
	if before.Messages != cut.Messages+dropped || c.Messages != cut.Messages || len(c.Turns) != cut.Turn ||
		s.agent != Codex && c.Title != ForkTitle(titleOf(t, s), 0) { // Codex keeps titles elsewhere
		t.Fatalf("cut at %d: %+v: the fork has %d messages, %d turns, title %q; the prefix %d messages", at, cut, c.Messages, len(c.Turns),
			c.Title, before.Messages)
	}
	if s.name[len(s.name)-1] == 'l' { // of lines: the prefix is the bytes
		same := writeForkAs(t, prefix, forkOf(&Conversation{ID: idOf(t, s), Title: titleOf(t, s)}, cut.Offset))
		if !bytes.Equal(same, fork) {
			t.Fatalf("cut at %d: the fork of the prefix differs", at)
		}
	}
	again := sample{agent: s.agent, name: "fork", data: fork}
	if more := timeless(s.agent, messagesOf(t, s.agent,
		bytesSource("again", writeFork(t, again, int64(len(fork)))))); !reflect.DeepEqual(more, want) {
		t.Fatalf("cut at %d: the fork of the fork says something else", at)
	}
}

// timeless leaves out the time of the last message, which is the fork's in a fork of Claude's.
func timeless(agent Agent, list []Message) []Message {
	if agent == Claude && len(list) > 0 {
		list[len(list)-1].Time = time.Time{}
	}
	return list
}

func writeForkAs(t testing.TB, s sample, f Fork) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFork(&b, s.agent, s.source(), f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func titleOf(t testing.TB, s sample) string {
	t.Helper()
	c, err := Scan(s.agent, s.source())
	if err != nil {
		t.Fatal(err)
	}
	return c.Title
}

func idOf(t testing.TB, s sample) string {
	t.Helper()
	c, err := Scan(s.agent, s.source())
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// TestCutTurns holds that the end of a turn is in that turn, behind an answer, and has nothing of the next.
func TestCutTurns(t *testing.T) {
	for _, s := range samples(t) {
		c, err := Scan(s.agent, s.source())
		if err != nil {
			t.Fatal(err)
		}
		for i, turn := range c.Turns {
			cut, err := CutTurn(s.agent, s.source(), i+1)
			if err != nil || cut.Offset > turn.End || i+1 < len(c.Turns) && cut.Offset > c.Turns[i+1].Start {
				t.Errorf("%s, turn %d: %+v, %v", s.name, i+1, cut, err)
			}
			if turn.Answered && (cut.Offset != turn.End || cut.Turn != i+1 || cut.Dropped != 0) {
				t.Errorf("%s, turn %d ends at %d: %+v", s.name, i+1, turn.End, cut)
			}
		}
	}
}
