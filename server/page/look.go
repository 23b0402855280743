package page

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"rewind/api"
	"rewind/internal/render"
	"rewind/server/page/view"
)

const (
	// What is sent at once; the rest comes as it comes into sight, so that what is seen first does not wait for it.
	rowsAtOnce     = 24  // of a log
	branchesAtOnce = 24  // beside it, and of a tree: they are laid out between two frames, also while somebody scrolls
	mostBranches   = 1e6 // that can be asked for at once, by a page that has them already

	messagesAtOnce = 30  // of the conversation before a moment
	moreMessages   = 200 // that are asked for then
)

// visit is one request of a browser that was let in.
type visit struct {
	*http.Request
	page  *Page
	frame view.Frame
	who   visitor
	root  api.Text            // of the project; "": none is asked for
	state *api.StatusResponse // of the project, once it was asked for
}

// visitor is who asks: what was told when the browser was let in.
type visitor struct {
	env  api.AgentEnv
	zone *time.Location
}

type visitorKey struct{}

func withVisitor(ctx context.Context, v visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// visit finds the project that a path names by its id.
func (p *Page) visit(r *http.Request) (*visit, error) {
	who, _ := r.Context().Value(visitorKey{}).(visitor)
	v := &visit{Request: r, page: p, who: who}
	v.frame = view.Frame{Base: p.path(), Zone: who.zone, Now: time.Now(), Project: r.PathValue("project")}
	if v.frame.Project == "" {
		return v, nil
	}
	root, err := p.o.Root(v.frame.Project)
	if err != nil {
		v.frame.Project = "" // what is shown of it has no address
		return v, err
	}
	v.root = api.Text(root)
	v.frame.Root, v.frame.Name = root, filepath.Base(root)
	return v, nil
}

func (v *visit) dir() api.Project { return api.Project{Dir: v.root} }

// look answers with a document, or the part of one that a header asks for. at is the view that it is. One that is not
// there after SkeletonAfter begins with what stands around it. atOnce sends what a browser needs first before it is
// made. The status is sent with the beginning: an error behind it is told in the document alone, so that nothing is
// looked at at once which an address may name and there is not.
func (p *Page) look(at string, atOnce bool, h func(*visit) (view.Page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := p.visit(r)
		if err != nil || part(r) != "" {
			p.send(w, r, v.document(h, err))
			return
		}
		v.frame.At, v.frame.Query = at, r.URL.Query().Get("q")
		d := &document{page: p, w: w, r: r, frame: v.frame}
		defer d.end()
		d.begin(atOnce)
		d.finish(v.document(h, nil))
	}
}

// document is what a handler makes, or what an error is.
func (v *visit) document(h func(*visit) (view.Page, error), err error) view.Page {
	var doc view.Page
	if err == nil {
		v.mark()
		doc, err = h(v)
	}
	if err != nil {
		return failed(v.frame, err)
	}
	return doc
}

// part is the one of a document that a script asks for; "": all of it.
func part(r *http.Request) string { return r.Header.Get("Rewind-Part") }

// mark puts into a document up to where the project's events are told by it, before anything of it is read: the browser
// goes on from there.
func (v *visit) mark() {
	if v.root == "" || part(v.Request) != "" {
		return
	}
	st, err := v.status()
	if err != nil {
		return // the document says it
	}
	if st.LastOp != nil {
		v.frame.Since = st.LastOp.Seq
	}
}

// status is what is known of the project at once.
func (v *visit) status() (*api.StatusResponse, error) {
	if v.state != nil {
		return v.state, nil
	}
	st, err := api.Call(v.Context(), v.page.client, api.Status, api.StatusRequest{Project: v.dir(), Glance: true}, nil)
	if err != nil {
		return nil, err
	}
	v.state = &st
	return v.state, nil
}

// failed is the document of an error.
func failed(f view.Frame, err error) view.Page {
	var e *api.Error
	if !errors.As(err, &e) {
		e = &api.Error{Word: api.WordFailed, Message: err.Error()}
	}
	status := http.StatusInternalServerError
	switch e.Word {
	case api.WordNotFound, api.WordNoProject:
		status = http.StatusNotFound
	case api.WordUsage, api.WordAmbiguous:
		status = http.StatusBadRequest
	case api.WordBusy, api.WordHalfDone:
		status = http.StatusServiceUnavailable
	}
	return view.Failed(f, status, e)
}

// send writes a document whole, or not at all.
func (p *Page) send(w http.ResponseWriter, r *http.Request, doc view.Page) {
	var b bytes.Buffer
	part := part(r)
	if doc.Status >= http.StatusBadRequest && part != "" {
		part = "main"
	}
	var err error
	if part == "" {
		err = doc.Begin(&b)
	}
	if err == nil {
		err = doc.Write(&b, part)
	}
	if err != nil {
		p.o.Log.Error("page: render", "error", err)
		http.Error(w, notShown, http.StatusInternalServerError)
		return
	}
	documentHeaders(w)
	packed(w, r, cmp.Or(doc.Status, http.StatusOK), b.Bytes())
}

const notShown = "this page cannot be shown; the daemon's log says why"

func documentHeaders(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Rewind-Part")
}

func (v *visit) projects() (view.Page, error) {
	r, err := api.Call(v.Context(), v.page.client, api.Stores, api.StoresRequest{}, nil)
	if err != nil {
		return view.Page{}, err
	}
	return view.Projects(v.frame, r.Stores, v.from()), nil
}

// project is the log of a project, or of one session of it, with one moment beside: the one that is named, or where the
// project stands.
func (v *visit) project() (view.Page, error) {
	t := view.Timeline{Session: v.session(), Beside: v.frame.Base + v.URL.Path + "?from=0"}
	if part(v.Request) == "side" {
		return v.side(t)
	}
	before, _ := strconv.ParseUint(v.URL.Query().Get("before"), 10, 64)
	list, err := api.Call(v.Context(), v.page.client, api.List, api.ListRequest{
		Project: v.dir(), Filter: api.Filter{Session: t.Session}, Turns: true, Past: true, Limit: rowsAtOnce, Before: before, Kin: true,
	}, nil)
	if err != nil {
		return view.Page{}, err
	}
	if list.More {
		t.Older = v.frame.Base + v.URL.Path + "?before=" + strconv.FormatUint(list.Next, 10)
	}
	if part(v.Request) == "rows" {
		t.Rows = v.frame.Rows(list.Turns, "")
		return view.Log(v.frame, t), nil
	}
	at, names := v.URL.Query().Get("at"), api.NameRows(list.Turns)
	t.At = at != ""
	if at == "" && len(list.Turns) > 0 {
		at = names[0].Name
		for i := range list.Turns {
			if list.Turns[i].Current {
				at = names[i].Name
			}
		}
	}
	t.Rows = v.frame.Rows(list.Turns, at)
	if err := v.head(&t, list.Turns); err != nil {
		return view.Page{}, err
	}
	t.Empty = "Nothing has happened here yet. What an agent does in this project appears by itself."
	if at != "" && part(v.Request) != "log" { // what is being read stays
		name, end := at, ""
		if i := slices.IndexFunc(names, func(n api.RowName) bool { return n.Name == at }); i >= 0 && names[i].End != "" {
			name, end = names[i].Turn, names[i].End
		}
		if t.Moment, err = v.moment(name, end); err != nil {
			return view.Page{}, err
		}
	}
	return view.Log(v.frame, t), nil
}

// side is some of the sessions beside a log: from one on, or up to as many as are there.
func (v *visit) side(t view.Timeline) (view.Page, error) {
	tree, err := v.branches()
	if err != nil {
		return view.Page{}, err
	}
	t.Branches, t.Beside = v.frame.Branches(tree.Branches, t.Session), ""
	if to := tree.From + len(tree.Branches); to < len(tree.Places) {
		t.Beside = v.frame.Base + v.URL.Path + "?from=" + strconv.Itoa(to)
	}
	return view.Log(v.frame, t), nil
}

// branches are those of all families that are asked for: some from one on, or as many as a page has already.
func (v *visit) branches() (api.TreeResponse, error) {
	have, _ := strconv.Atoi(v.URL.Query().Get("have"))
	return api.Call(v.Context(), v.page.client, api.Tree, api.TreeRequest{
		Project: v.dir(), All: true, Own: true, From: v.from(), Limit: min(max(have, branchesAtOnce), mostBranches),
	}, nil)
}

// head says what there is to know before the rows: of the session that is looked at, and of what is wrong.
func (v *visit) head(t *view.Timeline, rows []api.Row) error {
	st, err := v.status()
	if err != nil {
		return err
	}
	t.HalfDone = st.HalfDone
	if st.Degraded != nil {
		t.Degraded = string(st.Degraded.Error)
	}
	if t.Session == "" {
		return nil
	}
	kin, err := api.Call(v.Context(), v.page.client, api.Tree, api.TreeRequest{Project: v.dir(), Session: t.Session}, nil)
	if err != nil {
		return err
	}
	for i := range kin.Branches {
		if at := slices.IndexFunc(rows, func(r api.Row) bool { return r.Session == kin.Branches[i].Branch }); at >= 0 {
			kin.Branches[i].ForkName = rows[at].ForkName
		}
	}
	for _, b := range v.frame.Branches(kin.Branches, t.Session) {
		if b.Chosen && t.Head == nil {
			t.Head, t.Title = &b, b.Title
		}
	}
	known, err := api.Call(v.Context(), v.page.client, api.Sessions, api.SessionsRequest{Project: v.dir(), Env: v.who.env}, nil)
	if err != nil {
		return err
	}
	for i := range known.Sessions {
		if one := &known.Sessions[i]; one.Session == t.Session {
			t.Resume = render.ShellLine(one.Resume)
		}
	}
	walk := api.Walk{Session: t.Session}
	r, err := api.Call(v.Context(), v.page.client, api.Future, api.FutureRequest{Project: v.dir(), Walk: walk}, nil)
	if err == nil { // a session without a file has none
		t.Ahead = v.frame.Ahead(r.Ahead)
	}
	return nil
}

// session is the one that the path names.
func (v *visit) session() string {
	agent, id := v.PathValue("agent"), v.PathValue("session")
	if agent == "" {
		return ""
	}
	return agent + "/" + id
}

// named is the name of the moment that the path has: a turn, or a checkpoint.
func (v *visit) named() string {
	if turn := v.PathValue("turn"); turn != "" {
		return "turn:" + turn + "@" + v.session() // which may be none: the API says so
	}
	return v.PathValue("checkpoint")
}

// steps are those of a turn.
func (v *visit) steps() (view.Page, error) {
	r, err := api.Call(v.Context(), v.page.client, api.List, api.ListRequest{
		Project: v.dir(), Turn: api.Text(v.named()), End: v.URL.Query().Get("end"), Steps: true, Choose: true,
	}, nil)
	if err != nil {
		return view.Page{}, err
	}
	return view.TurnSteps(v.frame, v.where("from"), r.Checkpoints, v.from()), nil
}

// checkpoint is one moment by itself, or more of what changed in it.
func (v *visit) checkpoint() (view.Page, error) {
	name, end := v.named(), v.URL.Query().Get("end")
	if ofChange[part(v.Request)] {
		piece := v.piece()
		r, err := v.show(name, end, piece.First)
		if err != nil {
			return view.Page{}, err
		}
		return view.More(v.frame, r.Files, piece, v.frame.Detail(&r, end)), nil
	}
	d, err := v.moment(name, end)
	if err != nil {
		return view.Page{}, err
	}
	return view.Checkpoint(v.frame, d), nil
}

// ofChange are the parts of a document that are more of what changed.
var ofChange = map[string]bool{"files": true, "lines": true, "line": true}

// piece is what an address asks for of a change.
func (v *visit) piece() view.Piece { return view.PieceOf(v.URL, v.frame.Base) }

// where is the address that is asked for, without what asks for a part of it.
func (v *visit) where(parts ...string) string {
	q := v.URL.Query()
	for _, name := range parts {
		q.Del(name)
	}
	return v.frame.Base + v.URL.Path + "?" + q.Encode()
}

// from is the number of the first of a list that is asked for.
func (v *visit) from() int {
	n, _ := strconv.Atoi(v.URL.Query().Get("from"))
	return max(n, 0)
}

// show is a moment with the lines of what changed in it, from a file on.
func (v *visit) show(name, end string, first int) (api.ShowResponse, error) {
	return api.Call(v.Context(), v.page.client, api.Show, api.ShowRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Checkpoint: api.Text(name), Whole: true, End: end, Said: true,
		Detail: api.Detail{Lines: true, Patch: true, Context: 3, First: first, Most: view.FilesAtOnce},
	}, nil)
}

// moment is one by its name; end is that of one of several rows of a turn.
func (v *visit) moment(name, end string) (*view.Detail, error) {
	r, err := v.show(name, end, 0)
	if err != nil {
		return nil, err
	}
	d := v.frame.Detail(&r, end)
	talk, err := v.messages(api.MessagesRequest{
		Checkpoint: api.Text(d.Name), Begin: d.Whole, Limit: messagesAtOnce,
	})
	if err != nil { // what changed is shown without what was said
		talk.Conversation = api.Text(err.Error())
	}
	v.frame.Said(d, &talk)
	return d, nil
}

// messages asks for a page of a conversation.
func (v *visit) messages(req api.MessagesRequest) (api.MessagesResponse, error) {
	req.Project, req.Choose = v.dir(), true
	return api.Call(v.Context(), v.page.client, api.Messages, req, nil)
}

// said is the conversation of one turn.
func (v *visit) said() (view.Page, error) {
	name := v.named()
	r, err := v.messages(api.MessagesRequest{Checkpoint: api.Text(name), Begin: true, Limit: moreMessages})
	if err != nil {
		return view.Page{}, err
	}
	return view.Talk(v.frame, name, &r, view.TalkWithin), nil
}

// talk is a page of the conversation around a moment: before a place, from one on, or a part of one message.
func (v *visit) talk() (view.Page, error) {
	q, name := v.URL.Query(), v.named()
	if q.Get("read") != "" {
		return v.readOn(name)
	}
	req, how := v.stretch(name)
	r, err := v.messages(req)
	if err != nil {
		return view.Page{}, err
	}
	if req.Whole {
		return v.rest(&r)
	}
	return view.Talk(v.frame, name, &r, how), nil
}

// stretch is what an address asks for of a conversation, and how.
func (v *visit) stretch(name string) (req api.MessagesRequest, how view.Asked) {
	q := v.URL.Query()
	place := func(word string) *int64 {
		at, err := strconv.ParseInt(q.Get(word), 10, 64)
		if err != nil {
			return nil
		}
		return &at
	}
	req.Limit = moreMessages
	req.Generation, _ = strconv.ParseUint(q.Get("generation"), 10, 64)
	ofSession := true // not of a moment alone
	if whole := place("whole"); whole != nil {
		req.From, req.Whole, req.Limit = whole, true, 1
	} else if req.From = place("from"); req.From == nil {
		how, ofSession, req.Before = view.TalkBefore, false, place("before")
	} else if q.Get("within") != "" {
		how, ofSession = view.TalkWithin, false
	} else if how = view.TalkAfter; q.Get("on") != "" {
		how = view.TalkOn
	}
	if req.Session = q.Get("session"); !ofSession || req.Session == "" {
		req.Checkpoint, req.Session = api.Text(name), ""
	}
	return req, how
}

// readOn is a conversation from a turn on, to what was said last.
func (v *visit) readOn(name string) (view.Page, error) {
	first, err := v.messages(api.MessagesRequest{Checkpoint: api.Text(name), Begin: true, Limit: 1})
	if err != nil || len(first.Messages) == 0 {
		return view.Talk(v.frame, name, &first, view.TalkFrom), err
	}
	r, err := v.messages(api.MessagesRequest{
		Walk: api.Walk{Session: first.Session}, From: first.Messages[0].At, Generation: first.Generation,
		Limit: moreMessages,
	})
	if err != nil {
		return view.Page{}, err
	}
	return view.Talk(v.frame, name, &r, view.TalkFrom), nil
}

// rest is a part of one message, from a byte of its text on.
func (v *visit) rest(r *api.MessagesResponse) (view.Page, error) {
	if len(r.Messages) == 0 {
		return view.Page{}, &api.Error{Word: api.WordNotFound, Message: "this message does not exist any more"}
	}
	from, _ := strconv.Atoi(v.URL.Query().Get("at"))
	m := &r.Messages[0]
	return view.RestOfSaid(v.frame, v.where("at"), string(m.Text), view.Marked(m), from), nil
}

// prompt answers with the prompt of a turn, as it was typed.
func (p *Page) prompt(w http.ResponseWriter, r *http.Request) {
	v, err := p.visit(r)
	var said api.MessagesResponse
	if err == nil {
		said, err = v.messages(api.MessagesRequest{Checkpoint: api.Text(v.named()), Begin: true, Limit: 1, Whole: true})
	}
	if err == nil && (len(said.Messages) == 0 || said.Messages[0].Who != "user") {
		err = &api.Error{Word: api.WordNotFound, Message: "the conversation has no such prompt"}
	}
	if err != nil {
		p.send(w, r, failed(v.frame, err))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", "attachment")
	packed(w, r, http.StatusOK, []byte(said.Messages[0].Text))
}
