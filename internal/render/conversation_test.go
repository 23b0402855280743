package render

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

func TestShellLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"claude", "--resume", "1a2b-3c"}, "claude --resume 1a2b-3c"},
		{[]string{"x", "a b", "", "it's", "$(rm)", "~", "*", "a\nb"}, `x 'a b' '' 'it'\''s' '$(rm)' '~' '*' 'a` + "\n" + `b'`},
	} {
		got := ShellLine(c.args)
		if got != c.want {
			t.Errorf("shellLine(%q) = %s, want %s", c.args, got, c.want)
		}
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+got).Output()
		if err != nil {
			t.Fatal(err)
		}
		if back := strings.Join(c.args, "\x00") + "\x00"; string(out) != back {
			t.Errorf("the shell reads %s as %q, want %q", got, out, back)
		}
	}
}

func TestTellConversation(t *testing.T) {
	t.Parallel()
	const id = "1a2b3c4d-0000-4000-8000-000000000000"
	resume := []string{"claude", "--resume", id}
	fork := &api.Fork{ID: id, Agent: "claude", Title: "[Fork] \x1b[2J\nx", Listed: true, Resume: resume}
	warned := *fork
	warned.Listed, warned.Problem, warned.Compacted, warned.Before, warned.Dropped = false, "no \x1b]0;x", true, true, 1
	warned.Why = "the call of \x1b[2J had no result yet"
	for _, c := range []struct {
		name      string
		talk      *api.Conversation
		dry       bool
		out, errs string
	}{
		{name: "nothing asked"},
		{name: "none", talk: &api.Conversation{Mode: "none"}},
		{
			name: "none with a reason", talk: &api.Conversation{Mode: "none", Why: "because\x1b"},
			errs: `rewind: note: the conversation stays as it is: because\x1b` + "\n",
		},
		{
			name: "fork", talk: &api.Conversation{Mode: "fork", Fork: fork, Turn: 1, Resume: resume},
			out: `conversation: new session 1a2b3c4d "[Fork] \x1b[2J\nx", ends with turn 1` + "\n  claude --resume " + id + "\n",
		},
		{
			name: "fork, dry run", talk: &api.Conversation{Mode: "fork", Fork: fork, Turn: 1, Resume: resume},
			dry: true,
			out: `conversation: would be a new session "[Fork] \x1b[2J\nx", that ends with turn 1` + "\n",
		},
		{
			name: "fork with warnings", talk: &api.Conversation{Mode: "fork", Fork: &warned, Turn: 1},
			out: `conversation: new session 1a2b3c4d "[Fork] \x1b[2J\nx", ends with turn 1` + "\n",
			errs: "rewind: note: left out 1 record before that place: the call of \\x1b[2J had no result yet\n" +
				"rewind: note: the conversation was compacted before that place: the model sees the summary, and what came after it\n" +
				"rewind: note: the original was compacted after that place: in the fork the model sees again what the summary " +
				"there left out\n" +
				`rewind: note: claude does not list it: no \x1b]0;x; the command opens it all the same` + "\n",
		},
		{
			name: "in place", talk: &api.Conversation{Mode: "in-place", Turn: 3, Resume: resume},
			out: "conversation: cut back to the end of turn 3 (the part cut off: rewind undo-restore brings it back)\n  claude --resume " +
				id + "\n",
		},
		{
			name: "original", talk: &api.Conversation{Mode: "original", Resume: resume},
			out: "conversation: as it is, it ends there\n  claude --resume " + id + "\n",
		},
		{
			name: "taken back", talk: &api.Conversation{
				Mode: "back", Resume: resume, Removed: []api.Text{"/x\x1b"},
				Kept: []api.Text{"/y"},
			},
			out: "conversation: back as it was\n  claude --resume " + id + "\n" + `removed, nobody had used it: "/x\033"` +
				"\nkept, somebody has used it: /y\n",
		},
		{
			name: "taken back, dry run", dry: true,
			talk: &api.Conversation{Mode: "back", Resume: resume, Removed: []api.Text{"/x"}},
			out:  "conversation: would be as it was\nwould be removed, nobody has used it: /x\n",
		},
	} {
		s, out, errs := term.Test("", false)
		a := &Printer{Streams: s}
		a.tellConversation(api.RestoreResponse{Conversation: c.talk, DryRun: c.dry})
		if out.String() != c.out || errs.String() != c.errs {
			t.Errorf("%s:\n%s%swant\n%s%s", c.name, out, errs, c.out, c.errs)
		}
	}
}

func TestShowMessages(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 9, 45, 0, 0, time.UTC)
	s, out, _ := term.Test("", false)
	a := &Printer{Streams: s}
	a.ShowMessages(out, []api.Message{
		{Who: "user", Time: at, Text: "do\x1b[2J it\n\nplease\n"},
		{Who: "assistant", Time: at, Text: "Yes."},
		{
			Who: "assistant", Time: at,
			Calls: []api.ToolCall{{Name: "Bash", Target: "go test\n./..."}, {Name: "Stop\x07"}},
		},
		{Who: "tool", Time: at, Text: "ok"},
		{Who: "assistant", Time: at, Text: "Long", Cut: true},
		{Who: "user", Time: at, Text: "thanks"},
		{Who: "user", Time: at},
	})
	const want = `
user  2026-11-20T09:45:00Z
  do\x1b[2J it

  please

assistant  2026-11-20T09:45:00Z
  Yes.
  Bash  go test\n./...
  Stop\x07
  Long
  (the rest is left out)

user  2026-11-20T09:45:00Z
  thanks
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPromptsTakenBack: some prompts that go are printed, all are counted, also those of which only the number came.
func TestPromptsTakenBack(t *testing.T) {
	t.Parallel()
	r := api.RestoreResponse{TakenBack: "one", TakenMore: 270}
	for _, p := range strings.Fields("two three four five six seven eight nine") {
		r.TakenToo = append(r.TakenToo, api.Text(p))
	}
	s, out, _ := term.Test("", false)
	(&Printer{Streams: s}).tellPrompt(r)
	printed := min(promptLines, len(r.TakenToo))
	want := "and " + Count(len(r.TakenToo)-printed+r.TakenMore, "more prompt") + "\n"
	if got := out.String(); !strings.HasPrefix(got, "the prompt that was taken back:\n  one\nand with it:\n  two\n") ||
		!strings.HasSuffix(got, want) {
		t.Errorf("%q, want it to end with %q", got, want)
	}
}
