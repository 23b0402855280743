package transcript

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/value"
)

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// lengthy is a long session file of an agent: its samples one after the other in any order, each with ids of its own. Some of Claude's go
// on from an earlier record, as after a rewind; some of Codex's are rolled back.
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

func eachLong(t *testing.T, check func(t *rapid.T, agent Agent, data []byte)) {
	all := samples(t)
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
			if r, stored = ResumeReading(agent, state); r == nil || !reflect.DeepEqual(stored, want) {
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
		r, c := ResumeReading(Agent(agent), state)
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
