//go:build acceptance

package acceptance

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestForksByHand holds the drivers and what they look for against forks made by hand: the beginning of a session file
// under a new id, whose right ones go on as they must; and that a copy under another name only, which takes the
// original over or does not open, is seen as wrong.
func TestForksByHand(t *testing.T) {
	each(t, func(w *world, d driver) {
		t := w.T
		id, first := d.twoTurns(w)
		fork := w.byHand(id, first, true)
		w.nameByHand(fork)
		for how, shows := range d.lists(w) {
			t.Logf("%s: %s\n%s", w.client, how, shows)
		}
		w.check("list", d.listed(w, forkTitle))
		w.check("fork by hand", d.apart(w, id, fork))
		if w.agent == "claude" {
			return // takes the file's name for the id
		}
		copied := w.byHand(id, first, false)
		if problems := d.apart(w, id, copied); problems == nil {
			t.Error("nothing is wrong with a copy under another name")
		} else {
			t.Logf("a copy under another name:\n%.2000s", strings.Join(problems, "\n"))
		}
	}, claude, claude20, codex, gemini, geminiOld, droid)
}

// TestCutsByHand holds the same against a session file that was cut by hand: what the model is sent is right
// everywhere, and Codex, which keeps what it shows in a database, shows what was cut off.
func TestCutsByHand(t *testing.T) {
	each(t, func(w *world, d driver) {
		id, first := d.twoTurns(w)
		w.write(w.file(id), first)
		d.must(w, id, "NEXT-CUT please")
		w.check("cut by hand", w.conversation("NEXT-CUT please", with(firstTurn, "NEXT-CUT please"), secondTurn))
		problems := d.shows(w, id, []string{"TURN-1 complete.", "NEXT-CUT complete."}, []string{"TURN-2"})
		if wrong := problems != nil; wrong != (d.client == codex) {
			w.Errorf("%s shows after a cut by hand:\n%s", w.client, strings.Join(problems, "\n"))
		}
	}, claude, codex, gemini, droid)
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// newID is a UUID: of version 7 for Codex, else of version 4.
func newID(agent string) string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	version := byte(4)
	if agent == "codex" {
		version = 7
		now := time.Now().UnixMilli()
		for i := range 6 {
			b[i] = byte(now >> (40 - 8*i))
		}
	}
	b[6], b[8] = b[6]&15|version<<4, b[8]&63|128
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// byHand writes a fork of a session that holds text, the beginning of its file, and returns its id. ids: the id is
// replaced in it, too.
func (w *world) byHand(id, text string, ids bool) string {
	w.Helper()
	old, next := w.file(id), newID(w.agent)
	dir, name := filepath.Split(old)
	if w.agent == "gemini" {
		name = strings.Replace(name, id[:8], next[:8], 1)
	} else {
		name = strings.Replace(name, id, next, 1)
	}
	if ids {
		text = w.renamed(text, id, next)
	}
	w.write(filepath.Join(dir, name), text)
	if w.agent == "droid" {
		w.write(filepath.Join(dir, next+".settings.json"), w.read(strings.TrimSuffix(old, ".jsonl")+".settings.json"))
	}
	return next
}

// nameByHand has Codex take a fork into its index, under a title.
func (w *world) nameByHand(fork string) {
	w.Helper()
	if w.agent != "codex" {
		return
	}
	const ask = `{ echo '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"hand","version":"1"}}}'; echo '{"method":"initialized"}'
sleep 1; echo '{"id":2,"method":"thread/name/set","params":{"threadId":"'$1'","name":"'$2'"}}'; sleep 3; } | "$0" app-server`
	out := w.must("sh", "-c", ask, w.program, fork, forkTitle)
	if !strings.Contains(out, `"id":2,"result"`) {
		w.Fatalf("%s: thread/name/set: %s", w.client, out)
	}
}

// renamed is a session's text under another id and the title of a fork. Claude Code up to 2.0 takes lines with the same
// uuid for one.
func (w *world) renamed(text, id, next string) string {
	w.Helper()
	text = strings.ReplaceAll(text, id, next)
	head, rest, _ := strings.Cut(text, "\n")
	switch w.agent {
	case "claude":
		fresh := map[string]string{}
		for l := range strings.Lines(text) {
			var v struct {
				UUID string `json:"uuid"`
			}
			if json.Unmarshal([]byte(l), &v) == nil && v.UUID != "" {
				fresh[v.UUID] = newID("")
			}
		}
		text = anyID.ReplaceAllStringFunc(text, func(s string) string {
			if f := fresh[s]; f != "" {
				return f
			}
			return s
		})
		return text + fmt.Sprintf(`{"type":"custom-title","customTitle":%q,"sessionId":%q}`, forkTitle, next) + "\n"
	case "droid":
		return w.withField(head, "title", forkTitle) + "\n" + rest
	case "gemini":
		if strings.Contains(head, "sessionId") {
			return text + fmt.Sprintf(`{"$set":{"summary":%q}}`, forkTitle) + "\n"
		}
		return w.withField(text, "summary", forkTitle)
	}
	return text
}

// withField is a JSON object with a field set.
func (w *world) withField(text, field, value string) string {
	w.Helper()
	m := map[string]json.RawMessage{}
	err := json.Unmarshal([]byte(text), &m)
	if err == nil {
		m[field], err = json.Marshal(value)
	}
	b, err2 := json.Marshal(m)
	if err != nil || err2 != nil {
		w.Fatal(err, err2)
	}
	return string(b)
}
