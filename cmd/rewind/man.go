package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newMan(a *app) *cobra.Command {
	remove := false
	cmd := &cobra.Command{
		Use: "man <directory> [--remove]", Short: "Write the man pages into a directory",
		Long: "Writes a man page for each command and each help topic into the directory, which is made if it " +
			"does not exist. Pages of another version of rewind are removed. A file of such a name that " +
			"rewind did not write stays, and is an error. --remove removes the pages. 'make install' writes " +
			"them into ~/.local/share/man/man1.",
		Example: "  rewind man ~/.local/share/man/man1\n  rewind man --remove ~/.local/share/man/man1",
		Args:    takes(1, 1, "one directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pages := map[string][]byte{}
			if !remove {
				cmd.Root().InitDefaultVersionFlag()
				manPages(cmd.Root(), pages)
			}
			return a.writeMan(args[0], pages)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take the pages out of the directory")
	return cmd
}

// manMark is how a page begins that rewind has written.
const manMark = `.\" Written by rewind man.` + "\n"

// writeMan makes the pages that rewind has in a directory these, by file name.
func (a *app) writeMan(path string, pages map[string][]byte) error {
	if len(pages) > 0 {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	}
	there, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // and nothing was to be written
	}
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	var ours []string
	for _, e := range there {
		mine, err := isPage(dir, e)
		switch {
		case err != nil:
			return err
		case mine:
			ours = append(ours, e.Name())
		case pages[e.Name()] != nil:
			return &api.Error{
				Word: api.WordFailed, Message: fmt.Sprintf("%s is not rewind's: it is left alone, no page was written",
					term.Quote(filepath.Join(path, e.Name()))),
				Hint: "move it, or choose another directory",
			}
		}
	}
	for name, text := range pages {
		if err := writeIn(dir, name, text); err != nil {
			return err
		}
	}
	gone, err := removeStale(dir, ours, pages)
	if err != nil {
		return err
	}
	if len(pages) > 0 {
		a.Say("%s written", render.Count(len(pages), "page"))
	} else {
		a.Say("%s removed", render.Count(gone, "page"))
	}
	return nil
}

// removeStale removes those of rewind's pages that are no page any more, and counts them.
func removeStale(dir *os.Root, ours []string, pages map[string][]byte) (gone int, err error) {
	for _, name := range ours {
		if pages[name] != nil {
			continue
		}
		if err := dir.Remove(name); err != nil {
			return gone, err
		}
		gone++
	}
	return gone, nil
}

// isPage reports whether an entry is a page that rewind has written.
func isPage(dir *os.Root, e fs.DirEntry) (bool, error) {
	if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), "rewind") || filepath.Ext(e.Name()) != ".1" {
		return false, nil
	}
	f, err := dir.Open(e.Name())
	if err != nil {
		return false, err
	}
	defer f.Close()
	line := make([]byte, len(manMark))
	n, _ := io.ReadFull(f, line)
	return string(line[:n]) == manMark, nil
}

// writeIn puts a file into place whole, with what a umask leaves of 0644.
func writeIn(dir *os.Root, name string, text []byte) error {
	whole := name + ".new"
	if err := dir.WriteFile(whole, text, 0o644); err != nil {
		return err
	}
	return dir.Rename(whole, name)
}

// manPages makes the page of a command and of all below it, by file name. The same version always has the same bytes.
func manPages(cmd *cobra.Command, pages map[string][]byte) {
	cmd.InitDefaultHelpFlag()
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			manPages(c, pages)
		}
	}
	pages[manName(cmd)+".1"] = manPage(cmd)
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(manMark)
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"rewind\"\n.nh\n.ad l\n", strings.ToUpper(name), "rewind "+version())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roff(cmd.UseLine()))
	}
	b.WriteString(".SH DESCRIPTION\n")
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	manText(&b, text)
	var below []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			below = append(below, c)
		}
	}
	if len(below) > 0 {
		b.WriteString(".SH COMMANDS AND TOPICS\n")
		for _, c := range below {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(manName(c)), roff(c.Short))
		}
	}
	manFlags(&b, "OPTIONS", cmd.LocalFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		manText(&b, cmd.Example)
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(manName(cmd.Parent())))
	}
	return b.Bytes()
}

func manFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			head = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + head
		}
		if value != "" {
			head += ` \fI` + roff(value) + `\fR`
		}
		if zero := []string{"", "0", "false", "[]"}; !slices.Contains(zero, f.DefValue) {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", head, roff(usage))
	})
}

// manText sets a page of help: what is indented stays line for line, the rest is filled.
func manText(b *bytes.Buffer, text string) {
	as := false
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		if indented := line[0] == ' '; indented != as {
			as = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[as])
		}
		b.WriteString(roff(line) + "\n")
	}
	if as {
		b.WriteString(".fi\n")
	}
}

// roffEscapes are characters that would be something else in a page than in a terminal.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`, `"`, `\(dq`)

// roff is a line of text in a page.
func roff(line string) string {
	line = roffEscapes.Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
