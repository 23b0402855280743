package view

import (
	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// Purge puts on a sheet what a purge takes out of the store, or did, and what stays.
func (f Frame) Purge(s *Sheet, r *api.PurgeResponse) {
	switch s.Target = "what has a text in it"; {
	case s.Path != "":
		s.Target = pathWords(api.Text(s.Path))
	case s.Found != "":
		s.Target = "what was found in a conversation: " + brief(s.Found)
	}
	switch {
	case r.Contents+r.Words > 0:
		s.PurgeText = render.PurgeText(*r)
	case r.Before > 0:
		s.Nothing = true
		s.Notes = append(s.Notes, "It was purged before: "+count(r.Before, "content")+".")
	default:
		s.Nothing = true
		s.Notes = append(s.Notes, "No file of any checkpoint and no conversation has it.")
	}
	s.list("Where it stood", r.Paths, "")
	s.list("Conversations that had it, and are captured no more", texts(r.Sessions), "")
	s.list("The agents' own session files, which still have it", r.AgentFiles, "warn")
	s.list("Still in the project: a changed version is captured again, so take the secret out first", r.Present, "warn")
	s.list("Still in the project under a name with it: give it another name, save, and purge again", r.Names, "warn")
	s.list("Other files of rewind's that had it", r.Files, "")
	var beside []api.Text
	for i := range r.Elsewhere {
		e := &r.Elsewhere[i]
		where := e.Worktree
		if where == "" {
			where = api.Text("the store " + e.Store[:min(8, len(e.Store))] + " of a worktree that was removed")
		}
		beside = append(beside, where)
	}
	s.list("Other worktrees have it still: purge it in each of them", beside, "warn")
	if r.Prompts > 0 {
		s.Notes = append(s.Notes, count(r.Prompts, "name")+" with the text in it stays.")
	}
	if r.Unread > 0 {
		s.Notes = append(s.Notes, count(r.Unread, "damaged object")+
			" could not be searched; 'rewind verify' lists what is damaged.")
	}
	s.Notes = append(s.Notes, r.Notices...)
}

// list puts paths on a sheet under what there is to know of them.
func (s *Sheet) list(head string, paths []api.Text, class string) {
	if len(paths) == 0 {
		return
	}
	g := keptGroup{Why: head, Noun: class, More: max(len(paths)-shownKept, 0)}
	for _, p := range paths[:len(paths)-g.More] {
		g.Paths = append(g.Paths, pathWords(p))
	}
	s.Purged = append(s.Purged, g)
}

func texts(list []string) (out []api.Text) {
	for _, text := range list {
		out = append(out, api.Text(term.Sanitize(text)))
	}
	return out
}

// secret is something that looks like one, with how it is purged: by the path of its file, or its name.
type secret struct{ Text, Path, Found string }

// secrets are those that came with a moment.
func secrets(r *api.ShowResponse) (out []secret) {
	for i, text := range render.Secrets(r.Leaks, r.SaidLeaks, shownSecrets) {
		one := secret{Text: text}
		switch said := i - len(r.Leaks); {
		case i >= shownSecrets:
		case said < 0:
			one.Path = string(r.Leaks[i].Path)
		case said < len(r.SaidLeaks):
			one.Found = r.SaidLeaks[said].Found
		}
		out = append(out, one)
	}
	return out
}
