package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/value"
)

func (s *server) tree(ctx context.Context, req api.TreeRequest, _ model.Progress) (out api.TreeResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		t, err := e.History.FamilyTree(ctx, req.Session, req.All)
		if err != nil {
			return err
		}
		out = treeResponse(t)
		out.Notices = e.Project().Notices
		return nil
	})
	return out, err
}

func treeResponse(t *history.Tree) api.TreeResponse {
	out := api.TreeResponse{
		Session: t.Of, Current: t.Current, Others: t.Others,
		Children: []string{}, Siblings: []string{}, Descendants: []string{}, Path: []string{}, Branches: []api.Branch{},
	}
	at := map[string]int{}
	for i := range t.Branches {
		b := branch(&t.Branches[i])
		at[b.Session] = i
		out.Branches = append(out.Branches, b)
		if k, ok := at[b.Parent]; ok {
			out.Branches[k].Children = append(out.Branches[k].Children, b.Session)
		}
	}
	is, ok := at[t.Of]
	if !ok {
		return out
	}
	of := out.Branches[is]
	out.Parent, out.Children = of.Parent, of.Children
	for b := of; ; b = out.Branches[at[b.Parent]] {
		out.Path = append([]string{b.Session}, out.Path...)
		if b.Parent == "" {
			break
		}
	}
	out.Root = out.Path[0]
	if of.Parent != "" {
		for _, name := range out.Branches[at[of.Parent]].Children {
			if name != of.Session {
				out.Siblings = append(out.Siblings, name)
			}
		}
	}
	for _, b := range out.Branches[is+1:] { // what hangs on it is right behind it
		if b.Depth <= of.Depth {
			break
		}
		out.Descendants = append(out.Descendants, b.Session)
	}
	return out
}

func branch(b *history.Branch) api.Branch {
	out := api.Branch{
		ID: b.ID, Session: b.Name, Agent: b.Agent, Title: api.Text(b.Title), Parent: b.Parent, Children: []string{}, Depth: b.Depth,
		Turns: b.Turn, Checkpoints: b.Work.Steps, Files: b.Work.Files, Added: b.Work.Added, Removed: b.Work.Removed,
		Uncounted: b.Work.Uncounted, First: utc(b.First), Last: utc(b.Last), Current: b.Current, Running: b.Running, Rewound: b.Rewound,
		Imported: b.Imported, Clashes: b.Clashes,
	}
	if b.Fork != nil {
		from := lineage(*b.Fork)
		out.Fork = &from
	}
	if !b.Tip.IsZero() {
		out.Checkpoint = b.Tip.String()
	}
	if b.Git != (model.GitHead{}) {
		git := b.Git
		out.Git = &git
	}
	for _, c := range b.Conflicts {
		out.Conflicts = append(out.Conflicts, api.Clash{Session: c.With, Files: c.Files, Paths: value.Texts(c.Paths)})
	}
	return out
}
