package main

import (
	"github.com/spf13/cobra"

	"rewind/api"
)

// converse fills in what a restore does to the conversation. With paths it does nothing: they are about files alone.
func (a *app) converse(c *api.Wish, paths []api.Text) error {
	if err := contradiction(c, paths); err != nil {
		return err
	}
	if c.CodeOnly || len(paths) > 0 {
		return nil
	}
	c.Env = agentEnv()
	if c.Env.Home != "" {
		return nil
	}
	if c.ContextOnly || aboutTalk(c) {
		return usage("HOME is not set: where the conversation is cannot be told")
	}
	a.Say("note: HOME is not set: the conversation is left alone")
	return nil
}

// aboutTalk reports whether a wish has to do with the conversation alone.
func aboutTalk(c *api.Wish) bool { return c.InPlace || c.Force || c.Title != "" }

// contradiction says which flags of a restore exclude each other.
func contradiction(c *api.Wish, paths []api.Text) error {
	about := aboutTalk(c)
	switch {
	case c.CodeOnly && c.ContextOnly:
		return usage("--code-only and --context-only exclude each other: without both, code and conversation go back")
	case c.CodeOnly && about:
		return usage("--code-only leaves the conversation alone: --in-place, --force and --title do not go with it")
	case len(paths) > 0 && (c.ContextOnly || about):
		return usage("with paths the conversation is left alone: leave out --context-only, --in-place, --force and --title, or the paths")
	case c.InPlace && c.Title != "":
		return usage("--title names a new session, and --in-place makes none: leave one of them out")
	}
	return nil
}

func codeOnlyFlag(cmd *cobra.Command, c *api.Wish) {
	cmd.Flags().BoolVar(&c.CodeOnly, "code-only", false, "leave the conversation alone")
}

func contextOnlyFlag(cmd *cobra.Command, c *api.Wish) {
	cmd.Flags().BoolVar(&c.ContextOnly, "context-only", false, "only the conversation; leave the files alone")
}

// inPlaceFlags are --in-place and --force of what goes somewhere else.
func inPlaceFlags(cmd *cobra.Command, c *api.Wish, does string) {
	cmd.Flags().BoolVar(&c.InPlace, "in-place", false, does+"; undo-restore brings back what it was")
	cmd.Flags().BoolVar(&c.Force, "force", false,
		"of --in-place: also when the agent seems to have the session open, which can spoil it")
}

// forceInPlace refuses --force without --in-place.
func forceInPlace(c *api.Wish) error {
	if c.Force && !c.InPlace {
		return usage("--force goes with --in-place: a new session needs none")
	}
	return nil
}

// titleFlag is --title, whose bytes need not be text.
func titleFlag(cmd *cobra.Command, title *api.Text) {
	cmd.Flags().StringVar((*string)(title), "title", "",
		"the new session's `title`, behind \"[Fork @<turn>] \"; default: that of the old one")
}

// dryRunFlags are --dry-run of a restore, and --plan, which does what a dry run has shown.
func dryRunFlags(cmd *cobra.Command, dryRun *bool, plan *string) {
	cmd.Flags().BoolVarP(dryRun, "dry-run", "n", false, "say what would be done; with --json also its 'plan'")
	cmd.Flags().StringVar(plan, "plan", "",
		"do what a dry run has shown as this `plan`, or nothing if that has changed (exit 21)")
}

// tagFlag is --tag of what goes somewhere else.
func tagFlag(cmd *cobra.Command, tag *api.Text) {
	cmd.Flags().StringVar((*string)(tag), "tag", "", "tag the state before it with this `tag`")
}
