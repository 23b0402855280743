package page

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"rewind/api"
	"rewind/server/page/view"
)

const (
	restoresAtOnce = 200
	foundAtOnce    = 80 // of each kind
)

// tree is the branches of all families.
func (v *visit) tree() (view.Page, error) {
	r, err := v.branches()
	if err != nil {
		return view.Page{}, err
	}
	return view.Branching(v.frame, v.frame.DrawTree(&r)), nil
}

func (v *visit) compare() (view.Page, error) {
	q := v.URL.Query()
	r, err := api.Call(v.Context(), v.page.client, api.Compare, api.CompareRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, A: api.Text(q.Get("a")), B: api.Text(q.Get("b")), Context: 3,
	}, nil)
	if err != nil {
		return view.Page{}, err
	}
	if r.A.Title == "" || r.B.Title == "" { // a tree knows them of sessions whose files have none
		tree, err := api.Call(v.Context(), v.page.client, api.Tree, api.TreeRequest{Project: v.dir(), Session: r.A.Session, All: true}, nil)
		if err != nil {
			return view.Page{}, err
		}
		for _, b := range tree.Branches {
			for _, side := range []*api.CompareSide{&r.A, &r.B} {
				if side.Session == b.Branch && side.Title == "" {
					side.Title = b.Title
				}
			}
		}
	}
	return v.compared(&r), nil
}

// compared is the document of a comparison, or more of it.
func (v *visit) compared(r *api.CompareResponse) view.Page {
	q, name := v.URL.Query(), part(v.Request)
	switch {
	case ofChange[name] && q.Get("side") == "a":
		return view.More(v.frame, r.A.Files, v.piece(), nil)
	case ofChange[name]:
		return view.More(v.frame, r.B.Files, v.piece(), nil)
	case name == "overlaps":
		from, _ := strconv.Atoi(q.Get("overlap"))
		return view.Overlaps(v.frame, v.where("overlap"), r, from)
	}
	return view.Compare(v.frame, v.where(), r)
}

// diff is what is different between two states.
func (v *visit) diff() (view.Page, error) {
	q := v.URL.Query()
	r, err := api.Call(v.Context(), v.page.client, api.Diff, api.DiffRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, From: api.Text(q.Get("from")), To: api.Text(q.Get("to")), Context: 3,
		Back: q.Get("back") != "", Paths: only(q.Get("file")),
	}, nil)
	if err != nil {
		return view.Page{}, err
	}
	if ofChange[part(v.Request)] {
		return view.More(v.frame, r.Files, v.piece(), nil), nil
	}
	return view.Between(v.frame, v.where(), &r), nil
}

// only are the paths of one file; "": of any.
func only(file string) []api.Text {
	if file == "" {
		return nil
	}
	return []api.Text{api.Text("./" + file)}
}

// ops is the history of going back.
func (v *visit) ops() (view.Page, error) {
	from := v.from()
	r, err := api.Call(v.Context(), v.page.client, api.Ops, api.OpsRequest{
		Project: v.dir(), Restores: true, Limit: from + restoresAtOnce,
	}, nil)
	if err != nil {
		return view.Page{}, err
	}
	return view.Restores(v.frame, r.Operations, from), nil
}

// find searches prompts, the files of all checkpoints, and conversations. The words are looked for as they are. Prompts
// come first: the rest, which takes longer, is asked for by the page once they are there.
func (v *visit) find() (view.Page, error) {
	query := v.URL.Query().Get("q")
	if query == "" {
		return view.Find(v.frame, view.Found{}), nil
	}
	if v.URL.Query().Get("all") != "" {
		room := view.RoomOfList()
		return view.Find(v.frame, v.search(v.Context(), query, foundAtOnce, &room)), nil
	}
	list, err := v.prompts(v.Context(), query, foundAtOnce)
	room := view.RoomOfList()
	found := v.frame.Found(query, list.Turns, nil, err, &room)
	found.Rest = found.Href + "&all=1"
	return view.Find(v.frame, found), nil
}

// prompts are the newest turns whose prompts have the words.
func (v *visit) prompts(ctx context.Context, query string, most int) (api.ListResponse, error) {
	return api.Call(ctx, v.page.client, api.List, api.ListRequest{
		Project: v.dir(), Filter: api.Filter{Prompt: api.Text(query)}, Turns: true, Limit: most,
	}, nil)
}

// search finds so much of each kind in one project. What could not be looked through is said in what it gives.
func (v *visit) search(ctx context.Context, query string, most int, room *view.Room) view.Found {
	var list api.ListResponse
	var r api.GrepResponse
	err := both(func() (err error) {
		list, err = v.prompts(ctx, query, most)
		return err
	}, func() (err error) {
		r, err = api.Call(ctx, v.page.client, api.Grep, api.GrepRequest{
			Project: v.dir(), Pattern: api.Text(regexp.QuoteMeta(query)), IgnoreCase: true, Code: true, Conversation: true,
			Once: true, Names: true, Limit: most,
		}, nil)
		return err
	})
	r.More = r.More || list.More
	return v.frame.Found(query, list.Turns, &r, err, room)
}

// both asks two things at once.
func both(one, other func() error) error {
	var wg sync.WaitGroup
	var errs [2]error
	wg.Go(func() { errs[1] = other() })
	errs[0] = one()
	wg.Wait()
	return errors.Join(errs[:]...)
}

const (
	foundEach  = 20              // of each kind in one of all projects
	searchWait = 4 * time.Second // for all projects; those that are left are named
)

// findAll searches every project, the one that changed last first. What it had no time for is named.
func (v *visit) findAll() (view.Page, error) {
	query := v.URL.Query().Get("q")
	stores, err := api.Call(v.Context(), v.page.client, api.Stores, api.StoresRequest{}, nil)
	if err != nil || query == "" {
		return view.FindAll(v.frame, query, nil), err
	}
	slices.SortStableFunc(stores.Stores, func(a, b api.Store) int {
		used := func(s api.Store) time.Time {
			if s.Used == nil {
				return time.Time{}
			}
			return *s.Used
		}
		return used(b).Compare(used(a))
	})
	ctx, cancel := context.WithTimeout(v.Context(), searchWait)
	defer cancel()
	var all []view.Found
	room := view.RoomOfList()
	for _, s := range stores.Stores {
		if s.Root == "" || s.Wrong != "" {
			continue
		}
		one := *v
		one.root = s.Root
		one.frame.Project, one.frame.Root, one.frame.Name = s.ID, string(s.Root), filepath.Base(string(s.Root))
		f := one.frame.Found(query, nil, nil, nil, &room)
		if f.Left = ctx.Err() != nil || room.Full(); !f.Left {
			f = one.search(ctx, query, foundEach, &room)
			f.Left = f.Left || ctx.Err() != nil
		}
		all = append(all, f)
	}
	return view.FindAll(v.frame, query, all), nil
}

// lanesAtOnce is how many turns are drawn in time.
const lanesAtOnce = 120

// lanes is turns of all sessions in time, the newest or those before one; above it how much happened in all of the
// project's time.
func (v *visit) lanes() (view.Page, error) {
	if part(v.Request) == "strip" {
		d, err := api.Call(v.Context(), v.page.client, api.Density, api.DensityRequest{Project: v.dir()}, nil)
		if err != nil {
			return view.Page{}, err
		}
		return view.Time(v.frame, v.frame.DrawStrip(&d)), nil
	}
	before, _ := strconv.ParseUint(v.URL.Query().Get("before"), 10, 64)
	window := view.Window{Before: before, Zoom: view.Zoom(v.URL.Query().Get("zoom"))}
	var list api.ListResponse
	var ops api.OpsResponse
	err := both(func() (err error) {
		list, err = api.Call(v.Context(), v.page.client, api.List, api.ListRequest{
			Project: v.dir(), Turns: true, Limit: lanesAtOnce, Before: before, Kin: true,
		}, nil)
		return err
	}, func() (err error) {
		req := api.OpsRequest{Project: v.dir(), Restores: true, Limit: restoresAtOnce}
		ops, err = api.Call(v.Context(), v.page.client, api.Ops, req, nil)
		return err
	})
	if err != nil {
		return view.Page{}, err
	}
	window.Next = list.Next
	return view.Time(v.frame, v.frame.DrawLanes(list.Turns, ops.Operations, window)), nil
}

// files is a directory of a checkpoint.
func (v *visit) files() (view.Page, error) {
	cp, dir := v.PathValue("checkpoint"), v.URL.Query().Get("path")
	r, err := api.Call(v.Context(), v.page.client, api.Entries, api.EntriesRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Checkpoint: api.Text(cp), Path: api.Text(dir),
	}, nil)
	if err != nil {
		return view.Page{}, err
	}
	return view.Directory(v.frame, cp, dir, r.Entries, v.from()), nil
}

// maxShownFile is the size in bytes up to which a file is shown.
const maxShownFile = 2 << 20

// file is one as a checkpoint has it, with what changed it.
func (v *visit) file() (view.Page, error) {
	cp, path := v.PathValue("checkpoint"), v.URL.Query().Get("path")
	content := limited{most: maxShownFile}
	err := v.page.client.Cat(v.Context(), api.CatRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Checkpoint: api.Text(cp), Path: api.Text(path),
	}, &content)
	if err != nil && !content.over {
		return view.Page{}, err
	}
	var blame *api.BlameResponse
	if v.URL.Query().Get("blame") != "" && !content.over {
		r, err := api.Call(v.Context(), v.page.client, api.Blame, api.BlameRequest{
			Project: v.dir(), Walk: api.Walk{Choose: true}, Checkpoint: api.Text(cp), Path: api.Text(path),
		}, nil)
		if err != nil {
			return view.Page{}, err
		}
		blame = &r
	}
	history, err := api.Call(v.Context(), v.page.client, api.Paths, api.PathsRequest{
		Project: v.dir(), Paths: []api.Text{api.Text(path)}, Limit: rowsAtOnce,
	}, nil)
	if err != nil {
		return view.Page{}, err
	}
	if part(v.Request) == "line" {
		return view.RestOfLine(v.frame, v.where("line", "at"), content.Bytes(), v.piece()), nil
	}
	at := v.place(cp, path)
	return view.Content(v.frame, cp, path, content.Bytes(), content.over, blame, history.Checkpoints, at), nil
}

// place is where in a file an address leads. Who wrote the line that it names is told with it.
func (v *visit) place(cp, path string) view.Place {
	q := v.URL.Query()
	number := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return max(n, 0) }
	at := view.Place{From: v.from(), Until: number("until"), Line: number("to"), Words: q.Get("q")}
	if at.Line == 0 || at.Until > 0 {
		return at
	}
	r, err := api.Call(v.Context(), v.page.client, api.Blame, api.BlameRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Checkpoint: api.Text(cp), Path: api.Text(path),
		First: at.Line, Last: at.Line,
	}, nil)
	if err == nil { // else it is shown without
		at.Whose = &r
	}
	return at
}

// limited takes in so many bytes, and refuses more.
type limited struct {
	bytes.Buffer
	most int
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > l.most {
		l.over = true
		return 0, errors.New("page: larger than what is shown")
	}
	return l.Buffer.Write(b)
}
