package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// wayOf is a branch in a word: after:turns<the branch that it parted from, p by a parent or r by a record.
func wayOf(list []Branch) string {
	var words []string
	for _, b := range list {
		words = append(words,
			fmt.Sprintf("%d:%s<%d%c", b.After, strings.Trim(fmt.Sprint(b.Turns), "[]"), b.Within, "?pr"[b.How]))
	}
	return strings.Join(words, ", ")
}

// TestBranches holds which ways were left within one file, for each agent, and what is none.
func TestBranches(t *testing.T) {
	claude := func() *claudeLines { return new(claudeLines) }
	droid := func(list ...string) []string { // id, parent, what: p a prompt, r a reply, t a result
		out := []string{`{"type":"session_start","id":"s","title":"t"}`}
		for _, word := range list {
			id, rest, _ := strings.Cut(word, "<")
			parent, kind, _ := strings.Cut(rest, " ")
			role, content := "user", `[{"type":"text","text":"say `+id+`"}]`
			switch kind {
			case "r":
				role = "assistant"
			case "t":
				content = `[{"type":"tool_result","tool_use_id":"x","content":"y"}]`
			}
			if parent != "" {
				parent = `"parentId":"` + parent + `",`
			}
			out = append(out, `{"type":"message","id":"`+id+`",`+parent+`"message":{"role":"`+role+`","content":`+content+`}}`)
		}
		return out
	}
	codex := func(list ...string) (out []string) {
		for _, word := range list {
			switch what, text, _ := strings.Cut(word, " "); what {
			case "back":
				out = append(out,
					`{"timestamp":"2026-11-20T10:00:00.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":`+text+`}}`)
			case "reply":
				out = append(out,
					`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"`+text+`"}]}}`)
			default:
				out = append(out,
					`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"`+word+`"}]}}`)
			}
		}
		return out
	}
	for _, tt := range []struct {
		name  string
		agent Agent
		lines []string
		want  string
	}{
		{"no way was left", Claude, claude().prompt("a", "").reply("b").prompt("c", "b").reply("d").text, ""},
		{
			"a turn", Claude,
			claude().prompt("a", "").reply("b").prompt("c", "b").reply("d").prompt("e", "b").reply("f").text, "1:2<0p",
		},
		{
			"turns together", Claude,
			claude().prompt("a", "").reply("b").prompt("c", "b").reply("d").prompt("e", "d").reply("f").prompt("g",
				"b").reply("h").text,
			"1:2 3<0p",
		},
		{
			"further up than where a prompt went on from", Claude,
			claude().prompt("a", "").reply("b").reply("c").prompt("d", "c").reply("e").prompt("f", "b").reply("g").text,
			"1:2<0p",
		},
		{
			"twice at one place", Claude,
			claude().prompt("a", "").reply("b").prompt("c", "b").reply("d").prompt("e", "b").reply("f").prompt("g",
				"b").reply("h").text,
			"1:2<0p, 1:3<0p",
		},
		{
			"within a way that was left", Claude,
			claude().prompt("a", "").reply("b").prompt("c", "b").reply("d").prompt("e", "d").reply("f").prompt("g",
				"d").reply("h").
				prompt("i", "b").reply("j").text,
			"1:2 4<0p, 2:3<1p",
		},
		{
			"back on a way that was left", Claude,
			claude().prompt("a", "").reply("b").prompt("c", "b").reply("d").prompt("e", "b").reply("f").prompt("g",
				"d").reply("h").text,
			"1:3<0p",
		},
		{"before the first prompt", Claude, []string{
			`{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"one"}}`,
			`{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m","content":[{"type":"text","text":"1"}]}}`,
			`{"type":"user","uuid":"c","parentUuid":null,"message":{"content":"two"}}`,
		}, "0:1<0p"},
		{
			"nothing has answered", Claude,
			claude().prompt("a", "").reply("b").prompt("c", "b").prompt("e", "b").reply("f").text, "",
		},
		{"said again", Claude, []string{
			`{"type":"user","uuid":"a","message":{"content":"one"}}`,
			`{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"two"}}`,
			`{"type":"assistant","uuid":"c","parentUuid":"b","message":{"id":"m","content":[{"type":"text","text":"1"}]}}`,
			`{"type":"user","uuid":"d","parentUuid":"a","message":{"content":"two"}}`,
		}, ""},
		{"calls side by side", Claude, []string{
			`{"type":"user","uuid":"a","message":{"content":"one"}}`,
			`{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m","content":[{"type":"tool_use","id":"x","name":"R","input":{}}]}}`,
			`{"type":"assistant","uuid":"c","parentUuid":"b","message":{"id":"m","content":[{"type":"tool_use","id":"y","name":"R","input":{}}]}}`,
			`{"type":"user","uuid":"d","parentUuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"1"}]}}`,
			`{"type":"user","uuid":"e","parentUuid":"c","message":{"content":[{"type":"tool_result","tool_use_id":"y","content":"` +
				`{\"type\":\"user\",\"uuid\":\"q\",\"parentUuid\":\"a\"}"}]}}`,
			`{"type":"user","uuid":"f","parentUuid":"d","message":{"content":"two"}}`,
			`{"type":"user","isSidechain":true,"uuid":"g","parentUuid":"a","message":{"content":"side"}}`,
			`{"type":"user","uuid":"h","parentUuid":"f","message":{"content":"three"}}`,
		}, ""},
		{"compacted", Claude, append(claude().prompt("a", "").reply("b").prompt("c", "b").reply("d").text,
			`{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"d","uuid":"e"}`,
			`{"type":"user","isCompactSummary":true,"uuid":"f","parentUuid":"e","message":{"content":"s"}}`,
			`{"type":"user","uuid":"g","parentUuid":"f","message":{"content":"on"}}`), ""},
		{"a reply in front of its prompt", Claude, []string{
			`{"type":"user","uuid":"a","message":{"content":"one"}}`,
			`{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m","content":[{"type":"text","text":"1"}]}}`,
			`{"type":"assistant","uuid":"d","parentUuid":"c","message":{"id":"n","content":[{"type":"text","text":"2"}]}}`,
			`{"type":"user","uuid":"c","parentUuid":"b","message":{"content":"two"}}`,
			`{"type":"user","uuid":"e","parentUuid":"d","message":{"content":"three"}}`,
		}, ""},
		{"of Droid", Droid, droid("a<", "b<a r", "c<b", "d<c r", "e<b", "f<e r"), "1:2<0p"},
		{"of Droid none", Droid, droid("a<", "b<a r", "x<b t", "y<b t", "c<y", "d<c r", "e<d"), ""},
		{"of Droid without parents", Droid, droid("a<", "b< r", "c<", "d< r"), ""},
		{
			"of Codex", Codex,
			codex("one", "reply 1", "two", "reply 2", "three", "reply 3", "back 2", "four", "reply 4"), "1:2 3<0r",
		},
		{"of Codex again", Codex, codex("one", "reply 1", "two", "reply 2", "back 1", "two", "reply 3"), ""},
		{"of Codex not gone on from", Codex, codex("one", "reply 1", "two", "reply 2", "back 1"), "1:2<0r"},
		{"of Gemini", Gemini, []string{
			geminiUser("p1", "one"), geminiModel("m1", "1", ""), geminiUser("p2", "two"), geminiModel("m2", "2", ""),
			`{"$rewindTo":"p2"}`, geminiUser("p3", "three"),
		}, "1:2<0r"},
	} {
		src := lines(tt.lines...)
		if tt.agent == Gemini {
			src.Name = "s.jsonl"
		}
		if got := wayOf(Branches(scan(t, tt.agent, src).Turns)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestBranchesOfSamples holds what real files have: those in which a person went back, and no other.
func TestBranchesOfSamples(t *testing.T) {
	has := map[string]string{"claude/2.1.328-rewind.jsonl": "1:2<0p", "gemini/0.61.0-rewind.jsonl": "1:2<0r"}
	for _, s := range samples(t) {
		if got := wayOf(Branches(scan(t, s.agent, s.source()).Turns)); got != has[s.name] {
			t.Errorf("%s: %q, want %q", s.name, got, has[s.name])
		}
	}
}
