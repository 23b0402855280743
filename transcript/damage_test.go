package transcript

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// harms are lines that are no records, whatever an agent's crash, a full disk or a hand leaves in a session file.
func harms(t *rapid.T, line string) string {
	if len(line) < 3 {
		return "no JSON\n"
	}
	switch rapid.IntRange(0, 4).Draw(t, "harm") {
	case 0:
		return "\n"
	case 1:
		return "no JSON\n"
	case 2:
		return "[1,2]\n"
	case 3:
		return strings.Repeat("\x00", 64) + "\n"
	}
	return line[:rapid.IntRange(1, len(line)-2).Draw(t, "torn")] + "\n" // half of a record
}

// isFirst says whether a session of the agent is none without its first line.
func isFirst(agent Agent, i int) bool { return i == 0 && agent != Claude }

// TestPromise14BrokenAnywhere holds, for the real files with a broken line put anywhere, or any line but the one that
// says whose session it is torn: it is read and forked, cut at any place; the fork is whole, says what the file says up
// to the cut, and nothing of what stands behind it or is broken.
func TestPromise14BrokenAnywhere(t *testing.T) {
	for _, s := range samples(t) {
		if !hasAll(s) || !strings.HasSuffix(s.name, "l") {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				all := slices.Collect(strings.Lines(string(s.data)))
				for range rapid.IntRange(1, 3).Draw(rt, "lines") {
					i := rapid.IntRange(0, len(all)-1).Draw(rt, "at")
					harm := harms(rt, all[i])
					if rapid.Bool().Draw(rt, "instead") && !isFirst(s.agent, i) && len(all[i]) > 2 {
						all[i] = harm
					} else {
						all = slices.Insert(all, i+1, harm)
					}
				}
				hurt := sample{agent: s.agent, name: s.name, data: []byte(strings.Join(all, ""))}
				if c, err := Scan(s.agent, hurt.source()); err != nil || len(c.Broken) == 0 {
					rt.Fatalf("broken lines: %+v, %v", c, err)
				}
				hurtAt(rt, hurt, rapid.Int64Range(0, int64(len(hurt.data))).Draw(rt, "cut"))
			})
		})
	}
}

// hurtAt forks a file that may be broken, and clones every second one.
func hurtAt(t *rapid.T, s sample, at int64) {
	cut, err := CutAt(s.agent, s.source(), at)
	switch {
	case errors.Is(err, ErrEmpty):
	case err != nil || cut.Offset > at:
		t.Fatalf("cut at %d: %+v, %v", at, cut, err)
	default:
		sameFork(t, s, cut, false)
	}
	if at%2 > 0 {
		return
	}
	whole, err := CutAll(s.agent, s.source())
	if err != nil {
		t.Fatal(err)
	}
	sameFork(t, s, whole, true)
}

// sameFork makes a fork, or a clone, and holds what it says against the beginning of the source.
func sameFork(t *rapid.T, s sample, cut Cut, clone bool) {
	c, err := Scan(s.agent, s.source())
	if err != nil {
		t.Fatal(err)
	}
	f := forkOf(c, cut.Offset)
	f.Clone = clone
	var b bytes.Buffer
	if err := WriteFork(&b, s.agent, s.source(), f); err != nil {
		t.Fatalf("cut at %d: %v", cut.Offset, err)
	}
	fork := bytesSource("fork.jsonl", b.Bytes())
	if cut.Messages > 0 {
		if err := checkFork(s.agent, fork, s.source(), f); err != nil {
			t.Fatalf("cut at %d: %v", cut.Offset, err)
		}
	}
	prefix := bytesSource(s.name, s.data[:cut.Offset])
	prefix.Ended = true
	want, err := Messages(s.agent, prefix, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Messages(s.agent, fork, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]Message{got, want} {
		for i := range list {
			list[i].At, list[i].Line = 0, 0
		}
		timeless(s.agent, list)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("cut at %d: messages differ:\n got %+v\nwant %+v", cut.Offset, got, want)
	}
	if after, err := Scan(s.agent, fork); err != nil || len(after.Broken) > 0 || after.Messages != cut.Messages {
		t.Fatalf("cut at %+v: the fork: %+v, %v", cut, after, err)
	}
}

// compaction is what an agent writes when it makes a summary of what came before.
func compaction(agent Agent) string {
	switch agent {
	case Claude:
		return `{"type":"system","subtype":"compact_boundary","parentUuid":null,"uuid":"boundary","compactMetadata":{"trigger":"auto"}}` +
			"\n" +
			`{"type":"user","parentUuid":"boundary","uuid":"summary","isCompactSummary":true,"message":{"role":"user","content":"a summary"}}` + "\n"
	case Codex:
		return `{"timestamp":"2026-11-20T10:00:02.500Z","type":"compacted","payload":{"message":"a summary","replacement_history":[]}}` + "\n"
	case Gemini, Droid:
	}
	return ""
}

// TestPromise14CompactionAnywhere holds, for the real files with a compaction between any two lines: no call in front
// of it is open behind it, so that all that follows is in a fork, as it would be without.
func TestPromise14CompactionAnywhere(t *testing.T) {
	for _, s := range samples(t) {
		if !hasAll(s) || compaction(s.agent) == "" {
			continue
		}
		all := slices.Collect(strings.Lines(string(s.data)))
		without, err := CutAt(s.agent, s.source(), int64(len(s.data)))
		if err != nil {
			continue // nothing can be forked
		}
		rapid.Check(t, func(rt *rapid.T) {
			i := rapid.IntRange(1, len(all)).Draw(rt, "at")
			text := strings.Join(all[:i], "") + compaction(s.agent) + strings.Join(all[i:], "")
			hurt := sample{agent: s.agent, name: s.name, data: []byte(text)}
			front := int64(len(strings.Join(all[:i], "")) + len(compaction(s.agent)))
			c, err := Scan(s.agent, bytesSource(s.name, hurt.data[:front]))
			if err != nil || len(c.Pending) > 0 {
				rt.Fatalf("behind the compaction: %+v, %v", c, err)
			}
			if cut, err := CutAt(s.agent, hurt.source(), front); err == nil && cut.Offset != front && s.agent == Claude {
				rt.Fatalf("the summary is no end: %+v of %d", cut, front)
			}
			cut, err := CutAt(s.agent, hurt.source(), int64(len(hurt.data)))
			if err != nil || cut.Dropped > without.Dropped {
				rt.Fatalf("compacted behind line %d: %+v, %v, without %+v", i, cut, err, without)
			}
			hurtAt(rt, hurt, rapid.Int64Range(0, int64(len(hurt.data))).Draw(rt, "cut"))
		})
	}
}

// TestPromise14NoNewline holds, for the real files cut anywhere without the newline at their end: nobody who may still
// be written to has that line; of one that has ended it is a record like any other, and the fork gives it its newline.
// What is half a record is none.
func TestPromise14NoNewline(t *testing.T) {
	for _, s := range samples(t) {
		if !hasAll(s) || !strings.HasSuffix(s.name, "l") {
			continue
		}
		all := slices.Collect(strings.Lines(string(s.data)))
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(1, len(all)).Draw(rt, "lines")
			whole := strings.Join(all[:n], "")
			bare := bytesSource(s.name, []byte(strings.TrimSuffix(whole, "\n")))
			live, err := Scan(s.agent, bare)
			if err != nil {
				rt.Fatal(err)
			}
			bare.Ended = true
			ended, err := Scan(s.agent, bare)
			if err != nil {
				rt.Fatal(err)
			}
			want, err := Scan(s.agent, bytesSource(s.name, []byte(whole)))
			if err != nil {
				rt.Fatal(err)
			}
			if live.Records != n-1 || ended.Records != n || ended.End != bare.Size || ended.Messages != want.Messages ||
				len(ended.Turns) != len(want.Turns) {
				rt.Fatalf("%d lines: %d records while it may be written, %d when it has ended, %d bytes of %d", n, live.Records,
					ended.Records, ended.End, bare.Size)
			}
			if cut, err := CutAt(s.agent, bare, bare.Size); err == nil {
				sameFork(rt, sample{agent: s.agent, name: s.name, data: []byte(strings.TrimSuffix(whole, "\n")), over: true}, cut, false)
			}
			torn := bytesSource(s.name, []byte(whole[:len(whole)-2]))
			torn.Ended = true
			if c, err := Scan(s.agent, torn); err != nil || c.Records != n-1 || len(c.Broken) > len(want.Broken) {
				rt.Fatalf("half a record is one: %+v, %v", c, err)
			}
			// What was read so goes on with its newline.
			records := 0
			if err := Read(s.agent, bytesSource(s.name, s.data), bare.Size, func(r *Record) error {
				if records++; r.Kind == Broken {
					rt.Fatalf("%+v", r)
				}
				return nil
			}); err != nil || records != len(all)-n {
				rt.Fatalf("behind line %d: %d records of %d, %v", n, records, len(all)-n, err)
			}
		})
	}
}
