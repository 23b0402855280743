package capture_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// has is what a tree has at a path, a digit; -: nothing.
func has(p *enginetest.Project, root objstore.ID, path string) string {
	e, err := tree.Lookup(p.E.Log.Objs, root, path)
	if err != nil {
		return "-"
	}
	for text := range strings.SplitSeq("0 1 2 3 4 5", " ") {
		if e.ID == enginetest.TestID(text) {
			return text
		}
	}
	return "?"
}

// TestNamedFiles: a file that a call of an edit tool names is captured before the call and behind it, though a rule
// leaves it out; what cannot be captured is told by the end of the call, unless that failed.
func TestNamedFiles(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "*.log\nout/\n")
	p.Set("limits.file_size", "1000")
	p.Write("f", "0")
	p.Write("node_modules/m/x", "0")
	p.Write("nested/.agent/rewind/id", "id\n")
	p.Write(".env", "KEY=0")
	for _, name := range []string{"large.log", "large", "huge.log"} {
		p.Write(name, strings.Repeat("0", 2000))
	}
	p.Write("dir.log/x", "0")
	p.Must(syscall.Mkfifo(p.Path("pipe.log"), 0o600))
	elsewhere := t.TempDir()
	p.Must(os.Symlink("a.log", p.Path("inside")))
	p.Must(os.Symlink(elsewhere, p.Path("away")))
	p.Must(os.Symlink("new.log", p.Path("dangling")))
	p.Save("first")
	a := p.Agent("a")
	a.Prompt("x")
	for _, tt := range []struct {
		what, paths, before, after string // contents of the first path; "": the call does not write it
		how                        string // of the call: "", failed, unannounced, or a shell's
		at                         string // where it is captured; "": at its path
		want                       string // in the base and in the new state, and what is told
	}{
		{"captured anyway", "f", "", "1", "", "", "0 1"},
		{"ignored", "a.log", "1", "2", "", "", "1 2"},
		{"known by now", "a.log", "", "3", "", "", "2 3"},
		{"by another way", "out/../a.log", "", "4", "", "a.log", "3 4"},
		{"by a link", "inside", "", "5", "", "a.log", "4 5"},
		{"by a link that leads to nothing yet", "dangling", "", "1", "", "new.log", "- 1"},
		{"made in an ignored directory", "out/d/x", "", "1", "", "", "- 1"},
		{"below what no capture enters", "node_modules/m/x", "", "1", "", "", "0 1"},
		{"another project's", "nested/x.log", "", "1", "", "", "- -"},
		{"a secret", ".env", "", "KEY=1", "", "", "- - .env secret"},
		{"git's", ".git/config", "", "x", "", "", "- - .git/config built-in"},
		{"too large", "large.log", "", strings.Repeat("1", 2000), "", "", "- - large.log size"},
		{"made small", "large.log", "", "1", "", "", "1 1 large.log ignored"},
		{"made small, of no rule", "large", "", "1", "", "", "- 1 large size"},
		{"beside one that is too large", "g.log huge.log", "1", "2", "", "g.log", "1 2 huge.log size"},
		{"a pipe", "pipe.log", "", "", "", "", "- - pipe.log pipe"},
		{"a directory", "dir.log", "", "", "", "", "- - dir.log ignored"},
		{"below a file", "f/x", "", "", "", "", "- -"},
		{"outside", elsewhere + "/y", "", "", "", "", "- - " + elsewhere + "/y"},
		{"outside by a link", "away/x", "", "1", "", "", "- - " + elsewhere + "/x"},
		{"outside, failed", "away/x", "", "2", "failed", "", "- -"},
		{"failed", "b.log", "1", "2", "failed", "", "1 2"},
		{"not announced", "c.log", "1", "2", "unannounced", "", "2 2 c.log ignored"},
		{"made, not announced", "d.log", "", "1", "unannounced", "", "1 1 d.log ignored"},
		{"a shell names nothing", "e.log", "1", "2", "shell", "", "- -"},
	} {
		names := strings.Fields(tt.paths)
		full := names[0]
		if !filepath.IsAbs(full) {
			full = p.Path(full)
		}
		write := func(text string) {
			if text != "" {
				p.Must(os.MkdirAll(filepath.Dir(full), 0o755))
				p.Must(os.WriteFile(full, []byte(text), 0o644))
			}
		}
		tool := hooks.Tool{Name: "Write", Call: tt.what, Class: hooks.Editor, Paths: names}
		if tt.how == "shell" {
			tool.Class, tool.Paths = 0, nil
		}
		write(tt.before)
		if tt.how != "unannounced" {
			a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
		}
		write(tt.after)
		a.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool, Failed: tt.how == "failed"}, capture.HandleOptions{})
		var edits []string
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			for _, e := range model.EditsOf(op) {
				if edits = append(edits, e.Path); e.Reason != 0 {
					edits = append(edits, tree.ReasonWord(e.Reason))
				}
			}
			return kv.ErrStop
		}))
		head, err := p.E.Log.Head()
		p.Must(err)
		cp, err := p.E.Log.Checkpoint(head.Checkpoint)
		p.Must(err)
		base := cp.Base
		if base.IsZero() {
			parent, err := p.E.Log.Checkpoint(cp.Parents[0])
			p.Must(err)
			base = parent.Tree
		}
		at := tt.at
		if at == "" {
			at = names[0]
		}
		got := slices.Concat([]string{has(p, base, at), has(p, cp.Tree, at)}, edits)
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}
