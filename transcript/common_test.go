package transcript

import (
	"bytes"
	"strings"
	"testing"
)

// TestCommon holds where two conversations part, for every way in which agents, and rewind, make one of another.
func TestCommon(t *testing.T) {
	check := func(name string, agent Agent, parent, child Source, turn int, message string) {
		t.Helper()
		same, err := Common(agent, parent, child)
		n, id := max(same.Turn, same.Behind), same.Message
		if err != nil || n != turn || id != message {
			t.Errorf("%s: turn %d, %q, %v; want turn %d, %q", name, n, id, err, turn, message)
		}
	}
	of := func(name string) sample {
		agent, _, _ := strings.Cut(name, "/")
		return sample{agent: Agent(agent), name: name, data: load(t, name)}
	}
	// A fork that ends with a turn, and goes on with a turn of its own, of each agent: rewind's own, which Claude's SDK
	// makes the same way.
	for name, own := range map[string]string{
		"claude/2.1.328-2turns-resumed.jsonl": `{"type":"user","uuid":"own","parentUuid":null,"sessionId":"` + forkID +
			`","message":{"content":"own"}}`,
		"codex/0.169.0-2turns.jsonl":         codexSays("user", "own"),
		"droid/0.225.2-2turns.jsonl":         `{"type":"message","id":"own","message":{"role":"user","content":[{"type":"text","text":"own"}]}}`,
		"gemini/0.61.0-2turns-resumed.jsonl": geminiUser("own", "own"),
	} {
		s := of(name)
		for turn := range len(scan(t, s.agent, s.source()).Turns) + 1 {
			if turn == 0 {
				continue
			}
			cut, err := CutTurn(s.agent, s.source(), turn)
			if err != nil {
				t.Fatal(err)
			}
			f := append(writeFork(t, s, cut.Offset), own+"\n"...)
			check(name, s.agent, s.source(), bytesSource("fork.jsonl", f), turn, cut.LastMessage)
		}
		check("itself, "+name, s.agent, s.source(), s.source(), cutLast(t, s).Turn, cutLast(t, s).LastMessage)
	}

	// Claude's --fork-session: the same uuids, another session id, no forkedFrom, and lines left out.
	claude := of("claude/2.1.328-2turns-resumed.jsonl")
	one, err := CutTurn(Claude, claude.source(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(claude.data[:one.Offset])) {
		if strings.Contains(line, `"parentUuid"`) {
			kept = append(kept, strings.ReplaceAll(line, "ebff9c8c-9244-4377-9d19-38d5f444917f", forkID))
		}
	}
	same := strings.Join(kept, "") +
		`{"type":"user","uuid":"own","parentUuid":"` + one.LastMessage + `","sessionId":"` + forkID +
		`","message":{"content":"own"}}` + "\n"
	check("--fork-session", Claude, claude.source(), text("x", same), 1, one.LastMessage)
	other := of("claude/2.1.328-image.jsonl")
	check("strangers", Claude, claude.source(), other.source(), 0, "")

	// Codex: by reference, as a segment, and either with its base in front, as it is captured.
	for segment, base := range map[string]string{
		"0.169.0-2turns-fork":       "0.169.0-2turns",
		"0.169.0-backtrack-segment": "0.169.0-backtrack",
	} {
		b := of("codex/" + base + ".jsonl")
		at, err := BaseOf(Codex, of("codex/"+segment+".jsonl").source())
		if err != nil {
			t.Fatal(err)
		}
		cut, err := CutAt(Codex, b.source(), at.EndOffset)
		if err != nil {
			t.Fatal(err)
		}
		check(segment, Codex, b.source(), of("codex/"+segment+".jsonl").source(), cut.Turn, cut.LastMessage)
		if strings.HasSuffix(segment, "-segment") { // it is the thread itself, which has what it left
			cut = cutLast(t, b)
		}
		check(segment+", joined", Codex, b.source(), joined(t, base, segment).source(), cut.Turn, cut.LastMessage)
		check(segment+" of another", Codex, of("codex/0.169.0-code-mode.jsonl").source(),
			of("codex/"+segment+".jsonl").source(), 0, "")
	}
	// A fork by reference of a file that has its own base in front: the offset is the file's, the ordinal is true in
	// both.
	front := joined(t, "0.169.0-2turns", "0.169.0-2turns-fork")
	child := `{"timestamp":"2026-11-20T10:00:09Z","ordinal":63,"type":"session_meta","payload":{"id":"` + forkID +
		`","history_base":{"thread_id":"01a1f866-261e-7193-aa11-1f08f64f2d6f","end_ordinal_exclusive":63,"end_byte_offset":20}}}` + "\n"
	check("a base with a base", Codex, front.source(), text("x", child), 3, cutLast(t, front).LastMessage)

	// Codex before it had ids: the same words in the same order.
	old := codexLines(codexSays("user", "one"), codexSays("assistant", "1"), codexSays("user", "two"),
		codexSays("assistant", "2"))
	fork := strings.Replace(old, codexOld, forkID, 1)
	fork = strings.Replace(fork, codexSays("user", "two"), codexSays("user", "other"), 1)
	check("old Codex", Codex, text("p", old), text("c", fork), 1, "")

	// Droid: /rewind-conversation goes on under another id with the same messages.
	droid, back := of("droid/0.225.2-2turns.jsonl"), of("droid/0.225.2-rewind.jsonl")
	both, err := Common(Droid, droid.source(), back.source())
	n, id := both.Turn, both.Message
	if err != nil || n != 1 || !bytes.Contains(back.data, []byte(`"id":"`+id+`"`)) {
		t.Errorf("Droid, back: turn %d, %q, %v", n, id, err)
	}
	start := []byte(`{"type":"session_start","id":"x","parent":"y","forkedAtMessageId":"` + cutLast(t, droid).LastMessage + `"}` + "\n")
	check("Droid, by the header alone", Droid, droid.source(), bytesSource("x", start), 2,
		cutLast(t, droid).LastMessage)
	if _, err := Common("opencode", droid.source(), back.source()); err == nil {
		t.Error("an agent that is not known has something in common")
	}
}

func cutLast(t testing.TB, s sample) Cut {
	t.Helper()
	cut, err := CutAt(s.agent, s.source(), int64(len(s.data)))
	if err != nil {
		t.Fatal(err)
	}
	return cut
}

// TestCommonCodexTurns: Codex's copies have the ids that the turns had, which are made in order of time. What a client
// says at once behind a copy, with the same words and no slower than it was copied, is its own.
func TestCommonCodexTurns(t *testing.T) {
	const before, first, second, fork, own = "01a214ba-f5c7-7f01-be81-f4e788b6e811",
		"01a214ba-f671-7d40-af97-b0a1c674be7f",
		"01a214bb-029d-7e93-a1bb-15bd2b199dfa", "01a214bb-f983-7330-8dfa-985f5e424d92",
		"01a214bb-f9e4-7b12-ac43-834e9a78e0a8"
	meta := func(id, from string) string {
		return `{"timestamp":"2026-11-25T22:02:07.600Z","type":"session_meta","payload":{"id":"` + id + `"` + from + `}}` + "\n"
	}
	turn := func(id, at, words string) string {
		line := func(kind, payload string) string {
			return `{"timestamp":"2026-11-25T22:02:0` + at + `Z","type":"` + kind + `","payload":{` + payload + "}}\n"
		}
		return line("event_msg", `"type":"task_started","turn_id":"`+id+`"`) +
			line("response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"`+words+`"}]`) +
			line("response_item", `"type":"message","role":"assistant","content":[{"type":"output_text","text":"`+words+`, done"}]`)
	}
	parent := text("p", meta(before, "")+turn(first, "6.900", "go on")+turn(second, "7.200", "again"))
	child := text("c", meta(fork, `,"forked_from_id":"`+before+`"`)+meta(before, "")+
		turn(first, "7.610", "go on")+turn(own, "7.640", "again"))
	same, err := Common(Codex, parent, child)
	if err != nil || same.Turn != 1 {
		t.Errorf("the same up to turn %d, %v", same.Turn, err)
	}
	trace, err := TraceOf(Codex, child, fork)
	if err != nil || trace.Shown != 1 || !trace.Own {
		t.Errorf("it says that turns up to %d are copies, of its own %v, %v", trace.Shown, trace.Own, err)
	}
	slow := text("c", meta(fork, `,"forked_from_id":"`+before+`"`)+meta(before, "")+
		turn(first, "7.610", "go on")+turn(second, "7.910", "again"))
	if trace, err := TraceOf(Codex, slow, fork); err != nil || trace.Shown != 2 || trace.Own {
		t.Errorf("of a slow copy turns up to %d are copies, of its own %v, %v", trace.Shown, trace.Own, err)
	}
}
