package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rewind/api"
	"rewind/internal/value"
	"rewind/server/page/view"
)

// wish is what a person asks for: a verb, and what a sheet's form has. A name is one of a checkpoint or a session,
// never a path.
type wish struct {
	ID    string `json:"id"` // of the act: a browser's own, the same where it asks again
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
	Force string `json:"force"`   // of a name: also one that another moment has
	Merge string `json:"merge"`   // of a revert: what collides is written, with markers

	Message string `json:"message"` // of a save
	Hunks   string `json:"hunks"`   // that are chosen of a file: their numbers in what differs, with commas
	Text    string `json:"text"`    // of a purge: what has this in it
	Found   string `json:"found"`   // or what was found in a conversation, by its name
	Sure    string `json:"sure"`    // that it is for good
	Plan    string `json:"plan"`
}

// act answers what a wish would do (plan), or does it (do). What was shown is what is done: the plan's name comes back
// with the form.
func (p *Page) act(do bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Rewind-Part", "main") // never a whole document
		v, err := p.visit(r)
		var q wish
		var body []byte
		if err == nil {
			q, body, err = v.read()
		}
		var doc view.Page
		switch {
		case err != nil:
		case do:
			p.doOnce(w, v, q, body)
			return
		default:
			doc, _, err = v.carryOut(q, false, "")
		}
		if err != nil {
			doc = failed(v.frame, err)
		}
		p.send(w, r, doc)
	}
}

// read reads what is asked for.
func (v *visit) read() (q wish, body []byte, err error) {
	if body, err = io.ReadAll(v.Body); err == nil {
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		err = dec.Decode(&q)
	}
	if err != nil || v.Header.Get("Content-Type") != "application/json" {
		return q, nil, &api.Error{Word: api.WordUsage, Message: "the request is not one of this page's"}
	}
	return q, body, nil
}

// doOnce does what is asked for, unless it was done: a browser that got no answer asks again, with the same id.
func (p *Page) doOnce(w http.ResponseWriter, v *visit, q wish, body []byte) {
	if q.ID == "" {
		p.send(w, v.Request, failed(v.frame, &api.Error{Word: api.WordUsage, Message: "an act has an id"}))
		return
	}
	id := deedID(v.frame.Project, q.ID, body)
	known := p.deeds.begin(id, time.Now())
	for known != nil && known.over != nil {
		answer, err := p.deeds.answered(v.Context(), known)
		if err != nil {
			return // nobody waits for it
		}
		if answer != nil {
			documentHeaders(w)
			packed(w, v.Request, http.StatusOK, answer)
			return
		}
		known = p.deeds.begin(id, time.Now()) // it was not done
	}
	if known != nil {
		p.cutShort(w, v, q, known)
		return
	}
	var answer []byte
	defer func() { p.deeds.end(id, answer) }()
	asked := v.Request
	v.Request = asked.WithContext(context.WithoutCancel(asked.Context())) // it is done also where the browser goes away
	doc, done, err := v.carryOut(q, true, "")
	if err != nil {
		doc = failed(v.frame, err)
	}
	var b bytes.Buffer
	if done && err == nil && doc.Write(&b, "main") == nil {
		answer = b.Bytes()
	}
	p.send(w, asked, doc)
}

// cutShort answers of an act that an earlier daemon has begun: what would be done now.
func (p *Page) cutShort(w http.ResponseWriter, v *visit, q wish, known *deed) {
	note := "The daemon ended while this was being done, and it is not known how far it came. "
	if known.Done {
		note = "This was done before the daemon ended; Restores and Sessions tell what. "
	}
	doc, _, err := v.carryOut(q, false, note+"Nothing was repeated. This is what would be done now.")
	if err != nil {
		doc = failed(v.frame, err)
	}
	p.send(w, v.Request, doc)
}

// carryOut does what is asked for, or tells what would be done, with a note. done says that it was.
func (v *visit) carryOut(q wish, do bool, note string) (doc view.Page, done bool, err error) {
	verb, ok := verbs[q.Verb]
	if !ok {
		return doc, false, &api.Error{Word: api.WordUsage, Message: "the page has no such action"}
	}
	if do && q.Plan == "" && verb.planned {
		return doc, false, &api.Error{Word: api.WordUsage, Message: "an action is previewed before it is done"}
	}
	if !do {
		q.Plan = ""
	}
	s := view.Sheet{
		Verb: q.Verb, Name: q.Name, What: q.What, Exact: q.Exact != "", Title: q.Title, Tag: q.Tag, Dir: q.Dir,
		Path: q.Path, Of: q.Of, Message: q.Message, Force: q.Force != "", Merge: q.Merge != "",
	}
	if s.What == "" {
		s.What = "both"
	}
	if note != "" {
		s.Notes = append(s.Notes, note)
	}
	done, err = verb.run(v, q, !do, &s)
	var told *api.Error
	if errors.As(err, &told) && told.Word == api.WordChanged { // and nothing was done: what would be done now is shown
		do, q.Plan = false, ""
		s.Notes = append(s.Notes, "Something changed since this was shown. This is what would be done now.")
		done, err = verb.run(v, q, true, &s)
	}
	if err != nil {
		return doc, false, err
	}
	if !do || !done {
		v.preview(q, &s)
	}
	if do && done {
		return view.Done(v.frame, s), true, nil
	}
	return view.Ask(v.frame, s), false, nil
}

// preview shows what changes in a few files. Where that cannot be told the files are named alone.
func (v *visit) preview(q wish, s *view.Sheet) {
	target, paths := s.Wants()
	if len(paths) == 0 {
		return
	}
	if target == "" {
		if r, err := v.show(q.Name, "", 0); err == nil {
			s.Show(r.Files)
		}
		return
	}
	r, err := api.Call(v.Context(), v.page.client, api.Diff, api.DiffRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, From: api.Text(target), Back: true, Paths: paths, Context: 3,
	}, nil)
	if err == nil {
		s.Show(r.Files)
	}
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
	"revert":       {true, (*visit).revert},
	"save":         {false, (*visit).save},
	"tag":          {false, (*visit).tag},
	"untag":        {false, (*visit).untag},
	"hunks":        {false, (*visit).hunks},
	"purge":        {false, (*visit).purge},
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
		Env: v.who.env, Exact: q.Exact != "", DryRun: dryRun, CodeOnly: q.What == "code",
		ContextOnly: q.What == "conversation",
		Title:       api.Text(q.Title), Plan: q.Plan,
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
		Project: v.dir(), Walk: api.Walk{Choose: true}, Wish: v.wish(q, dryRun), Checkpoint: api.Text(q.Name),
		Tag: api.Text(q.Tag),
	}
	turn := strings.HasPrefix(q.Name, "turn:") || strings.HasPrefix(q.Name, "before:")
	req.TakeBack, req.Becomes = turn && q.Path == "" && !req.Exact, view.Becoming
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
		Merging: api.Merging{Becomes: view.Becoming},
	}, s)
}

func (v *visit) undoRestore(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	seq, err := strconv.ParseUint(q.Name, 10, 64)
	if q.Name != "" && err != nil {
		return false, &api.Error{Word: api.WordUsage, Message: "this is not the number of an operation"}
	}
	return restore(v, api.UndoRestore, api.UndoRestoreRequest{
		Project: v.dir(), Wish: v.wish(q, dryRun),
		Operation: seq,
	}, s)
}

func (v *visit) pick(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	return restore(v, api.Pick, api.MergeRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Env: v.who.env, Change: api.Text(q.Name), DryRun: dryRun,
		Plan: q.Plan, Becomes: view.Becoming,
	}, s)
}

func (v *visit) forward(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	turns, err := strconv.Atoi(q.Name)
	if err != nil || turns < 1 {
		return false, &api.Error{Word: api.WordUsage, Message: "this is not a number of turns"}
	}
	return restore(v, api.Forward, api.ForwardRequest{
		Project: v.dir(), Walk: api.Walk{Session: q.Of, Choose: true}, Wish: v.wish(q, dryRun), Turns: turns,
		Tag: api.Text(q.Tag), Merging: api.Merging{Becomes: view.Becoming},
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
		return false, &api.Error{
			Word:    api.WordUsage,
			Message: "a directory's name has no slash: it is made beside the project's",
		}
	}
	dir := filepath.Join(filepath.Dir(string(v.root)), s.Dir)
	return v.makeFork(api.ForkRequest{
		Checkpoint: api.Text(q.Name), Title: api.Text(q.Title), Worktree: api.Text(dir),
		DryRun: dryRun,
	}, s)
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
	if err := v.family(q.Name, s); err != nil || dryRun {
		return true, err
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

// family tells a sheet of the session that something is done with, and of those that it is forked from or into.
func (v *visit) family(session string, s *view.Sheet) error {
	kin, err := api.Call(v.Context(), v.page.client, api.Tree, api.TreeRequest{Project: v.dir(), Session: session}, nil)
	if err == nil {
		v.frame.Family(s, kin.Branches)
	}
	return err
}

func (v *visit) manage(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	if err := v.family(q.Name, s); err != nil {
		return false, err
	}
	if q.Verb == api.DoRename && q.Title == "" {
		return false, nil // the sheet asks for it
	}
	r, err := api.Call(v.Context(), v.page.client, api.ManageForks, api.ManageRequest{
		Project: v.dir(), Env: v.who.env, Do: q.Verb, Sessions: []string{q.Name}, Title: value.Text(q.Title),
		DryRun:   dryRun,
		LastCopy: q.Last != "" || dryRun,
	}, nil)
	if err != nil {
		return false, err
	}
	v.frame.Managed(s, &r)
	return true, nil
}
