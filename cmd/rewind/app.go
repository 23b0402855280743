package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

// app is what every command shares.
type app struct {
	render.Printer
	json      bool
	color     string
	dir       string
	client    *api.Client
	transport *transport
	isCommand func(word string) bool
	dashed    bool                          // "--" stands before the word that is completed: cobra itself puts one there
	bar       atomic.Pointer[term.Progress] // that is drawn; nil: none
	damaged   *api.Error                    // the store was, and what was printed is what it still has
}

// newApp is what a command has at least.
func newApp(s *term.Streams) *app { return &app{Printer: render.Printer{Streams: s}} }

// hintUsage has an error of usage say where the usage is, if it has no better hint.
func hintUsage(err error, cmd *cobra.Command) {
	var told *api.Error
	if errors.As(err, &told) && told.Word == api.WordUsage && told.Hint == "" {
		told.Hint = fmt.Sprintf("'%s --help' shows the usage", cmd.CommandPath())
	}
}

// execute runs a command line and returns its exit code.
func execute(ctx context.Context, args []string, s *term.Streams) int {
	a := newApp(s)
	a.transport = newTransport(commandLine(args))
	a.transport.notice = func(text string) { a.Say("note: %s", term.Sanitize(text)) }
	a.client = &api.Client{Transport: a.transport, Damaged: func(e *api.Error) { a.damaged = e }, Notices: a.Notices}
	hook := len(args) > 0 && args[0] == "hook"
	if !hook {
		a.transport.silent = a.note
	}
	// Completion must be quick, and a hook must not wait for a start; smart-checkpoint is what starts one.
	a.transport.quiet = hook || len(args) > 0 && strings.HasPrefix(args[0], "__complete")
	if hook { // an agent may wait for the end of what it gave
		a.transport.own.Stderr = nil
	} else { // a hook ends in time, its work or not
		defer a.transport.own.Wait()
	}
	root := newRoot(a, args)
	a.isCommand = func(word string) bool { return isCommand(newRoot(newApp(s), nil), word) }
	args, err := a.expand(ctx, root, args)
	if err != nil {
		a.json = slices.Contains(args, "--json")
		return a.fail(err)
	}
	a.dashed = a.transport.quiet && slices.Contains(args[:len(args)-1], "--")
	root.SetArgs(args)
	root.SetIn(s.In)
	checked := &checkedWriter{w: s.Out}
	s.Out = checked
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = checked.err
	}
	if err == nil && a.damaged != nil {
		err = a.damaged
	}
	hintUsage(err, cmd)
	if hook {
		return 0 // whatever the agent's settings made of the command line
	}
	if err != nil {
		return a.fail(err)
	}
	return 0
}

// plainWord is a word of a command line that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./:=@%+,~-]+$`)

// commandLine is a command line as it can be given to a shell again.
func commandLine(args []string) string {
	line := "rewind"
	for _, word := range args {
		if !plainWord.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line += " " + word
	}
	return line
}

// checkedWriter remembers that output was lost, so that the exit code can say so.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// project is the part of a request that says where.
func (a *app) project() api.Project { return api.Project{Dir: api.Text(a.dir)} }

// settle makes the flags common to all commands effective.
func (a *app) settle() error {
	mode, err := term.ParseColorMode(a.color)
	if err != nil {
		return usage("--color %s: want auto, always or never", a.color)
	}
	a.SetColor(mode)
	a.Quiet = a.json
	if a.dir == "" {
		a.dir = workingDir()
	}
	if a.dir, err = filepath.Abs(a.dir); err != nil {
		return err
	}
	if fi, err := os.Stat(a.dir); err != nil || !fi.IsDir() {
		return usage("-C %s: not a directory", a.dir)
	}
	return nil
}

// workingDir is the current directory, or what is left of it when a restore removed it.
func workingDir() string {
	dir, err := os.Getwd()
	if err == nil {
		return dir
	}
	for dir = os.Getenv("PWD"); filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			return dir
		}
	}
	return "."
}

// call sends a request and draws progress.
func call[Req, Resp any](ctx context.Context, a *app, r api.Route[Req, Resp], req Req, title string) (Resp, error) {
	bar := a.Progress(title)
	a.bar.Store(bar)
	defer bar.End()
	defer a.bar.Store(nil)
	defer context.AfterFunc(ctx, func() { bar.Note("interrupted") })() // what is taken back is still waited for
	return api.Call(ctx, a.client, r, req, func(p api.Progress) { bar.Set(p.Phase, int64(p.Files), int64(p.Total)) })
}

// ask is call for a command whose answer with --json is the response: said reports that it was written so, and nothing
// is left to tell.
func ask[Req, Resp any](
	ctx context.Context, a *app, r api.Route[Req, Resp], req Req, title string,
) (resp Resp, said bool, err error) {
	if resp, err = call(ctx, a, r, req, title); err == nil && a.json {
		said, err = true, a.printJSON(resp)
	}
	return resp, said, err
}

// printJSON writes a versioned object.
func (a *app) printJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	head := fmt.Sprintf(`{"version":%d`, api.APIVersion)
	if len(b) > 2 {
		head += ","
	}
	_, err = fmt.Fprintf(a.Out, "%s%s\n", head, b[1:])
	return err
}

// paged is where a listing goes: a pager on a terminal.
func (a *app) paged(fn func(w io.Writer) error) error {
	w, end := a.Pager()
	out := &keptError{w: w}
	err := fn(out)
	if err == nil {
		err = out.err
	}
	return errors.Join(err, end())
}

// keptError keeps the first error of a writer for those who print without looking.
type keptError struct {
	w   io.Writer
	err error
}

func (k *keptError) Write(b []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.w.Write(b)
	k.err = err
	return n, err
}

// usage makes an error of the command line itself.
func usage(format string, args ...any) error {
	return &api.Error{Code: api.CodeOf(api.WordUsage), Word: api.WordUsage, Message: fmt.Sprintf(format, args...)}
}

// blocks is the exit code that agents read as "block": it is never ours.
const blocks = 2

// fail prints an error with its remedy and returns its exit code.
func (a *app) fail(err error) int {
	var told *api.Error
	var ended *api.EndedError
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(err, errNoMatch):
		return api.CodeOf(api.WordFailed)
	case errors.As(err, &told):
	case errors.As(err, &ended):
		told = childText(ended)
	case errors.Is(err, api.ErrCut):
		told = cutText(err)
	case errors.Is(err, context.Canceled):
		// nobody has answered: a command that the daemon has taken back says that nothing was changed
		told = &api.Error{Word: api.WordInterrupted, Message: "interrupted"}
		told.Hint = "'rewind status' says what became of it"
	default:
		told = &api.Error{Word: api.WordFailed, Message: err.Error()}
	}
	told.Code = api.CodeOf(told.Word)
	if ended != nil && ended.Code > blocks { // that of a store whose log cannot be written
		told.Code = ended.Code
	}
	if a.json {
		b, _ := json.Marshal(struct {
			Error *api.Error `json:"error"`
		}{told})
		fmt.Fprintf(a.Err, "%s\n", b)
		return told.Code
	}
	fmt.Fprintf(a.Err, "rewind: %s %s\n", a.StyledErr(term.Error, "error:"), term.SanitizeText(told.Message))
	a.candidates(told)
	if told.Hint != "" {
		fmt.Fprintf(a.Err, "rewind: %s %s\n", a.StyledErr(term.Bold, "hint:"), term.SanitizeText(told.Hint))
	}
	return told.Code
}

// afterDash splits the arguments at "--": names before, paths after.
func afterDash(cmd *cobra.Command, args []string) (names []string, paths []api.Text) {
	i := cmd.ArgsLenAtDash()
	if i < 0 {
		return args, nil
	}
	return args[:i], value.Texts(args[i:])
}
