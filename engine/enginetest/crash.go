package enginetest

import (
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/restore"
)

// Crashed leaves a checkout as a process leaves it that dies: journal written, the worktree untouched or as the target
// has it, and the first n session files set.
func (p *Project) Crashed(name string, o restore.Options, applied bool, n int) *model.Journal {
	p.T.Helper()
	o.Env = p.Env()
	r, err := p.E.Restorer.PrepareCheckout(Bg, name, o)
	p.Must(err)
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	p.E.Log.Lock()
	defer p.E.Log.Unlock()
	plan, c, err := p.E.Restorer.Plan(Bg, root, r, nil)
	p.Must(err)
	talk, err := p.E.Restorer.PlanConversation(r, c.Tx)
	p.Must(err)
	j := &r.Journal
	j.After, j.Stage, j.Steps = j.Target, restore.NewStageName(), plan.Steps
	if j.ContextOnly {
		j.Steps, j.After = nil, j.Before
	}
	talk.FillJournal(j)
	durable, err := p.E.Restorer.MakeStage(root, j.Stage)
	p.Must(err)
	p.Must(durable())
	_, err = p.E.Restorer.CommitSafety(Bg, c, j, "", "")
	p.Must(err)
	if applied {
		p.Must(p.E.Restorer.Apply(Bg, root, j, j.Steps, &restore.Result{}))
	}
	for _, f := range j.Files[:min(max(n, 0), len(j.Files))] {
		p.Must(conversation.SetSession(p.E.Log.Objs, register.Folders(p.Env()), f))
	}
	return j
}
