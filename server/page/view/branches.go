package view

import (
	"cmp"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

// Branch is a session among its kin.
type Branch struct {
	ID      string // what a switch and a comparison take: agent/id, of a branch within a session turn:n@session
	Href    string
	Short   string
	Agent   string
	Title   string // of a fork whose title is borrowed its first own prompt
	Own     string // of a fork with a title of its own that prompt
	Depth   int
	Fork    string // where it parted
	Back    bool   // going back made it
	Of      string // the session that it was forked from, as a person tells it; "": it was not
	OfHref  string
	Turns   uint64
	Kids    int // branches of its own
	Last    moment
	Current bool
	Running bool
	Rewound bool
	Chosen  bool
	Within  bool // it is a branch within a session, which is managed as a whole
	Clashes int
	Loss    string // what its agent has lost of its conversation, in words; "": nothing
	Restore string // the command that brings that back
	Added   int
	Removed int
}

// Branches are a project's sessions, each behind what it was forked from.
func (f Frame) Branches(list []api.Branch, chosen string) []Branch {
	out := make([]Branch, 0, len(list))
	for i := range list {
		b := &list[i]
		one := Branch{
			ID: b.Branch, Href: f.Path("s", b.Session), Short: short(b.Session), Agent: string(b.Agent),
			Depth: b.Depth, Turns: b.Turns, Kids: len(b.Children), Last: f.moment(b.Last),
			Current: b.Current, Running: b.Running, Rewound: b.Rewound,
			Chosen: b.Branch == chosen, Within: b.Branch != b.Session, Clashes: b.Clashes, Added: b.Added, Removed: b.Removed,
		}
		if b.Loss != "" {
			_, id, _ := strings.Cut(b.Session, "/")
			one.Loss, one.Restore = render.LossWords(b.Loss), "rewind sessions restore "+render.ShortID(id)
		}
		one.Title, one.Own = forkWords(b.Title, b.ForkName)
		one.Title = cmp.Or(one.Title, one.Short)
		if b.Fork != nil {
			one.Fork = "from turn " + term.Count(b.Fork.Turn)
			if b.Fork.Clone {
				one.Fork = "copy"
			}
			one.Back = b.Fork.Maker() == value.ForkRestore
			one.Of, one.OfHref = short(b.Fork.Session), f.Path("s", b.Fork.Session)
		}
		out = append(out, one)
	}
	return out
}

// forkWords is what a session is called, and, of a fork with a title of its own, the first prompt that is its own.
func forkWords(title api.Text, n api.ForkName) (words, own string) {
	words, own = brief(string(title)), brief(string(n.OwnPrompt))
	if n.Borrowed && own != "" {
		return own, ""
	}
	return words, own
}

// joined are the texts that are not empty.
func joined(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), between)
}
