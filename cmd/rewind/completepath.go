package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

// completeFiles offers what cat takes: places, and behind the colon of one the files that it has.
func completeFiles(a *app, session *string) cobra.CompletionFunc {
	places := completePlaces(a, 1, session)
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		place, rest, there := a.splitPlace(word)
		typed := strings.TrimSuffix(word, rest)
		if there && !strings.HasSuffix(typed, ":") { // no name is asked for yet
			return places(cmd, args, word)
		}
		name, path, of := naming.SplitPath(rest + "x") // no path is empty
		path = strings.TrimSuffix(path, "x")
		if !of {
			list, how := places(cmd, args, word)
			return list, how | cobra.ShellCompDirectiveNoSpace // a colon comes next
		}
		if len(args) > 0 || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		dir := path[:strings.LastIndexByte(path, '/')+1]
		sent := api.Text(name)
		if there {
			sent = api.Text(place + ":" + name)
		}
		r, err := api.Call(cmd.Context(), a.client, api.Entries, api.EntriesRequest{
			Project: a.project(), Walk: api.Walk{Session: *session, Choose: true}, Checkpoint: sent, Path: api.Text(dir),
		}, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var c pathChoice
		for _, e := range r.Entries {
			c.add(typed+name+":"+dir+string(e), word)
		}
		return c.list, c.how
	}
}

// pathChoice collects paths to choose from.
type pathChoice struct {
	list []string
	seen map[string]bool
	how  cobra.ShellCompDirective
}

// add offers a path that begins with the word that was typed, as far as the next slash. One that no line can have is
// left out.
func (c *pathChoice) add(path, word string) {
	c.how |= cobra.ShellCompDirectiveNoFileComp
	if !strings.HasPrefix(path, word) || term.Sanitize(path) != path {
		return
	}
	if i := strings.IndexByte(path[len(word):], '/'); i >= 0 {
		path = path[:len(word)+i+1]
		c.how |= cobra.ShellCompDirectiveNoSpace // more comes behind it
	}
	if c.seen[path] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[path] = true
	c.list = append(c.list, path)
}

// completePaths offers the files that are there, and those that checkpoints had and that are gone.
func (a *app) completePaths(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
	if a.settle() != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var c pathChoice
	dir := word[:strings.LastIndexByte(word, '/')+1]
	there := filepath.Join(a.dir, dir)
	if filepath.IsAbs(dir) {
		there = dir
	}
	entries, _ := os.ReadDir(there) // a directory that is gone has none
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		if name[0] != '.' || strings.HasPrefix(word[len(dir):], ".") {
			c.add(dir+name, word)
		}
	}
	r, err := api.Call(cmd.Context(), a.client, api.Entries, api.EntriesRequest{Project: a.project(), Touched: true}, nil)
	if err != nil {
		return c.list, c.how
	}
	at := a.dir
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	for _, e := range r.Entries {
		path := filepath.Join(string(r.Root), string(e))
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if rel, err := filepath.Rel(at, path); err == nil {
			c.add(rel, strings.TrimPrefix(word, "./"))
		}
	}
	return c.list, c.how
}
