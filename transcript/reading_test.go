package transcript

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/torture"
	"rewind/internal/value"
)

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// lengthy is a long session file of an agent: its samples one after the other in any order, each with ids of its own.
// Some of Claude's go on from an earlier record, as after a rewind; some of Codex's are rolled back.
func lengthy(t *rapid.T, agent Agent, all []sample) []byte {
	var some [][]byte
	for _, s := range all {
		if s.agent == agent && strings.HasSuffix(s.name, ".jsonl") {
			some = append(some, s.data)
		}
	}
	var out, ids []byte
	for n := range rapid.IntRange(1, 12).Draw(t, "rounds") {
		round := anyID.ReplaceAllFunc(some[rapid.IntRange(0, len(some)-1).Draw(t, "sample")], func(id []byte) []byte {
			return fmt.Appendf(nil, "%s%08x", id[:28], uint32(n*7919)^uint32(id[35])) // one id stays one
		})
		if agent == Claude && n > 0 {
			was := anyID.FindAll(ids, -1)
			parent := was[max(0, len(was)-1-rapid.SampledFrom([]int{0, 0, 0, 1, 5, 30, 200}).Draw(t, "back"))]
			round = bytes.Replace(round, []byte(`"parentUuid":null`), fmt.Appendf(nil, `"parentUuid":"%s"`, parent), 1)
		}
		for line := range bytes.Lines(round) {
			if i := bytes.Index(line, []byte(`"uuid":"`)); i >= 0 {
				ids = append(append(ids, line[i+8:i+44]...), ' ')
			}
		}
		out = append(out, round...)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		if k := rapid.IntRange(0, 6).Draw(t, "rolled back"); agent == Codex && k > 0 && k < 4 {
			out = fmt.Appendf(out, `{"timestamp":"2026-11-20T10:19:29.535Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":%d}}`+
				"\n", k)
		}
	}
	return out
}

// eachLong checks long conversations of each agent. It draws a third of what others do, but at full size.
func eachLong(t *testing.T, check func(t *rapid.T, agent Agent, data []byte)) {
	all := samples(t)
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	if err := checks.Set(strconv.Itoa(torture.Points(12, 100))); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = checks.Set(was) }()
	for _, agent := range value.Agents() {
		t.Run(string(agent), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { check(t, agent, lengthy(t, agent, all)) })
		})
	}
}

// What is read part by part, wherever the parts end, is what is read at once, and stays what it was when more is read.
func TestReadingGoesOn(t *testing.T) {
	eachLong(t, func(t *rapid.T, agent Agent, data []byte) {
		r, at := NewReading(agent), 0
		type seen struct{ got, want *Conversation }
		var before []seen
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			at = rapid.IntRange(at, len(data)).Draw(t, "to")
			if rapid.Bool().Draw(t, "whole") {
				at += bytes.IndexByte(append(bytes.Clone(data[at:]), '\n'), '\n') + 1
				at = min(at, len(data))
			}
			src := bytesSource("session.jsonl", data[:at])
			src.Ended = rapid.Bool().Draw(t, "ended")
			got, err := r.On(src)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Scan(agent, src)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range append(before, seen{got, want}) {
				if !reflect.DeepEqual(s.got, s.want) {
					t.Fatalf("up to %d:\n got %+v\nwant %+v", at, s.got, s.want)
				}
			}
			before = append(before, seen{got, want})
			state := r.State()
			if state == nil || rapid.Bool().Draw(t, "here") {
				continue
			}
			var stored *Conversation // it goes on in another process
			if r, stored = ResumeReading(agent, string(state)); r == nil || !reflect.DeepEqual(stored, want) {
				t.Fatalf("resumed at %d:\n got %+v\nwant %+v", at, stored, want)
			}
		}
	})
}

// What was stored of a reading and is damaged is not gone on with, or can be without harm.
func FuzzResumeReading(f *testing.F) {
	for _, s := range samples(f) {
		r := NewReading(s.agent)
		if _, err := r.On(bytesSource(s.name, s.data)); err == nil {
			f.Add(string(s.agent), r.State(), s.data)
		}
	}
	f.Fuzz(func(t *testing.T, agent string, state, more []byte) {
		r, c := ResumeReading(Agent(agent), string(state))
		if r == nil {
			return
		}
		Branches(c.Turns)
		src := bytesSource("session.jsonl", append(make([]byte, min(r.end, 1<<20)), more...))
		if _, err := r.On(src); err != nil {
			return
		}
	})
}

// The end of a file says what the whole does.
func TestWindowIsTheWhole(t *testing.T) {
	eachLong(t, func(t *rapid.T, agent Agent, data []byte) {
		src := bytesSource("session.jsonl", data)
		n := rapid.IntRange(1, 40).Draw(t, "messages")
		list, err := Messages(agent, src, n)
		if err != nil {
			t.Fatal(err)
		}
		want := unnumbered(list)
		got, err := lastMessages(agent, src, n, rapid.Int64Range(1<<10, 64<<10).Draw(t, "window"))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v:\n got %+v\nwant %+v", err, got, want)
		}
		c, err := Scan(agent, src)
		if err != nil {
			t.Fatal(err)
		}
		for k := range c.Turns {
			want, werr := CutTurn(agent, src, k+1)
			got, err := EndOfTurn(agent, src, c.Turns, k+1)
			if fmt.Sprint(err) != fmt.Sprint(werr) || got != want.Offset {
				t.Fatalf("turn %d ends at %d, %v; want %d, %v", k+1, got, err, want.Offset, werr)
			}
		}
	})
}

// Pages, from either end and of any size, are what is read at once; and a place of a message is that of no other.
func TestPagesAreTheWhole(t *testing.T) {
	eachLong(t, func(t *rapid.T, agent Agent, data []byte) {
		src := bytesSource("session.jsonl", data)
		c, err := Scan(agent, src)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Messages(agent, src, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if want[i].Line = 0; i > 0 && want[i].At <= want[i-1].At {
				t.Fatalf("%d and %d", want[i-1].At, want[i].At)
			}
		}
		n := rapid.IntRange(1, 40).Draw(t, "messages")
		var got []Message
		for at, older := src.Size, true; older; at = got[0].At {
			window := rapid.Int64Range(1, 64<<10).Draw(t, "window")
			p, err := messagesBefore(agent, src, c.Turns, at, n, ShownText, window)
			if err != nil {
				t.Fatal(err)
			}
			if older = p.Older; len(p.Messages) > n || older && len(p.Messages) < n || len(got) > 0 && p.Next != at {
				t.Fatalf("before %d: %d messages, %+v", at, len(p.Messages), p)
			}
			if got = append(p.Messages, got...); len(got) == 0 {
				break
			}
		}
		same(t, "backward", got, want)
		got = nil
		for at := int64(0); at < src.Size; {
			p, err := MessagesFrom(agent, src, c.Turns, at, n, ShownText)
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, p.Messages...); len(p.Messages) > n || p.Next <= at {
				t.Fatalf("from %d: %d messages, %d", at, len(p.Messages), p.Next)
			}
			at = p.Next
		}
		same(t, "forward", got, want)
	})
}

func same(t *rapid.T, what string, got, want []Message) {
	for i := range got {
		got[i].Line = 0
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		for i := range min(len(got), len(want)) {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("%s, %d:\n got %+v\nwant %+v", what, i, got[i], want[i])
			}
		}
		t.Fatalf("%s: %d, want %d", what, len(got), len(want))
	}
}

// counted counts the bytes that are read of a source.
type counted struct {
	io.ReaderAt
	n *int64
}

func (c counted) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, off)
	*c.n += int64(n)
	return n, err
}

// A page of a conversation costs what is around it, though all of that is one turn.
func TestPagesCostAPage(t *testing.T) {
	var b bytes.Buffer
	line := func(i int, kind, message string) {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"%08x-1111-4111-8111-000000000000"`, i-1)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":"%08x-1111-4111-8111-000000000000",`+
			`"timestamp":"2026-11-20T10:00:00.000Z","sessionId":"s","version":"2.1.328"}`+"\n", parent, kind, message, i)
	}
	line(0, "user", `{"role":"user","content":"go"}`)
	const all = 20_000
	for i := 1; i < all; i++ {
		line(i, "assistant", fmt.Sprintf(`{"id":"m%d","role":"assistant","content":[{"type":"text","text":"%d %s"}]}`, i, i,
			strings.Repeat("word ", 100)))
	}
	src := bytesSource("session.jsonl", b.Bytes())
	var read int64
	src.ReaderAt = counted{src.ReaderAt, &read}
	c, err := Scan(Claude, src)
	if err != nil || len(c.Turns) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, at := range []int64{src.Size, src.Size / 2, src.Size / 3} {
		read = 0
		before, err := MessagesBefore(Claude, src, c.Turns, at, 50, ShownText)
		if err != nil || len(before.Messages) != 50 || !before.Older {
			t.Fatalf("%d messages, %v", len(before.Messages), err)
		}
		behind, err := MessagesFrom(Claude, src, c.Turns, before.Messages[0].At, 50, ShownText)
		if err != nil || !reflect.DeepEqual(behind.Messages, before.Messages) || behind.Next != before.Next {
			t.Fatalf("%+v, want %+v", behind, before)
		}
		if read > 5<<20 {
			t.Errorf("%d bytes of %d were read for a page at %d", read, src.Size, at)
		}
	}
}
