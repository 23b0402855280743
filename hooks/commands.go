package hooks

import (
	"embed"
	"path"
	"path/filepath"
	"strings"
)

//go:embed commands/*.md
var commandTexts embed.FS

// Command is a file of an agent by which a person calls rewind within a conversation: it tells the model what to run.
type Command struct {
	Name string // as it is typed
	Path string
	Text []byte
}

// Commands returns the command files of an agent at user level; program is the path of rewind. Env and home are as of
// SettingsFiles.
//
//	Claude  as its hooks: commands/<name>.md            /rewind-undo
//	Codex   as its hooks: skills/<name>/SKILL.md        $rewind-undo (0.169 has no prompts of a user's any more)
//	Gemini  as its hooks: commands/<name>.toml          /rewind-undo
//	Droid   as its hooks: commands/<name>.md            /rewind-undo
func Commands(agent Agent, env func(string) string, home, program string) []Command {
	files := SettingsFiles(agent, env, home)
	list, err := commandTexts.ReadDir("commands")
	if len(files) == 0 || err != nil {
		return nil
	}
	dir := filepath.Dir(files[0])
	shell := "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	if strings.Trim(program, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" {
		shell = program
	}
	var out []Command
	for _, e := range list {
		b, err := commandTexts.ReadFile(path.Join("commands", e.Name()))
		if err != nil {
			return nil
		}
		name := strings.TrimSuffix(e.Name(), ".md")
		does, text, _ := strings.Cut(string(b), "\n")
		text = strings.ReplaceAll(text, "@REWIND@", shell)
		fill := func(arguments string) string { return strings.ReplaceAll(text, "@ARGS@", arguments) }
		c := Command{Name: "/" + name}
		switch agent {
		case Codex:
			c.Name, c.Path = "$"+name, filepath.Join(dir, "skills", name, "SKILL.md")
			text = "---\nname: " + name + "\ndescription: " + does + ". Only when the user asks for it by this name.\n---\n\n" +
				fill("what the user names beside this skill")
		case Gemini:
			c.Path = filepath.Join(dir, "commands", name+".toml")
			text = "description = " + tomlString(does) + "\nprompt = '''\n" + strings.ReplaceAll(fill("{{args}}"), "'''", "") + "'''\n"
		default:
			c.Path = filepath.Join(dir, "commands", name+".md")
			// a person calls it: a model that has the idea by itself has to ask
			text = "---\ndescription: " + does + "\ndisable-model-invocation: true\n---\n\n" + fill("$ARGUMENTS")
		}
		c.Text = []byte(text)
		out = append(out, c)
	}
	return out
}
