package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rewind/api"
)

func call[Req, Resp any](t *testing.T, c *api.Client, route api.Route[Req, Resp], req Req) Resp {
	t.Helper()
	r, err := api.Call(t.Context(), c, route, req, nil)
	if err != nil {
		t.Fatalf("%s: %v", route.Path, err)
	}
	return r
}

// refused is the error that a route answers with.
func refused[Req, Resp any](t *testing.T, c *api.Client, route api.Route[Req, Resp], req Req) *api.Error {
	t.Helper()
	_, err := api.Call(t.Context(), c, route, req, nil)
	var told *api.Error
	if !errors.As(err, &told) {
		t.Fatalf("%s: %v, want an error of the API", route.Path, err)
	}
	return told
}

// The files of a checkpoint come in pages of any size as they come at once, by directory or with what is below; a page
// begins behind its cursor though that is no path.
func TestFiles(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	p := r.newProject(t)
	odd := []string{"d.c", "d/b", "d/x/1", "d/x/2", "d0", "z \n", "\xff", ".hidden/f", "same/1", "same/2"}
	for _, name := range odd {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(p.ProjectDir(), name)), 0o755); err != nil {
			t.Fatal(err)
		}
		text := name
		if strings.HasPrefix(name, "same/") {
			text = "same"
		}
		put(t, p.ProjectDir(), name, text)
	}
	if err := os.Symlink("d/b", filepath.Join(p.ProjectDir(), "link")); err != nil {
		t.Fatal(err)
	}
	call(t, r.client, api.Save, api.SaveRequest{Project: p})
	for _, req := range []api.FilesRequest{
		{},
		{Deep: true},
		{Path: "d"},
		{Path: "d", Deep: true},
		{Path: "d/x/"},
		{Path: ".hidden"},
	} {
		req.Project, req.Checkpoint = p, "@"
		whole := call(t, r.client, api.Files, req)
		if len(whole.Files) == 0 || whole.More {
			t.Fatalf("%+v: %+v", req, whole)
		}
		for size := range 4 {
			var list []api.File
			page := req
			for page.Limit = size + 1; ; {
				got := call(t, r.client, api.Files, page)
				list = append(list, got.Files...)
				if page.After = got.Next; !got.More {
					break
				}
			}
			if !reflect.DeepEqual(list, whole.Files) {
				t.Errorf("%+v, by %d: %+v, want %+v", req, size+1, list, whole.Files)
			}
		}
	}
	at := map[api.Text]api.File{}
	for _, f := range call(t, r.client, api.Files, api.FilesRequest{Project: p, Checkpoint: "@", Deep: true}).Files {
		at[f.Path] = f
	}
	if f := at["link"]; f.Kind != "link" || f.Mode != "120000" {
		t.Errorf("%+v", f)
	}
	if f := at["d/x"]; f.Kind != "dir" || f.Size != 0 {
		t.Errorf("%+v", f)
	}
	if f := at["same/1"]; f.Kind != "file" || f.Size != 4 || f.ID != at["same/2"].ID || f.ID == at["d/b"].ID {
		t.Errorf("%+v", f)
	}
	behind := call(t, r.client, api.Files,
		api.FilesRequest{Project: p, Checkpoint: "@", Deep: true, After: "d/x/1zzz", Limit: 1})
	if behind.Files[0].Path != "d/x/2" {
		t.Errorf("%+v", behind.Files)
	}
	if told := refused(t, r.client, api.Files, api.FilesRequest{Project: p, Checkpoint: "@", Path: "d/b"}); told.Word != api.WordUsage {
		t.Errorf("%+v", told)
	}
}

// What is not found is told with what is like it, and a turn that is out of range with how many there are.
func TestNearest(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	p := r.newProject(t)
	a := &answers{t: t, r: r, p: p, user: t.TempDir()}
	a.talk()
	call(t, r.client, api.Tag, api.TagRequest{Project: p, Tag: "before-refactor", Checkpoint: "@"})
	id := call(t, r.client, api.Show, api.ShowRequest{Project: p, Checkpoint: "@"}).Checkpoint.ID
	other := id[:6] + "00"
	if strings.HasPrefix(id, other) {
		other = id[:6] + "11"
	}
	show := func(name string) *api.Error {
		return refused(t, r.client, api.Show, api.ShowRequest{Project: p, Checkpoint: api.Text(name)})
	}
	for name, want := range map[string]string{
		"before-refacotr":  "before-refactor",
		"session:00000009": "claude/" + second, // one of two
		"fork:00000003":    "claude/" + first,
		"turn:1@00000009":  "claude/" + second,
		other:              id[:12],
	} {
		if told := show(name); told.Word != api.WordNotFound || !slices.Contains(told.Nearest, want) ||
			!strings.HasPrefix(told.Hint, "did you mean '") {
			t.Errorf("%s: %q, %s, want %q", name, told.Nearest, told.Hint, want)
		}
	}
	if told := show("nothing-like-it"); told.Nearest != nil || strings.Contains(told.Hint, "did you") {
		t.Errorf("%+v", told)
	}
	if told := show("before-refactor~50"); told.Nearest != nil {
		t.Errorf("it is there: %+v", told)
	}
	if told := show("turn:9@" + first); told.Turns == nil || *told.Turns != 2 {
		t.Errorf("%+v", told)
	}
	if told := refused(t, r.client, api.Switch,
		api.SwitchRequest{Project: p, Branch: "look at too"}); !slices.Contains(told.Nearest, "claude/"+second) {
		t.Errorf("%q, %s", told.Nearest, told.Hint)
	}
	if told := refused(t, r.client, api.Tag,
		api.TagRequest{Project: p, Tag: "befor-refactor", Delete: true}); !slices.Equal(told.Nearest,
		[]string{"before-refactor"}) {
		t.Errorf("%+v", told)
	}
	path := refused(t, r.client, api.Files, api.FilesRequest{Project: p, Checkpoint: "before-refactor", Path: "aa"})
	if !slices.Equal(path.Nearest, []string{"a"}) {
		t.Errorf("%+v", path)
	}
	wrong := api.Project{Dir: p.Dir + "x"}
	if err := os.Mkdir(string(wrong.Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if told := refused(t, r.client, api.Tags, api.TagsRequest{Project: wrong}); told.Word != api.WordNoProject ||
		told.Nearest != nil {
		t.Errorf("a directory whose name is like a project's: %+v", told)
	}
	above := api.Project{Dir: api.Text(filepath.Dir(p.ProjectDir()))}
	if told := refused(t, r.client, api.Tags, api.TagsRequest{Project: above}); told.Word != api.WordNoProject ||
		!slices.Equal(told.Nearest, []string{p.ProjectDir()}) {
		t.Errorf("a directory above a project: %+v", told)
	}
}

// Names and projects have what there is, once each.
func TestNamesAndProjects(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	p, empty := r.newProject(t), r.newProject(t)
	a := &answers{t: t, r: r, p: p, user: t.TempDir()}
	a.talk()
	env := api.AgentEnv{Home: api.Text(a.user)}
	fork := call(t, r.client, api.MakeFork, api.ForkRequest{
		Project: p, Walk: api.Walk{Session: "claude/" + first}, Env: env, Checkpoint: "turn:1", Title: "another way",
	})
	call(t, r.client, api.Tag, api.TagRequest{Project: p, Tag: "here", Checkpoint: "@"})
	var names []string
	for _, n := range call(t, r.client, api.Names, api.NamesRequest{Project: p}).Names {
		names = append(names, n.Kind+" "+n.Name+" "+string(n.Title))
	}
	want := []string{
		"tag here ", "session " + fork.Session + " " + string(fork.Title), "session claude/" + second +
			" look\x1b at two",
		"session claude/" + first + " make it four",
	}
	slices.Sort(names[1:])
	slices.Sort(want[1:])
	if len(names) != len(want) || names[0] != want[0] {
		t.Errorf("%q, want %q", names, want)
	}
	if like := call(t, r.client, api.Names, api.NamesRequest{Project: p, Like: "another way"}).Names; len(like) != 1 ||
		like[0].Name != fork.Session {
		t.Errorf("%+v", like)
	}

	all := call(t, r.client, api.Projects, api.ProjectsRequest{Sessions: true})
	if len(all.Projects) != 2 {
		t.Fatalf("%+v", all)
	}
	one := call(t, r.client, api.Projects, api.ProjectsRequest{Project: p, Sessions: true}).Projects
	untitled := func(list []api.ProjectInfo) []api.ProjectInfo { // a file that was written just now is read again
		for i := range list {
			for k := range list[i].Sessions {
				list[i].Sessions[k].Title = ""
			}
		}
		return list
	}
	untitled(one)
	untitled(all.Projects)
	if len(one) != 1 ||
		!slices.ContainsFunc(all.Projects, func(o api.ProjectInfo) bool { return reflect.DeepEqual(o, one[0]) }) {
		t.Fatalf("%+v, %+v", one, all)
	}
	if got := call(t, r.client, api.Projects, api.ProjectsRequest{Project: empty, Sessions: true}).Projects[0]; got.Sessions != nil {
		t.Errorf("%+v", got)
	}
	of := map[string]api.ProjectSession{}
	for _, s := range one[0].Sessions {
		of[s.Session] = s
	}
	if s := of["claude/"+first]; !slices.Equal(s.Branches, []string{fork.Session}) || s.Turns != 2 || s.Running {
		t.Errorf("%+v", s)
	}
	if s := of["claude/"+second]; !s.Running || !s.Current || s.Agent != "claude" {
		t.Errorf("%+v", s)
	}
	if s := of[fork.Session]; s.Parent != "claude/"+first || s.Rewound {
		t.Errorf("%+v", s)
	}
	var paged []api.ProjectInfo
	for req := (api.ProjectsRequest{Sessions: true, Limit: 1}); ; {
		page := call(t, r.client, api.Projects, req)
		paged = append(paged, page.Projects...)
		if req.After = page.Next; !page.More {
			break
		}
	}
	if !reflect.DeepEqual(untitled(paged), all.Projects) {
		t.Errorf("%+v, want %+v", paged, all.Projects)
	}
}

// A list in pages is the list, of turns and of checkpoints, whatever is asked of it; what comes meanwhile is in none of
// them.
func TestListPages(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	p := r.newProject(t)
	a := &answers{t: t, r: r, p: p, user: t.TempDir()}
	a.talk()
	for i := range 5 {
		a.turn(first, fmt.Sprintf("prompt %d", i), fmt.Sprint(i))
		put(t, p.ProjectDir(), "outside", fmt.Sprint(i))
	}
	call(t, r.client, api.Undo,
		api.UndoRequest{Project: p, Walk: api.Walk{Session: first}, Wish: api.Wish{CodeOnly: true}, Steps: 3})
	a.turn(first, "and on", "on")
	strip := func(c api.Checkpoint) string {
		c.Target = "" // all calls have one id here
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	rows := func(r api.ListResponse) (list []string) {
		for _, c := range r.Checkpoints {
			list = append(list, strip(c))
		}
		for _, row := range r.Turns {
			said := fmt.Sprint(row.Session, row.Turn, row.Prompt, row.Steps, row.Aside, row.Added, row.Modified)
			list = append(list, said+strip(row.Checkpoint))
		}
		return list
	}
	for _, req := range []api.ListRequest{
		{}, {All: true}, {Steps: true}, {Turns: true}, {Turns: true, All: true}, {Turn: "turn:3@" + first},
	} {
		req.Project = p
		whole := call(t, r.client, api.List, req)
		want := rows(whole)
		for size := 1; size < 4; size++ {
			var got []string
			page, folded := req, 0
			for page.Limit = size; ; {
				r := call(t, r.client, api.List, page)
				if req.Turn != "" {
					r.Turns = nil
				}
				got, folded = append(got, rows(r)...), folded+r.Folded
				if page.Before = r.Next; !r.More {
					break
				}
			}
			if req.Turn != "" {
				whole.Turns = nil
				want = rows(whole)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v, by %d:\n%s\nwant\n%s", req, size, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if folded != whole.Folded {
				t.Errorf("%+v, by %d: %d folded, want %d", req, size, folded, whole.Folded)
			}
		}
	}
	req := api.ListRequest{Project: p, Limit: 2}
	one := call(t, r.client, api.List, req)
	req.Before = one.Next
	two := call(t, r.client, api.List, req)
	put(t, p.ProjectDir(), "a", "meanwhile")
	call(t, r.client, api.Save, api.SaveRequest{Project: p})
	again := call(t, r.client, api.List, req)
	if cmp.Compare(strings.Join(rows(two), ""), strings.Join(rows(again), "")) != 0 {
		t.Errorf("%v, before %v", rows(again), rows(two))
	}
}

// A conversation in pages is the conversation, from either end; a page stays what it is while more is said, and a place
// in a file that was replaced is refused.
func TestMessagePages(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{noWatch: true})
	p := r.newProject(t)
	a := &answers{t: t, r: r, p: p, user: t.TempDir()}
	for i := range 8 {
		a.turn(first, fmt.Sprintf("prompt %d", i), fmt.Sprint(i))
	}
	req := api.MessagesRequest{Project: p, Walk: api.Walk{Session: first}, Limit: 1000}
	whole := call(t, r.client, api.Messages, req)
	if len(whole.Messages) < 20 || whole.Older != nil || whole.Newer != nil || whole.Session != "claude/"+first ||
		whole.Turns != 8 {
		t.Fatalf("%+v", whole)
	}
	for i, turn := 0, 1; i < len(whole.Messages); i++ {
		m := whole.Messages[i]
		if m.Who == "user" && i > 0 {
			turn++
		}
		if m.Turn != turn || m.At == nil || *m.At >= whole.End {
			t.Errorf("%d: %+v, want turn %d", i, m, turn)
		}
	}
	pages := func(size int) (back, on []api.Message) {
		page := req
		for page.Limit = size; ; {
			got := call(t, r.client, api.Messages, page)
			back = append(slices.Clone(got.Messages), back...)
			if page.Before = got.Older; got.Older == nil {
				break
			}
		}
		page.Before = nil
		for page.From = new(int64); page.From != nil; {
			got := call(t, r.client, api.Messages, page)
			on = append(on, got.Messages...)
			page.From = got.Newer
		}
		return back, on
	}
	for _, size := range []int{1, 3, 7} {
		if back, on := pages(size); !reflect.DeepEqual(back, whole.Messages) || !reflect.DeepEqual(on, whole.Messages) {
			t.Errorf("by %d:\n%+v\n%+v\nwant\n%+v", size, back, on, whole.Messages)
		}
	}
	part := req
	part.Checkpoint = "turn:2@" + first
	if got := call(t, r.client, api.Messages, part); got.Turns != 2 || len(got.Messages) == 0 ||
		!reflect.DeepEqual(got.Messages,
			whole.Messages[:len(got.Messages)]) || got.Messages[len(got.Messages)-1].Turn != 2 {
		t.Errorf("%+v", got)
	}
	at := req
	at.Limit, at.Before, at.Generation = 4, whole.Messages[10].At, whole.Generation
	before := call(t, r.client, api.Messages, at)
	a.turn(first, "said meanwhile", "more")
	if again := call(t, r.client, api.Messages, at); !reflect.DeepEqual(again.Messages, before.Messages) ||
		again.End <= before.End {
		t.Errorf("%+v, before %+v", again, before)
	}
	since := req
	since.From = &whole.End
	if got := call(t, r.client, api.Messages, since); len(got.Messages) == 0 ||
		got.Messages[0].Text != "said meanwhile" ||
		got.Messages[0].Turn != 9 {
		t.Errorf("%+v", got)
	}
	at.Generation = 99
	if told := refused(t, r.client, api.Messages, at); told.Word != api.WordChanged {
		t.Errorf("%+v", told)
	}
	at.From = new(int64)
	if told := refused(t, r.client, api.Messages, at); told.Word != api.WordUsage {
		t.Errorf("%+v", told)
	}
	if got := call(t, r.client, api.Messages, api.MessagesRequest{Project: p, Walk: api.Walk{Session: "manual"}}); got.Conversation == "" {
		t.Errorf("%+v", got)
	}
	none := api.MessagesRequest{Project: p, Walk: api.Walk{Session: "0000000f"}}
	if told := refused(t, r.client, api.Messages, none); told.Nearest == nil {
		t.Errorf("%+v", told)
	}
}
