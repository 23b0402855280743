package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/internal/value"
	"rewind/server/page/view"
)

// wish is what a person asks for: a verb, and what a sheet's form has. A name is one of a checkpoint or a session,
// never a path.
type wish struct {
	Verb  string `json:"verb"`
	Name  string `json:"name"`
	What  string `json:"what"` // both, code, conversation
	Exact string `json:"exact"`
	Title string `json:"title"`
	Tag   string `json:"tag"`
	Dir   string `json:"dir"`     // of a worktree: the name of a directory beside the project's
	Of    string `json:"session"` // of forward: whose turns
	Path  string `json:"path"`    // of a checkout: only this, from the project's root
	Last  string `json:"last"`    // of a deletion: also a last copy
	Plan  string `json:"plan"`
}

// act answers what a wish would do (plan), or does it (do). What was shown is what is done: the plan's name comes back
// with the form.
func (p *Page) act(do bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := p.visit(r)
		var doc view.Page
		if err == nil {
			doc, err = v.carryOut(do)
		}
		if err != nil {
			doc = failed(v.frame, err)
		}
		r.Header.Set("Rewind-Part", "main") // never a whole document
		p.send(w, r, doc)
	}
}

func (v *visit) carryOut(do bool) (view.Page, error) {
	var q wish
	dec := json.NewDecoder(v.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil || v.Header.Get("Content-Type") != "application/json" {
		return view.Page{}, &api.Error{Word: api.WordUsage, Message: "the request is not one of this page's"}
	}
	verb, ok := verbs[q.Verb]
	if !ok {
		return view.Page{}, &api.Error{Word: api.WordUsage, Message: "there is no such thing to do"}
	}
	if do && q.Plan == "" && verb.planned {
		return view.Page{}, &api.Error{Word: api.WordUsage, Message: "what would be done has to be shown first"}
	}
	if !do {
		q.Plan = ""
	}
	s := view.Sheet{
		Verb: q.Verb, Name: q.Name, What: q.What, Exact: q.Exact != "", Title: q.Title, Tag: q.Tag, Dir: q.Dir, Path: q.Path, Of: q.Of,
	}
	if s.What == "" {
		s.What = "both"
	}
	done, err := verb.run(v, q, !do, &s)
	var told *api.Error
	if errors.As(err, &told) && told.Word == api.WordChanged { // and nothing was done: what would be done now is shown
		do, q.Plan = false, ""
		s.Notes = append(s.Notes, "Something changed since this was shown. This is what would be done now.")
		done, err = verb.run(v, q, true, &s)
	}
	if err != nil {
		return view.Page{}, err
	}
	if do && done {
		return view.Done(v.frame, s), nil
	}
	return view.Ask(v.frame, s), nil
}

// verbs are all that can be done from a browser. Each answers by the same sheet before and after; planned says that the
// answer names a plan.
var verbs = map[string]struct {
	planned bool
	run     func(v *visit, q wish, dryRun bool, s *view.Sheet) (done bool, err error)
}{
	"checkout":     {true, (*visit).checkout},
	"switch":       {true, (*visit).switchTo},
	"undo-restore": {true, (*visit).undoRestore},
	"pick":         {true, (*visit).pick},
	"forward":      {true, (*visit).forward},
	"continue":     {false, (*visit).unfinished},
	"abort":        {false, (*visit).unfinished},
	"fork":         {false, (*visit).fork},
	"worktree":     {false, (*visit).worktree},
	"clone":        {false, (*visit).clone},
	"rename":       {false, (*visit).manage},
	"promote":      {false, (*visit).manage},
	"archive":      {false, (*visit).manage},
	"delete":       {false, (*visit).manage},
}

func (v *visit) wish(q wish, dryRun bool) api.Wish {
	return api.Wish{
		Env: v.who.env, Exact: q.Exact != "", DryRun: dryRun, CodeOnly: q.What == "code", ContextOnly: q.What == "conversation",
		Title: api.Text(q.Title), Plan: q.Plan,
	}
}

// restore sends a restore's request and puts the answer on the sheet.
func restore[Req any](v *visit, route api.Route[Req, api.RestoreResponse], req Req, s *view.Sheet) (bool, error) {
	r, err := api.Call(v.Context(), v.page.client, route, req, nil)
	if err != nil {
		return false, err
	}
	v.frame.Restore(s, &r)
	return true, nil
}

func (v *visit) checkout(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	req := api.CheckoutRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Wish: v.wish(q, dryRun), Checkpoint: api.Text(q.Name), Tag: api.Text(q.Tag),
	}
	turn := strings.HasPrefix(q.Name, "turn:") || strings.HasPrefix(q.Name, "before:")
	req.TakeBack = turn && q.Path == "" && !req.Exact
	if q.Path != "" {
		req.Paths = []api.Text{api.Text("./" + filepath.ToSlash(q.Path))}
		req.Env = api.AgentEnv{}
		req.CodeOnly, req.ContextOnly = false, false
	}
	return restore(v, api.Checkout, req, s)
}

func (v *visit) switchTo(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	return restore(v, api.Switch, api.SwitchRequest{
		Project: v.dir(), Wish: v.wish(q, dryRun), Branch: api.Text(q.Name), Tag: api.Text(q.Tag),
	}, s)
}

func (v *visit) undoRestore(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	seq, err := strconv.ParseUint(q.Name, 10, 64)
	if q.Name != "" && err != nil {
		return false, &api.Error{Word: api.WordUsage, Message: "that is no operation's number"}
	}
	return restore(v, api.UndoRestore, api.UndoRestoreRequest{Project: v.dir(), Wish: v.wish(q, dryRun), Operation: seq}, s)
}

func (v *visit) pick(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	return restore(v, api.Pick, api.MergeRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Env: v.who.env, Change: api.Text(q.Name), DryRun: dryRun, Plan: q.Plan,
	}, s)
}

func (v *visit) forward(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	turns, err := strconv.Atoi(q.Name)
	if err != nil || turns < 1 {
		return false, &api.Error{Word: api.WordUsage, Message: "that is no number of turns"}
	}
	return restore(v, api.Forward, api.ForwardRequest{
		Project: v.dir(), Walk: api.Walk{Session: q.Of, Choose: true}, Wish: v.wish(q, dryRun), Turns: turns, Tag: api.Text(q.Tag),
	}, s)
}

// unfinished ends a restore that was cut short. What it does was shown when it was begun.
func (v *visit) unfinished(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	if dryRun {
		return true, nil
	}
	return restore(v, api.Checkout, api.CheckoutRequest{
		Project: v.dir(), Wish: api.Wish{Env: v.who.env}, Continue: q.Verb == "continue", Abort: q.Verb == "abort",
	}, s)
}

func (v *visit) fork(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	return v.makeFork(api.ForkRequest{Checkpoint: api.Text(q.Name), Title: api.Text(q.Title), DryRun: dryRun}, s)
}

// worktree forks into a directory beside the project's. A browser gives its name, and no more.
func (v *visit) worktree(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	if s.Dir == "" {
		s.Dir = filepath.Base(string(v.root)) + "-2"
	}
	if strings.ContainsAny(s.Dir, `/\`+"\x00") || s.Dir == "." || s.Dir == ".." {
		return false, &api.Error{Word: api.WordUsage, Message: "a directory's name has no slash: it is made beside the project's"}
	}
	dir := filepath.Join(filepath.Dir(string(v.root)), s.Dir)
	return v.makeFork(api.ForkRequest{Checkpoint: api.Text(q.Name), Title: api.Text(q.Title), Worktree: api.Text(dir), DryRun: dryRun}, s)
}

func (v *visit) makeFork(req api.ForkRequest, s *view.Sheet) (bool, error) {
	req.Project, req.Walk, req.Env = v.dir(), api.Walk{Choose: true}, v.who.env
	r, err := api.Call(v.Context(), v.page.client, api.MakeFork, req, nil)
	if err != nil {
		return false, err
	}
	v.frame.Fork(s, &r)
	return true, nil
}

// clone has nothing to be shown first: it changes nothing that is there.
func (v *visit) clone(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	if dryRun {
		return true, nil
	}
	r, err := api.Call(v.Context(), v.page.client, api.MakeClone, api.CloneRequest{
		Project: v.dir(), Walk: api.Walk{Session: q.Name}, Env: v.who.env, Title: api.Text(q.Title),
	}, nil)
	if err != nil {
		return false, err
	}
	v.frame.Fork(s, &r)
	return true, nil
}

func (v *visit) manage(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	if q.Verb == api.DoRename && q.Title == "" {
		return false, nil // the sheet asks for it
	}
	r, err := api.Call(v.Context(), v.page.client, api.ManageForks, api.ManageRequest{
		Project: v.dir(), Env: v.who.env, Do: q.Verb, Sessions: []string{q.Name}, Title: value.Text(q.Title), DryRun: dryRun,
		LastCopy: q.Last != "" || dryRun,
	}, nil)
	if err != nil {
		return false, err
	}
	v.frame.Managed(s, &r)
	return true, nil
}
