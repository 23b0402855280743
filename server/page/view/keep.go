package view

import (
	"cmp"

	"rewind/api"
)

// Unsaved puts on a sheet what a save would take.
func (f Frame) Unsaved(s *Sheet, r *api.DiffResponse) {
	for i := range r.Files {
		c := &r.Files[i]
		switch c.Status {
		case "added":
			s.Tally.Added++
		case "deleted":
			s.Tally.Deleted++
		default:
			s.Tally.Modified++
		}
		if len(s.Changes) < shownChanges {
			s.Changes = append(s.Changes, changeLine{
				Status: c.Status, Path: pathWords(c.Path), raw: c.Path,
				Lines: with(f.Path("diff"), "from", r.From.ID, "file", string(c.Path), "line", "0"),
			})
		}
	}
	if s.More = len(r.Files) - len(s.Changes); len(r.Files) == 0 {
		s.Notes = append(s.Notes, "Nothing has changed since the newest checkpoint: the message is put on that one.")
	}
}

// Saved puts on a sheet what was saved.
func (f Frame) Saved(s *Sheet, r *api.SaveResponse) {
	c := &r.Checkpoint
	s.Target, s.From, s.FromHref = cmp.Or(brief(s.Message), c.Short), c.Short, f.Path("c", c.ID)
	s.Tally = tally{c.Added, c.Modified, c.Deleted}
	if r.Unchanged {
		s.Tally = tally{}
		s.Notes = append(s.Notes, "Nothing had changed since this checkpoint.")
	}
	for i := range r.Uncaptured {
		u := &r.Uncaptured[i]
		s.Notes = append(s.Notes, pathWords(u.Path)+" is still there, but no longer captured: "+u.Reason)
	}
	for i := range r.Skips {
		if k := &r.Skips[i]; k.Reason == "torn" {
			s.Notes = append(s.Notes, pathWords(k.Path)+" changed while it was read: save again for a clean copy")
		}
	}
	s.Notes = append(s.Notes, r.Notices...)
}

// Tagged puts on a sheet what a name is given to, or was.
func (f Frame) Tagged(s *Sheet, c *api.Checkpoint) {
	words, href := f.moments(momentOf(c))
	if s.Verb == "tag" {
		s.Target = words
	}
	s.From, s.FromHref = words, href
}

// Unnamed says that what was saved did not get the name that it was to have.
func (f Frame) Unnamed(s *Sheet, err error) {
	s.Notes = append(s.Notes, "It is saved, without the name “"+clip(s.Tag, tagWeight)+"”: "+err.Error())
	s.Tag = ""
}

// NameTaken asks whether a name is to be moved from a moment that has it.
func (f Frame) NameTaken(s *Sheet, c *api.Checkpoint) {
	words, _ := f.moments(momentOf(c))
	s.MayForce = true
	s.Notes = append(s.Notes, "“"+clip(s.Tag, tagWeight)+"” is the name of "+words+".")
}

// Fate says for how long what a sheet does can be undone.
func (s Sheet) Fate() string {
	switch s.Verb {
	case "save", "untag":
		return "No file is changed."
	case "tag":
		return "No file is changed. What has a name is kept."
	case "purge":
		if s.Plan == "" {
			return "Nothing is purged before it was shown what goes."
		}
		return "It cannot be undone."
	case "delete":
		return "It can be undone as long as its checkpoints are kept."
	}
	switch s.KeptFor {
	case "":
		return "It can be undone."
	case "forever":
		return "It can be undone at any time."
	}
	return "It can be undone for " + s.KeptFor + "."
}

// Keeps reports whether a state is kept, or named.
func (s Sheet) Keeps() bool { return s.Verb == "save" || s.Verb == "tag" }

// tagged is a name of a moment; of how many more there are it has the words alone.
type tagged struct{ Text, Name string }

// names are those of a moment that are shown.
func names(tags []string) (out []tagged) {
	for i, text := range briefs(tags, shownTags, tagWeight) {
		one := tagged{Text: text}
		if i < min(len(tags), shownTags) {
			one.Name = cut(tags[i], briefWeight)
		}
		out = append(out, one)
	}
	return out
}
