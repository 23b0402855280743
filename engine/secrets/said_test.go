package secrets_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/purge"
	"rewind/engine/secrets"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/value"
	"rewind/transcript"
	"rewind/transcript/passage"
)

// said is what is told of conversations, the oldest first, a line each.
func said(p *enginetest.Project) string {
	p.T.Helper()
	list, err := p.E.Leaks.Said()
	p.Must(err)
	var out []string
	for _, l := range list {
		one := fmt.Sprintf("%s turn %d record %d %s %s", l.Session[len(l.Session)-1:], l.Turn, l.Record, l.Part, l.Rule)
		out = append([]string{one}, out...)
	}
	return strings.Join(out, ", ")
}

func wantSaid(p *enginetest.Project, want ...string) {
	p.T.Helper()
	if got := said(p); got != strings.Join(want, ", ") {
		p.T.Fatalf("said:\n%s\nwant\n%s", strings.ReplaceAll(got, ", ", "\n"), strings.Join(want, "\n"))
	}
}

// spoken is a session in which each part of two turns has a secret.
func spoken(t *testing.T) (*enginetest.Project, *enginetest.Talker) {
	t.Helper()
	p, k := enginetest.Begun(t)
	k.Ask("use " + token(1) + " please")
	k.Line("assistant", `{"id":"m1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"they gave me `+token(1)+`"},`+
		`{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"curl -H \"X: `+token(2)+`\"\nls"}}]}`)
	k.Line("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a\nTOKEN=`+token(3)+`\nb"}]}`)
	k.Say("done with " + token(4))
	k.Stop()
	k.Take("nothing here", p.Edits("f", "2"))
	k.Take("and \\u0067\nAPI\t"+token(5), p.Edits("f", "3"))
	p.Settle()
	return p, k
}

var spokenFlags = []string{
	"0 turn 1 record 1 prompt github-pat", "0 turn 1 record 2 thinking github-pat", "0 turn 1 record 2 tool input github-pat",
	"0 turn 1 record 3 tool output github-pat", "0 turn 1 record 4 reply github-pat",
}

func TestSaid(t *testing.T) {
	p, k := spoken(t)
	wantSaid(p) // no capture waits for it
	lookForSecrets(p)
	flags := append(spokenFlags, "0 turn 3 record 9 prompt github-pat", "0 turn 3 record 12 reply github-pat")
	list, err := p.E.Leaks.Said()
	p.Must(err)
	if len(list) != len(flags) {
		t.Fatalf("said: %s", said(p))
	}
	one, err := p.E.Leaks.SaidIn(k.Name(), 3)
	p.Must(err)
	if len(one) != 2 || one[0].Turn != 3 {
		t.Errorf("of turn 3: %+v", one)
	}
	for i := range 6 { // nothing has any of it
		secret := token(i)
		p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: secrets.LeakMarkKey}, func(key, val []byte) error {
			if strings.Contains(string(key)+string(val), secret[4:20]) {
				t.Errorf("a flag has the secret: %q %q", key, val)
			}
			return nil
		}))
	}
	// Of each the secret is given that stands there: two of the second record, none of another passage.
	for i, n := range []int{5, 5, 4, 3, 1, 2, 1} {
		if secret, err := p.E.Leaks.SaidSecret(enginetest.Bg, list[i].Found); err != nil || secret != token(n) {
			t.Errorf("%+v: %d bytes, %v", list[i], len(secret), err)
		}
	}
	// Purged with the text; what it was echoed in is gone with it.
	p.Purge(purge.Options{Texts: [][]byte{[]byte(token(5))}})
	for _, l := range list {
		if l.Turn == 3 && strings.Contains(said(p), "turn 3") {
			t.Errorf("said after the purge: %s", said(p))
		}
	}
	p.Verify()
	lookForSecrets(p)
	if strings.Contains(said(p), "turn 3") {
		t.Errorf("said after another look: %s", said(p))
	}
}

// TestSaidByEveryAgent: each agent's records are understood, and its own repetitions are told once.
func TestSaidByEveryAgent(t *testing.T) {
	for _, agent := range []hooks.Agent{hooks.Claude, hooks.Codex, hooks.Gemini, hooks.Droid} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		s := p.Scribe(agent, enginetest.Unique())
		s.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
		s.Tell(hooks.Prompt, map[string]any{"prompt": "go"})
		s.Asked("use " + token(1))
		s.Result("call_1", "Bash", "TOKEN="+token(2))
		s.Says("it is " + token(3))
		s.Tell(hooks.Stop, nil)
		p.Settle()
		lookForSecrets(p)
		list, err := p.E.Leaks.Said()
		p.Must(err)
		parts := map[string]int{}
		for _, l := range list {
			parts[l.Part]++
			secret, err := p.E.Leaks.SaidSecret(enginetest.Bg, l.Found)
			if err != nil || !strings.HasPrefix(secret, "gh"+"p_") {
				t.Errorf("%s: %+v: %v", agent, l, err)
			}
		}
		if parts["prompt"] != 1 || parts["tool output"] != 1 || parts["reply"] != 1 || len(list) != 3 {
			t.Errorf("%s: %+v", agent, list)
		}
	}
}

// TestSaidGoesOn: only what was appended is looked at, through a kill at any point, and a secret that lies across two
// blocks is found.
func TestSaidGoesOn(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Ask("one")
	at := len(p.Slurp(k.File))
	k.Say(strings.Repeat("x ", (conversation.TranscriptBlock-at-330)/2) + token(1) + strings.Repeat(" y", 3000))
	k.Stop()
	for i := range 30 {
		k.Take(fmt.Sprintf("turn %d %s", i, strings.Repeat("word ", 2000)), nil)
	}
	k.Take("the last "+token(2), nil)
	p.Settle()
	for i := 0; ; i++ {
		if i > 300 {
			t.Fatal("it does not come to its end")
		}
		ctx := &stopAfter{Context: enginetest.Bg, left: 1500}
		err := p.E.Leaks.ScanForSecrets(ctx, false)
		p.Must(p.E.Close())
		e, oerr := engine.Open(enginetest.Bg, p.Home, p.Root, p.Options())
		p.Must(oerr)
		p.E = e
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	got := said(p)
	if !strings.Contains(got, "turn 1 record 2 reply") || !strings.Contains(got, "turn 32 record 63 prompt") {
		t.Fatalf("said: %s", got)
	}
	k.Take("more "+token(3), nil)
	p.Settle()
	asked := int64(0)
	ctx := &counted{Context: enginetest.Bg, n: &asked}
	p.Must(p.E.Leaks.ScanForSecrets(ctx, false))
	if got := said(p); !strings.Contains(got, "turn 33 record 65 prompt") || asked > 3000 {
		t.Errorf("said: %s; asked %d times", got, asked)
	}
	p.Must(p.E.Leaks.ScanForSecrets(enginetest.Bg, false))
}

// counted counts how often it is asked: by each rule about each text.
type counted struct {
	context.Context
	n *int64
}

func (c *counted) Err() error { *c.n++; return nil }

// TestSaidAnew: a conversation that was written anew keeps its flags where its bytes are the same, and is looked at
// where they are not. What
// gc takes away is told no more.
func TestSaidAnew(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one "+token(1), p.Edits("f", "1"))
	k.Say(strings.Repeat("x ", conversation.TranscriptBlock))
	k.Take("two "+token(2), p.Edits("f", "2"))
	p.Settle()
	lookForSecrets(p)
	before := said(p)
	if strings.Count(before, "github-pat") != 4 {
		t.Fatalf("said: %s", before)
	}
	file := p.Slurp(k.File)
	file = strings.Replace(file, "two "+token(2), "two "+token(9), 1)
	p.Must(os.WriteFile(k.File, []byte(file), 0o600))
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	lookForSecrets(p)
	if got := said(p); strings.Count(got, "turn 1") != 2 {
		t.Errorf("said: %s", got)
	}
	p.Gc(gc.Options{})
	lookForSecrets(p)
}

func TestSaidOff(t *testing.T) {
	p, _ := spoken(t)
	lookForSecrets(p)
	p.Set("secrets.mode", "off")
	wantSaid(p)
}

// TestSaidInAnImage: base64 is passed over, and what is behind it is not.
func TestSaidInAnImage(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Ask("look")
	image, _ := json.Marshal("see data:image/png;base64," + strings.Repeat("iVBORw0KGgo", 1<<16) + " and " + token(1))
	k.Line("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":`+string(image)+`}]}`)
	k.Say("seen")
	k.Stop()
	p.Settle()
	lookForSecrets(p)
	wantSaid(p, "0 turn 1 record 2 tool output github-pat")
}

// TestPromise15Added: a moment tells what it brought, and not what its tree has besides.
func TestPromise15Added(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("prod.env", "A=1\nTOKEN="+token(1)+"\n")
	p.Write("b", "b")
	first := p.Save("one")
	p.Write("b", "TOKEN="+token(2)+"\n")
	second := p.Save("two")
	p.Write("prod.env", "A=2\nTOKEN="+token(1)+"\n") // the same secret
	third := p.Save("three")
	p.Write("prod.env", "A=2\nTOKEN="+token(3)+"\n") // another
	fourth := p.Save("four")
	p.Write("c", "c")
	fifth := p.Save("five")
	lookForSecrets(p)
	for _, c := range []struct{ of, want string }{
		{first.ID.String(), "prod.env"},
		{second.ID.String(), "b"},
		{third.ID.String(), ""},
		{fourth.ID.String(), "prod.env"},
		{fifth.ID.String(), ""},
	} {
		shown, err := p.E.History.Show(enginetest.Bg, c.of, nil)
		p.Must(err)
		var got []string
		for _, l := range shown.Leaks {
			got = append(got, string(l.Path))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s tells %q, want %q", shown.Cause.Message, got, c.want)
		}
	}
	wantLeaks(p, "b github-pat:1, prod.env github-pat:2 x3")
}

// TestSaidByRealAgents: nothing that the agents themselves write looks like a secret.
func TestSaidByRealAgents(t *testing.T) {
	s, err := leaks.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range value.Agents() {
		names, err := filepath.Glob("../../transcript/testdata/" + string(agent) + "/*.json*")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no session files, %v", agent, err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r := passage.Reader{Passage: func(rec *transcript.Record, p *passage.Passage) error {
				list, err := s.Find(enginetest.Bg, "conversation", p.Text)
				for _, f := range list {
					t.Errorf("%s:%d: %s in a %s", name, rec.Line, f.Rule, p.Part)
				}
				return err
			}}
			src := transcript.Source{ReaderAt: strings.NewReader(string(b)), Size: int64(len(b)), Name: name, Ended: true}
			if err := r.Read(agent, src, 0); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestSaidUpToAStep: what was said is looked at as far as the newest step has it, whether an event came behind it or
// not.
func TestSaidUpToAStep(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Ask("go")
	k.Work(func() {
		p.Write("f", enginetest.Big("1"))
		k.Say("it is " + token(1))
	})
	lookForSecrets(p)
	wantSaid(p, "0 turn 1 record 3 reply github-pat")
}
