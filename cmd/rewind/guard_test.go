package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"rewind/internal/guard"
	"rewind/internal/term"
	"rewind/internal/torture"
)

var update = flag.Bool("update", false, "write what the guard knows of the command line anew")

// tree is a command line as the program makes it, without what it would run.
func tree() *cobra.Command {
	s, _, _ := term.Test("", false)
	return newRoot(newApp(s), nil)
}

// walk calls fn for a command and all below it, in order.
func walk(c *cobra.Command, fn func(c *cobra.Command, path string)) {
	fn(c, strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "rewind"), " "))
	for _, sub := range c.Commands() {
		walk(sub, fn)
	}
}

// grammarText is internal/guard/grammar.go for the program as it is.
func grammarText() string {
	var b strings.Builder
	b.WriteString("package guard\n\n" +
		"// grammar is what rewind takes: each command with its other names and its flags; the first is the program " +
		"itself, whose\n" +
		"// flags all others have but those behind \"|\". A flag has its letter behind it, and \"=\" where a value has to " +
		"follow;\n" +
		"// \"--\" at the end: behind the first word nothing is a flag. TestGuardGrammar holds it against the program, and " +
		"writes\n" +
		"// it with -update.\n" +
		"const grammar = `")
	walk(tree(), func(c *cobra.Command, path string) { b.WriteString(entry(c, path)) })
	return b.String() + "`\n"
}

// entry is a command's part of the grammar.
func entry(c *cobra.Command, path string) string {
	c.InitDefaultHelpFlag()
	var every, own []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		text := f.Name
		if f.Shorthand != "" {
			text += "," + f.Shorthand
		}
		if f.NoOptDefVal == "" {
			text += "="
		}
		if c.Root().PersistentFlags().Lookup(f.Name) != nil || f.Name == "help" {
			every = append(every, text)
		} else {
			own = append(own, text)
		}
	})
	if c.HasParent() {
		every = nil
	} else {
		every = append(every, "|")
	}
	if len(c.Aliases) > 0 {
		path += " (" + strings.Join(c.Aliases, " ") + ")"
	}
	if !interspersed(c) {
		own = append(own, "--")
	}
	line, text := path+":", ""
	for _, word := range append(every, own...) {
		if len(line)+1+len(word) > 130 {
			text, line = text+line+"\n", " "
		}
		line += " " + word
	}
	return text + line + "\n"
}

// interspersed asks pflag, which does not tell, whether flags may stand behind the first word.
func interspersed(c *cobra.Command) bool {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	*fs = *c.Flags()
	_ = fs.Parse([]string{"x", "--help"})
	return fs.NArg() == 1
}

// TestGuardGrammar: the guard knows every command and every flag.
func TestGuardGrammar(t *testing.T) {
	t.Parallel()
	walk(tree(), func(c *cobra.Command, path string) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if isBool := f.Value.Type() == "bool"; isBool != (f.NoOptDefVal == "true") || !isBool &&
				f.NoOptDefVal != "" {
				t.Errorf("%s --%s: the guard reads no flag that may or may not have a value", path, f.Name)
			}
		})
	})
	file, want := filepath.Join("..", "..", "internal", "guard", "grammar.go"), grammarText()
	if *update {
		must(t, os.WriteFile(file, []byte(want), 0o644))
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what the commands take (%v): go test ./cmd/rewind -run TestGuardGrammar -update", file, err)
	}
}

// asCobra reads a command line with the program's own readers: what the program would do.
type asCobra struct {
	path       string
	alias      bool // a word that is no command: the user's own may be anything
	acts       bool // the command runs: neither help nor an error of its flags
	dry        bool
	on         func(flag string) bool
	value      func(flag string) string
	words      []string
	parseError error
}

func readAsCobra(args []string) asCobra {
	s, _, _ := term.Test("", false)
	root := newRoot(newApp(s), args) // one command alone, where it stands first
	if at := firstWord(args); at >= 0 && !isCommand(root, args[at]) {
		return asCobra{alias: true, acts: true}
	}
	c, rest, err := root.Find(args)
	if err != nil {
		return asCobra{parseError: err}
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	r := asCobra{path: strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "rewind"), " ")}
	r.on = func(flag string) bool { on, err := c.Flags().GetBool(flag); return err == nil && on }
	r.value = func(flag string) string {
		if f := c.Flags().Lookup(flag); f != nil && f.Changed {
			return f.Value.String()
		}
		return ""
	}
	r.parseError = c.ParseFlags(rest)
	r.words = c.Flags().Args()
	r.acts = r.parseError == nil && !r.on("help") && !r.on("version") && c.Runnable()
	r.dry = r.on("dry-run")
	return r
}

// destroys says which command lines a person has to type. The guard has the same in its own words.
func (r *asCobra) destroys() bool {
	if r.alias {
		return true
	}
	if !r.acts || r.dry {
		return false
	}
	switch r.path {
	case "checkout", "switch", "forward", "undo", "redo", "undo-restore", "pick", "revert", "gc", "purge", "ui",
		"stores join",
		"stores remove", "worktrees remove", "forks delete", "forks prune", "daemon stop", "uninstall":
		return true
	case "init":
		return r.on("remove") || r.on("adopt")
	case "fork":
		return r.on("checkout")
	case "verify":
		return r.on("repair")
	case "config":
		return len(r.words) > 1 || r.on("unset") || r.on("unregister-hooks") || r.value("tier") != ""
	}
	return false
}

// asked is what the guard says to a command line.
func asked(t interface{ Fatal(...any) }, args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = strconv.Quote(a)
	}
	payload := `{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":{"command":["rewind"` + "," + strings.Join(words, ",") + `]}}`
	if len(args) == 0 {
		payload = strings.Replace(payload, ",]", "]", 1)
	}
	return guard.Check([]byte(payload), guard.Context{})
}

// checkReading compares the guard's reading of a command line with the program's.
func checkReading(t interface {
	Errorf(string, ...any)
	Fatal(...any)
}, args []string,
) {
	r := readAsCobra(args)
	why := asked(t, args)
	if slices.Contains([]string{"bisect run", "bisect last-good"}, r.path) {
		return // what it runs is judged
	}
	if r.destroys() && why == "" {
		t.Errorf("rewind %q passes, and the program does it (%s)", args, r.path)
	}
	if !r.destroys() && why != "" && r.parseError == nil {
		t.Errorf("rewind %q is refused, and the program does nothing (%s): %s", args, r.path, why)
	}
}

// spellings of a flag that is true or false, and whether it is on then is pflag's to say.
var spellings = []string{
	"", "=true", "=false", "=0", "=1", "=t", "=f", "=T", "=F", "=TRUE", "=FALSE", "=True", "=False", "=", "=no",
	"=maybe", " false",
	" true",
	"=false =true", "=true =false",
}

// TestGuardReadsEveryFlag: each command with each spelling of each of its flags, alone and beside others, is judged as
// the program acts.
func TestGuardReadsEveryFlag(t *testing.T) {
	t.Parallel()
	n := 0
	walk(tree(), func(c *cobra.Command, path string) {
		c.InitDefaultHelpFlag()
		names := [][]string{strings.Fields(path)}
		for _, a := range c.Aliases {
			names = append(names, append(strings.Fields(path)[:max(len(strings.Fields(path))-1, 0)], a))
		}
		for _, name := range names {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				for _, line := range spelled(name, f) {
					if n++; torture.Today(n) {
						checkReading(t, line)
					}
				}
			})
		}
	})
}

// spelled are command lines with a flag in every spelling.
func spelled(name []string, f *pflag.Flag) (lines [][]string) {
	add := func(parts ...[]string) { lines = append(lines, slices.Concat(parts...)) }
	all, decides := spellings, f.Name == "dry-run" || f.Name == "help"
	if !decides {
		all = []string{"", "=false", "=x", " x"}
	}
	forms := []string{"--" + f.Name}
	if f.Shorthand != "" {
		forms = append(forms, "-"+f.Shorthand)
	}
	for _, form := range forms {
		for _, s := range all {
			var words []string
			for i, part := range strings.Split(s, " ") {
				if i > 0 && !strings.HasPrefix(part, "=") {
					words = append(words, part)
				} else {
					words = append(words, form+part)
				}
			}
			add(name, words, []string{"x"})
			add(name, []string{"x", "y"}, words)
			add(name, []string{"--dry-run"}, words)
			if !decides {
				continue
			}
			add(words, name, []string{"x"})
			add(name, []string{"x", "--"}, words)
			add(name, words, []string{"--dry-run=false", "x"})
			add(name, []string{"--session"}, words)
			if len(name) > 1 {
				add(name[:1], words, name[1:], []string{"x"})
			}
		}
		if len(form) == 2 {
			for _, cluster := range []string{
				"n" + form[1:], form[1:] + "n", form[1:] + "n=false", form[1:] + "=false",
				"h" + form[1:],
			} {
				add(name, []string{"-" + cluster, "x"})
			}
		}
	}
	return lines
}

// TestGuardReadsAnyLine is the same for command lines that nobody has thought of.
func TestGuardReadsAnyLine(t *testing.T) {
	t.Parallel()
	var words []string
	walk(tree(), func(c *cobra.Command, path string) {
		c.InitDefaultHelpFlag()
		words = append(append(words, strings.Fields(path)...), c.Aliases...)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			words = append(words, "--"+f.Name)
			if f.Shorthand != "" {
				words = append(words, "-"+f.Shorthand)
			}
		})
	})
	words = append(words, "--", "-", "x", "", "--nosuch", "-z", "-test.v", "---", "--=", "-n=", "-yn", "-nh",
		"hooks.guard", "false", "@-")
	slices.Sort(words)
	words = slices.Compact(words)
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			w := rapid.SampledFrom(words).Draw(t, "word")
			if strings.HasPrefix(w, "-") {
				w += rapid.SampledFrom([]string{"", "", "=false", "=0", "=true", "=x", "=", "n", "f"}).Draw(t, "value")
			}
			return w
		}), 1, 6).Draw(t, "args")
		checkReading(t, args)
	})
}
