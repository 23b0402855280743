// Package history makes projects with a long history: what agents leave behind in months, by the same calls as their
// hooks make.
package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"rewind/bench/workload"
	"rewind/engine"
)

// The shape of a history: an edit is announced and reported, a turn is a prompt, some edits and an answer.
const (
	turnEdits   = 10
	sessionSize = 500 // edits
	touched     = 64  // files that are edited, spread over the tree
)

// Fill has Claude Code's events make n checkpoints in the project at root, each of one small edit, the session changing
// now and then. Nothing is shortened: each checkpoint is captured, folded and committed as in a hook. e should be
// watched, or each costs a scan of the tree. After each it calls each, unless that is nil.
func Fill(ctx context.Context, e *engine.Engine, root string, n int, each func()) error {
	return FillBy(ctx, e, root, n, 1, each)
}

// FillBy is Fill by so many agents at once, who edit by turns; their turns lie one in the other.
func FillBy(ctx context.Context, e *engine.Engine, root string, n, writers int, each func()) error {
	all, err := workload.Files(root)
	if err != nil {
		return err
	}
	files := workload.Editable(all)
	if len(files) == 0 {
		return fmt.Errorf("history: fill %s: no file to edit", root)
	}
	r := rand.New(rand.NewPCG(1, 'h'))
	few := make([]string, min(touched, len(files)))
	for i := range few {
		few[i] = files[r.IntN(len(files))]
	}
	agents := make([]*Agent, writers)
	for w := range agents {
		if agents[w], err = NewAgent(e, root); err != nil {
			return err
		}
		agents[w].sent = uint64(w) << 32 // an event's number is its own
	}
	for i := range n {
		a, own := agents[i%writers], i/writers // its own edits so far
		if own%sessionSize == 0 {
			err = a.Begin(ctx, fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), i))
		}
		if err == nil && own%turnEdits == 0 {
			err = a.Prompt(ctx, fmt.Sprintf("change number %d", i))
		}
		if err == nil {
			err = edit(ctx, a, few[i%len(few)], i)
		}
		if err == nil && own%turnEdits == turnEdits-1 {
			err = a.Stop(ctx)
		}
		if err != nil {
			return err
		}
		if each != nil {
			each()
		}
	}
	return nil
}

// edit replaces the end of a file, between the two events of a call.
func edit(ctx context.Context, a *Agent, file string, i int) error {
	made, err := a.Edit(ctx, []string{file}, func() error {
		path := filepath.Join(a.root, filepath.FromSlash(file))
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("// edited %12d\n", i)
		if i >= touched && len(b) >= len(line) {
			b = b[:len(b)-len(line)]
		}
		return os.WriteFile(path, append(b, line...), 0o600)
	})
	if err == nil && !made {
		err = fmt.Errorf("history: edit %d of %s made no checkpoint", i, file)
	}
	return err
}
