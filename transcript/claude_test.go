package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func lines(text ...string) Source { return bytesSource("test", []byte(strings.Join(text, "\n")+"\n")) }

func forkText(t *testing.T, agent Agent, src Source, f Fork) string {
	t.Helper()
	if f.Cut == 0 {
		f.Cut = src.Size
	}
	f.ID, f.Time = forkID, forkTime
	var b bytes.Buffer
	if err := WriteFork(&b, agent, src, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestClaudeTyped holds which user lines begin a turn.
func TestClaudeTyped(t *testing.T) {
	for line, want := range map[string]bool{
		`"message":{"role":"user","content":"hi"}`:                                                                            true,
		`"message":{"role":"user","content":[{"type":"text","text":"hi"}]}`:                                                   true,
		`"message":{"role":"user","content":[{"type":"image","source":{}}]}`:                                                  true,
		`"message":{"content":[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"text","text":"hi"}]}`:   true,
		`"message":{"content":[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"}]}`:                               false,
		`"message":{"content":"<command-message>review is running…</command-message>\n<command-name>/review</command-name>"}`: true,
		`"message":{"content":"<command-name>/compact</command-name>\n<command-message>compact</command-message>"}`:           false,
		`"message":{"content":"<local-command-stdout>x</local-command-stdout>"}`:                                              false,
		`"message":{"content":"<bash-input>ls</bash-input>"}`:                                                                 false,
		`"message":{"content":"<task-notification>\n<task-id>x</task-id>"}`:                                                   false,
		`"message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}`:                         false,
		`"isMeta":true,"message":{"content":"hi"}`:                                                                            false,
		`"isMeta":false,"message":{"content":"hi"}`:                                                                           true,
		`"isCompactSummary":true,"message":{"content":"This session is being continued"}`:                                     false,
		`"isSidechain":true,"message":{"content":"hi"}`:                                                                       false,
		`"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"hi"}]}`:                                     false,
		`"promptSource":"system","origin":{"kind":"task-notification"},"message":{"content":"hi"}`:                            false,
		`"promptSource":"typed","origin":{"kind":"human"},"message":{"content":"hi"}`:                                         true,
	} {
		c := scan(t, Claude, lines(`{"type":"user","uuid":"u",`+line+`}`))
		if got := len(c.Turns) == 1; got != want {
			t.Errorf("%s: a turn is %v", line, got)
		}
	}
}

func TestClaudeTitle(t *testing.T) {
	const prompt = `{"type":"user","uuid":"u","message":{"content":"  first\n\tprompt "}}`
	for want, text := range map[string][]string{
		"first prompt": {prompt, `{"type":"summary","summary":"old","leafUuid":"u"}`},
		"auto":         {`{"type":"ai-title","aiTitle":"auto"}`, prompt},
		"custom": {
			`{"type":"custom-title","customTitle":"older"}`, prompt, `{"type":"custom-title","customTitle":"custom"}`,
			`{"type":"ai-title","aiTitle":"auto"}`,
		},
	} {
		if c := scan(t, Claude, lines(text...)); c.Title != want {
			t.Errorf("%q, want %q", c.Title, want)
		}
	}
}

// TestClaudeMalleable holds that a fork changes the bytes that it must change and no others, wherever they stand and
// however they are written.
func TestClaudeMalleable(t *testing.T) {
	const old = "11111111-2222-4333-8444-555555555555"
	a := derivedID(forkID, "a")
	from := `,"forkedFrom":{"sessionId":"` + old + `","messageUuid":"`
	for in, want := range map[string]string{
		` { "uuid" : "a" , "n":1.50e+2,"s":"\u00e9\/` + "\xff" + `a ` + old + `","sessionId" : "` + old + `" } ` + "\r": ` { "uuid" : "` +
			a + `" , "n":1.50e+2,"s":"\u00e9\/` + "\xff" + `a ` + old + `","sessionId" : "` + forkID + `" ` + from + `a"}} ` + "\r",
		`{"message":{"uuid":"a","sessionId":"x","parentUuid":"a","content":"a"},"\u0075uid":"\u0061","type":"user"}`: `{"message":{"uuid":"a","sessionId":"x","parentUuid":"a","content":"a"},"\u0075uid":"` + a + `","type":"user"` + from + `a"}}`,
		`{"forkedFrom":{"sessionId":"x","messageUuid":"y"},"uuid":"a"}`:                                              `{"forkedFrom":{"sessionId":"` + old + `","messageUuid":"a"},"uuid":"` + a + `"}`,
		`{"uuid":"a","entrypoint":"sdk-cli","toolUseResult":{"entrypoint":"sdk-cli"}}`: `{"uuid":"` + a +
			`","entrypoint":"cli","toolUseResult":{"entrypoint":"sdk-cli"}` + from + `a"}}`,
		`{"uuid":"a","entrypoint":"vscode","session_id":"x"}`: `{"uuid":"` + a +
			`","entrypoint":"vscode","session_id":"` + forkID + `"` + from + `a"}}`,
		`{"uuid":"a","compactMetadata":{"trigger":"auto","a":{"uuids":["` + old + `","a"]},"n":1}}`: `{"uuid":"` + a +
			`","compactMetadata":{"trigger":"auto","a":{"uuids":["` + derivedID(forkID, old) + `","a"]},"n":1}` + from + `a"}}`,
		`{"uuid":"a","parentUuid":null,"logicalParentUuid":"a","sourceToolAssistantUUID":"a","requestId":"a"}`: `{"uuid":"` + a +
			`","parentUuid":null,"logicalParentUuid":"` + a + `","sourceToolAssistantUUID":"` + a + `","requestId":"a"` + from + `a"}}`,
	} {
		if got := forkText(t, Claude, lines(in), Fork{From: old}); got != want+"\n" {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestClaudeForkLines holds what becomes of lines that are no messages.
func TestClaudeForkLines(t *testing.T) {
	src := lines(
		`{"type":"summary","summary":"x","leafUuid":"c"}`,
		`{"type":"tools-used","tools":["Old"],"sessionId":"s"}`,
		`{"type":"custom-title","customTitle":"x","uuid":"t","sessionId":"s"}`,
		`{"type":"progress","uuid":"p","parentUuid":null,"sessionId":"s"}`,
		`{"type":"user","uuid":"side1","parentUuid":"p","isSidechain":true,"message":{"content":"sub"}}`,
		`no JSON`,
		`{"type":"assistant","uuid":"side2","parentUuid":"side1","isSidechain":true}`,
		`{"type":"user","uuid":"a","parentUuid":"side2","sessionId":"s","message":{"content":"hi"}}`,
		`{"type":"last-prompt","leafUuid":"p","sessionId":"s"}`,
		`{"type":"brand-new","uuid":"n","parentUuid":"a","sessionId":"s"}`,
		`{"type":"brand-new","sessionId":"s"}`,
		`{"type":"tools-used","tools":["New"],"sessionId":"s"}`,
		`{"type":"atis-latch","atis":"","sessionId":"s"}`,
		`{"type":"file-history-snapshot","messageId":"a"}`,
	)
	got := forkText(t, Claude, src, Fork{From: "s", Title: "[Fork] \"hi\" <b>"})
	p, a, n := derivedID(forkID, "p"), derivedID(forkID, "a"), derivedID(forkID, "n")
	want := strings.Join([]string{
		`{"type":"progress","uuid":"` + p + `","parentUuid":null,"sessionId":"` + forkID +
			`","forkedFrom":{"sessionId":"s","messageUuid":"p"}}`,
		`{"type":"user","uuid":"` + a + `","parentUuid":"` + p + `","sessionId":"` + forkID +
			`","message":{"content":"hi"},"forkedFrom":{"sessionId":"s","messageUuid":"a"}}`,
		`{"type":"brand-new","uuid":"` + n + `","parentUuid":"` + a + `","sessionId":"` + forkID +
			`","forkedFrom":{"sessionId":"s","messageUuid":"n"}}`,
		`{"type":"file-history-snapshot","messageId":"` + a + `"}`,
		`{"type":"atis-latch","atis":"","sessionId":"` + forkID + `"}`,
		`{"type":"tools-used","tools":["New"],"sessionId":"` + forkID + `"}`,
		`{"type":"custom-title","sessionId":"` + forkID + `","customTitle":"[Fork] \"hi\" <b>","uuid":"` + derivedID(forkID,
			"custom-title") + `","timestamp":"2026-11-21T08:30:00.005Z"}`,
	}, "\n") + "\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := Check(Claude, bytesSource("fork", []byte(got)), forkID); err != nil {
		t.Error(err)
	}
	root := lines(`{"type":"user","uuid":"x","parentUuid":null,"isSidechain":true}`, `{"type":"user","uuid":"a","parentUuid":"x"}`)
	if got := forkText(t, Claude, root, Fork{}); !strings.Contains(got, `"parentUuid":null`) {
		t.Errorf("the child of a root that is left out: %s", got)
	}
	clone := forkText(t, Claude, src, Fork{From: "s", Clone: true})
	if strings.Contains(clone, "forkedFrom") || strings.Contains(clone, "custom-title") {
		t.Errorf("a clone says that it is a fork: %s", clone)
	}
}

// TestClaudeRewound holds that a fork of a conversation that was rewound ends where the source ends, and says so where
// the source does.
func TestClaudeRewound(t *testing.T) {
	for _, s := range samples(t) {
		if s.name != "claude/2.1.328-rewind.jsonl" {
			continue
		}
		c := scan(t, Claude, s.source())
		gone := []bool{}
		for _, turn := range c.Turns {
			gone = append(gone, turn.Gone)
		}
		if len(gone) != 3 || gone[0] || !gone[1] || gone[2] {
			t.Errorf("gone: %v", gone)
		}
		fork := string(writeFork(t, s, int64(len(s.data))))
		all := strings.Split(strings.TrimSuffix(fork, "\n"), "\n")
		var leaf struct{ Type, LeafUUID string }
		if err := json.Unmarshal([]byte(all[len(all)-2]), &leaf); err != nil || leaf.Type != "last-prompt" {
			t.Fatalf("%v: %s", err, all[len(all)-2])
		}
		last := len(all) - 5
		for strings.Contains(all[last], `"type":"file-history-`) {
			last--
		}
		if want := derivedID(forkID, c.Last); leaf.LeafUUID != want || !strings.Contains(all[last], `"uuid":"`+want) {
			t.Errorf("the leaf is %s, want %s:\n%s", leaf.LeafUUID, want, all[last])
		}
		// the line that takes back the leaf, right behind the rewound prompt
		explicit := bytes.Index(s.data, []byte(`"explicit":true`))
		cut, err := CutAt(Claude, s.source(), int64(explicit+bytes.IndexByte(s.data[explicit:], '\n')+1))
		if err != nil {
			t.Fatal(err)
		}
		if fork := string(writeFork(t, s, cut.Offset)); !strings.Contains(fork, `"leafUuid":"00000000-0000-0000-0000-000000000000"`) {
			t.Errorf("%+v: the leaf is not taken back", cut)
		}
	}
}

// TestClaudeStreamed holds the cut in a message whose tools run while it is being written, and in one that is not
// written out.
func TestClaudeStreamed(t *testing.T) {
	text := []string{
		`{"type":"user","uuid":"a","message":{"content":"hi"}}`,
		`{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m","content":[{"type":"tool_use","id":"1","name":"Read"}]}}`,
		`{"type":"user","uuid":"c","parentUuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"1"}]}}`,
		`{"type":"assistant","uuid":"d","parentUuid":"c","message":{"id":"m","content":[{"type":"tool_use","id":"2","name":"Read"}]}}`,
		`{"type":"user","uuid":"e","parentUuid":"d","message":{"content":[{"type":"tool_result","tool_use_id":"2"}]}}`,
		`{"type":"assistant","uuid":"f","parentUuid":"e","message":{"id":"n","stop_reason":"tool_use","content":[{"type":"text","text":"now"}]}}`,
	}
	ends := []int64{0}
	for _, l := range text {
		ends = append(ends, ends[len(ends)-1]+int64(len(l))+1)
	}
	for at, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 1, 5: 5, 6: 5} {
		cut, err := CutAt(Claude, lines(text...), ends[at])
		if err != nil || cut.Offset != ends[want] || cut.Dropped != at-want {
			t.Errorf("cut behind line %d: %+v, %v, want behind %d", at, cut, err, want)
		}
	}
	if cut, err := CutAt(Claude, lines(text[:3]...), ends[3]); err != nil || cut.Offset != ends[3] {
		t.Errorf("the message as far as it is written: %+v, %v", cut, err)
	}
	c := scan(t, Claude, lines(text...))
	if c.Messages != 3 || c.Turns[0].Answered {
		t.Errorf("%+v", c)
	}
	if _, err := CutTurn(Claude, lines(text[0]), 1); !errors.Is(err, ErrEmpty) {
		t.Errorf("a turn without an answer: %v", err)
	}
}
