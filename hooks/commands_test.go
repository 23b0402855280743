package hooks

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func envOf(set map[string]string) func(string) string {
	return func(name string) string { return set[name] }
}

// A command's file lies where its agent looks, has in front what the agent wants, and calls the program as a shell
// takes it.
func TestCommands(t *testing.T) {
	const does = "List the last turns that rewind keeps of this project"
	for _, c := range []struct {
		agent                           Agent
		program                         string
		name, path, begins, calls, asks string
	}{
		{
			Claude, "/r/azAZ09/rewind-1.0_b", "/rewind-%", "/h/.claude/commands/rewind-%.md",
			"---\ndescription: " + does + "\ndisable-model-invocation: true\n---\n\nRun this ",
			"    /r/azAZ09/rewind-1.0_b list -n 20\n", "$ARGUMENTS",
		},
		{
			Codex, "/a b/rewind", "$rewind-%", "/h/.codex/skills/rewind-%/SKILL.md",
			"---\nname: rewind-list\ndescription: " + does +
				". Only when the user asks for it by this name.\n---\n\nRun this ",
			"    '/a b/rewind' list -n 20\n", "what the user names beside this skill",
		},
		{
			Gemini, "/o'neil/rewind", "/rewind-%", "/h/.gemini/commands/rewind-%.toml",
			"description = \"" + does + "\"\nprompt = '''\nRun this ",
			`    '/o'\''neil/rewind' list -n 20` + "\n", "{{args}}",
		},
		{
			Droid, "/r/$x", "/rewind-%", "/h/.factory/commands/rewind-%.md",
			"---\ndescription: " + does + "\ndisable-model-invocation: true\n---\n\nRun this ",
			"    '/r/$x' list -n 20\n", "$ARGUMENTS",
		},
	} {
		got := Commands(c.agent, envOf(nil), "/h", c.program)
		if len(got) != 3 {
			t.Fatalf("%s: %d commands", c.agent, len(got))
		}
		for i, word := range []string{"back", "list", "undo"} {
			name, path := strings.ReplaceAll(c.name, "%", word), strings.ReplaceAll(c.path, "%", word)
			if got[i].Name != name || got[i].Path != path {
				t.Errorf("%s: %s in %s, want %s in %s", c.agent, got[i].Name, got[i].Path, name, path)
			}
			text := string(got[i].Text)
			if strings.Contains(text, "@REWIND@") || strings.Contains(text, "@ARGS@") {
				t.Errorf("%s: not filled in:\n%s", name, text)
			}
			if c.agent == Gemini {
				var file struct{ Description, Prompt string }
				err := toml.Unmarshal(got[i].Text, &file)
				if err != nil || file.Description == "" || file.Prompt == "" {
					t.Errorf("%s: %+v, %v", name, file, err)
				}
			}
		}
		if list := string(got[1].Text); !strings.HasPrefix(list, c.begins) || !strings.Contains(list, c.calls) {
			t.Errorf("%s: want %q and %q in\n%s", c.agent, c.begins, c.calls, list)
		}
		if back := string(got[0].Text); !strings.Contains(back, "at this place: "+c.asks+"\n") {
			t.Errorf("%s: want %q in\n%s", c.agent, c.asks, back)
		}
	}
	if got := Commands("amp", envOf(nil), "/h", "/r/rewind"); got != nil {
		t.Errorf("of an agent that is not known: %v", got)
	}
}
