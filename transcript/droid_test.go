package transcript

import (
	"strings"
	"testing"
)

// TestDroidFork holds what a fork changes in the first line, and that it changes nothing else.
func TestDroidFork(t *testing.T) {
	const rest = `{"type":"message","id":"m","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}` + "\n" +
		`{"type":"message","id":"n","parentId":"m","message":{"id":"x","title":"y","role":"assistant","content":[{"type":"text","text":"ho"}]}}` + "\n" +
		`{"type":"message","id":"h","parentId":"n","message":{"role":"user","content":[],"visibility":"user_only","hookEventName":"Stop"}}` + "\n" +
		`{ "type":"future" , "id":"old", "x" : 1e2 }` + "\n"
	for in, want := range map[string]string{
		`{"type":"session_start","id":"old","title":"hi","owner":"old","isSessionTitleManuallySet":false}`: `{"type":"session_start","id":"` + forkID +
			`","title":"[Fork] hi","owner":"old","isSessionTitleManuallySet":true,"parent":"old","forkedAtMessageId":"n"}`,
		`{"parent":"p", "forkedAtMessageId":"q","sessionTitle":"s","id":"old","type":"session_start"}`: `{"parent":"old", "forkedAtMessageId":"n","sessionTitle":"[Fork] hi","id":"` +
			forkID + `","type":"session_start"}`,
		`{"type":"session_start","id":"old"}`: `{"type":"session_start","id":"` + forkID +
			`","title":"[Fork] hi","parent":"old","forkedAtMessageId":"n"}`,
	} {
		src := bytesSource("droid", []byte(in+"\n"+rest))
		got := forkText(t, Droid, src, Fork{From: "old", Title: "[Fork] hi"})
		if got != want+"\n"+rest {
			t.Errorf("%s\n got %s\nwant %s", in, got, want+"\n"+rest)
		}
		if err := Check(Droid, bytesSource("fork", []byte(got)), forkID); err != nil {
			t.Error(err)
		}
		if c := scan(t, Droid, bytesSource("fork", []byte(got))); c.Parent != (Parent{Session: "old", Message: "n"}) || c.ID != forkID ||
			c.Messages != 2 {
			t.Errorf("%+v", c)
		}
	}
	clone := forkText(t, Droid, bytesSource("droid", []byte(`{"type":"session_start","id":"old","title":"hi","parent":"p"}`+"\n"+rest)),
		Fork{From: "old", Title: "hi", Clone: true})
	if want := `{"type":"session_start","id":"` + forkID + `","title":"hi","parent":"p"}` + "\n" + rest; clone != want {
		t.Errorf("a clone: %s", clone)
	}
}

func TestDroidTitle(t *testing.T) {
	const prompt = `{"type":"message","id":"m","message":{"role":"user","content":[{"type":"text","text":"first"}]}}`
	for title, want := range map[string]string{`"given"`: "given", `"New Session"`: "first", `""`: "first", `null`: "first"} {
		if c := scan(t, Droid, lines(`{"type":"session_start","id":"a","title":`+title+`}`, prompt)); c.Title != want {
			t.Errorf("%s: %q", title, c.Title)
		}
	}
}

// TestDroidLine1 holds that a first line that is written anew moves the offsets, and turns and cuts with them.
func TestDroidLine1(t *testing.T) {
	for _, s := range samples(t) {
		if s.agent != Droid {
			continue
		}
		longer := strings.Replace(string(s.data), `"title":"`, `"title":"a longer title, `, 1)
		moved := int64(len(longer) - len(s.data))
		a, err := CutTurn(Droid, s.source(), 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := CutTurn(Droid, bytesSource("longer", []byte(longer)), 1)
		if err != nil || b.Offset != a.Offset+moved || b.LastMessage != a.LastMessage || b.Messages != a.Messages {
			t.Errorf("%s: %+v, %+v, %v", s.name, a, b, err)
		}
	}
}

// TestDroidTyped holds which messages begin a turn.
func TestDroidTyped(t *testing.T) {
	for line, want := range map[string]bool{
		`"id":"a","message":{"role":"user","content":[{"type":"text","text":"hi"}]}`:                                   true,
		`"id":"a","message":{"role":"user","content":"hi"}`:                                                            true,
		`"id":"a","message":{"role":"user","content":[],"visibility":"user_only","hookEventName":"Stop"}`:              false,
		`"id":"a","message":{"role":"user","content":[{"type":"text","text":"hi"}],"visibility":"llm_only"}`:           false,
		`"id":"context-a","message":{"role":"user","content":[{"type":"text","text":"hi"}]}`:                           false,
		`"id":"a","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}`:        false,
		`"id":"a","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"}]}`: false,
		`"id":"a","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]}`:                              false,
	} {
		if c := scan(t, Droid, lines(`{"type":"message",`+line+`}`)); (len(c.Turns) == 1) != want {
			t.Errorf("%s: %d turns", line, len(c.Turns))
		}
	}
	c := scan(t, Droid, lines( // no parents, as older clients write
		`{"type":"message","id":"a","message":{"role":"user","content":"one"}}`,
		`{"type":"message","id":"b","message":{"role":"user","content":"two"}}`))
	if len(c.Turns) != 2 || c.Turns[0].Gone {
		t.Errorf("%+v", c.Turns)
	}
}
