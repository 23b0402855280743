// Command make gives the project in a directory a long history, for measuring whole programs on it: the project is set
// up in REWIND_HOME if it is not yet, and no daemon may have its store open.
package main

import (
	"context"
	"flag"

	"rewind/bench/history"
	"rewind/engine"
	"rewind/engine/project"
)

func main() {
	dir := flag.String("dir", ".", "the project's `directory`, whose files are edited")
	n := flag.Int("checkpoints", 10_000, "how many to make")
	flag.Parse()
	if err := run(context.Background(), *dir, *n); err != nil {
		panic(err)
	}
}

func run(ctx context.Context, dir string, n int) (err error) {
	home, err := project.DefaultHome()
	if err != nil {
		return err
	}
	e, _, err := engine.Init(ctx, home, dir, project.ModeGlobal, project.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := e.Close(); err == nil {
			err = cerr
		}
	}()
	if _, err := e.Worktree.FirstCheckpoint(ctx, nil); err != nil {
		return err
	}
	if err := e.Worktree.Watch(); err != nil {
		return err
	}
	return history.Fill(ctx, e, e.Project().Root, n, nil)
}
