package restore_test

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
)

// planOf is the hash of what a dry run says.
func planOf(p *enginetest.Project, do func(restore.Options) (*restore.Result, error), o restore.Options) string {
	p.T.Helper()
	o.Env, o.DryRun = p.Env(), true
	r, err := do(o)
	p.Must(err)
	if len(r.PlanHash) != 64 {
		p.T.Fatalf("hash %q", r.PlanHash)
	}
	return r.PlanHash
}

// restores are the ways to restore that have a plan, by name.
func restores(p *enginetest.Project, k *enginetest.Talker) map[string]func(restore.Options) (*restore.Result, error) {
	rs := p.E.Restorer
	walk := model.SessionChoice{Session: k.Name()}
	return map[string]func(restore.Options) (*restore.Result, error){
		"checkout": func(o restore.Options) (*restore.Result, error) {
			o.Session = walk
			return rs.Checkout(enginetest.Bg, "turn:1", o)
		},
		"in place": func(o restore.Options) (*restore.Result, error) {
			o.InPlace = true
			return rs.Checkout(enginetest.Bg, "turn:1@"+k.Name(), o)
		},
		"undo": func(o restore.Options) (*restore.Result, error) {
			o.Session = walk
			return rs.Undo(enginetest.Bg, 1, o)
		},
		"switch": func(o restore.Options) (*restore.Result, error) { return rs.Switch(enginetest.Bg, k.Name(), o) },
		"fork with checkout": func(o restore.Options) (*restore.Result, error) {
			o.Session, o.Checkout = walk, true
			f, err := rs.Fork(enginetest.Bg, "turn:1", o)
			if err != nil {
				return nil, err
			}
			return f.Restore, nil
		},
		"revert": func(o restore.Options) (*restore.Result, error) {
			o.Session = walk
			return rs.Revert(enginetest.Bg, restore.PickOptions{Options: o, Change: "turn:2"})
		},
	}
}

// A plan has the same hash as often as it is asked for, whatever is drawn for it or told of it, and who names it has it
// done, with the same hash. Undone and asked for again, it is the same once more, where nothing of what it says has
// changed.
func TestPlanIsDone(t *testing.T) {
	for _, name := range []string{"checkout", "in place", "undo", "switch", "fork with checkout", "revert"} {
		t.Run(name, func(t *testing.T) {
			p, k := enginetest.TwoTurns(t)
			p.Write("new", "in no checkpoint")
			do := restores(p, k)[name]
			plan := planOf(p, do, restore.Options{})
			if again := planOf(p, do, restore.Options{}); again != plan {
				t.Fatalf("%s, then %s", plan, again)
			}
			r, err := do(restore.Options{Env: p.Env(), Plan: plan})
			p.Must(err)
			if r.PlanHash != plan || r.Operation == nil && name != "switch" {
				t.Errorf("done: %+v", r)
			}
			if name == "switch" {
				return
			}
			back := func(o restore.Options) (*restore.Result, error) { return p.E.Restorer.UndoRestore(enginetest.Bg, 0, o) }
			plan = planOf(p, back, restore.Options{})
			_, err = back(restore.Options{Env: p.Env(), Plan: plan})
			p.Must(err)
			p.Sound()
		})
	}
}

// Whatever changes in what would be done changes the hash: then nothing is done, and the refusal says what it was.
func TestPlanIsRefused(t *testing.T) {
	type change struct {
		do    func(p *enginetest.Project, k *enginetest.Talker, o *restore.Options)
		parts []value.PlanPart
		paths []value.Text
	}
	changes := map[string]change{
		"content": {
			func(p *enginetest.Project, _ *enginetest.Talker, _ *restore.Options) {
				p.Write("f", enginetest.Big("edited"))
			},
			[]value.PlanPart{value.PlanFiles},
			[]value.Text{"f"},
		},
		"permissions": {
			func(p *enginetest.Project, _ *enginetest.Talker, _ *restore.Options) {
				p.Must(os.Chmod(p.Path("f"), 0o755))
			},
			[]value.PlanPart{value.PlanFiles},
			[]value.Text{"f"},
		},
		"file gone": {
			func(p *enginetest.Project, _ *enginetest.Talker, _ *restore.Options) { p.Remove("f") },
			[]value.PlanPart{value.PlanFiles},
			[]value.Text{"f"},
		},
		"new file": {
			func(p *enginetest.Project, _ *enginetest.Talker, _ *restore.Options) { p.Write("new", "x") },
			[]value.PlanPart{value.PlanFiles},
			[]value.Text{"new"},
		},
		"exact": {
			func(_ *enginetest.Project, _ *enginetest.Talker, o *restore.Options) { o.Exact = true },
			[]value.PlanPart{value.PlanPlace},
			nil,
		},
		"code alone": {
			func(_ *enginetest.Project, _ *enginetest.Talker, o *restore.Options) { o.CodeOnly = true },
			[]value.PlanPart{value.PlanPlace, value.PlanConversation},
			nil,
		},
		"cursor": {func(p *enginetest.Project, k *enginetest.Talker, _ *restore.Options) {
			p.Write("other", "x")
			k.Take("three", p.Edits("other", "y"))
		}, nil, nil},
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			p, k := enginetest.TwoTurns(t)
			do := restores(p, k)["checkout"]
			o := restore.Options{Env: p.Env()}
			o.Plan = planOf(p, do, o)
			c.do(p, k, &o)
			before, files, ops := enginetest.List(t, p.Root), p.Files(), p.Session(k.Name())
			_, err := do(o)
			var changed *restore.PlanChangedError
			if !errors.As(err, &changed) || !errors.Is(err, restore.ErrMeanwhile) {
				t.Fatal(err)
			}
			if c.parts != nil && !slices.Equal(changed.Parts, c.parts) || !slices.Equal(changed.Paths, c.paths) && c.parts != nil {
				t.Errorf("changed: %v", err)
			}
			p.WantTree(before)
			if !slices.Equal(p.Files(), files) || !reflect.DeepEqual(p.Session(k.Name()), ops) {
				t.Error("something was done")
			}
			o.Plan = changed.Plan // what would be done now
			_, err = do(o)
			p.Must(err)
		})
	}
}

// A name that a person gives when the plan is shown, for the state before or the new session, makes it no other plan.
func TestPlanTakesNames(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	do := restores(p, k)["checkout"]
	o := restore.Options{Env: p.Env()}
	o.Plan = planOf(p, do, o)
	o.Tag, o.Title = "before", "another"
	r, err := do(o)
	p.Must(err)
	if r.PlanHash != o.Plan {
		t.Errorf("done as %s, planned as %s", r.PlanHash, o.Plan)
	}
}

// A session file that grows between the plan and a cut is not what was shown: what would go is more.
func TestPlanOfACutIsRefused(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	do := restores(p, k)["in place"]
	plan := planOf(p, do, restore.Options{})
	k.Say("one more thing")
	_, err := do(restore.Options{Env: p.Env(), Plan: plan})
	var changed *restore.PlanChangedError
	if !errors.As(err, &changed) || !slices.Equal(changed.Parts, []value.PlanPart{value.PlanConversation}) {
		t.Fatal(err)
	}
	for _, bad := range []string{"x", plan[1:], plan + "00"} {
		if _, err := do(restore.Options{Env: p.Env(), Plan: bad}); !errors.Is(err, model.ErrUsage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A session file that a cut would leave as it is makes no other plan than was shown; neither does a plan for which a
// dry run is done once more.
func TestPlanOfACutOfNothing(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	p.Write("f", enginetest.Big("by hand"))
	p.Save("by hand")
	was := p.Slurp(k.File)
	do := func(o restore.Options) (*restore.Result, error) {
		return p.E.Restorer.Checkout(enginetest.Bg, "turn:2@"+k.Name(), o)
	}
	o := restore.Options{InPlace: true, Env: p.Env()}
	beside := restore.Options{Env: p.Env()}
	o.Plan = planOf(p, do, o)
	if other := planOf(p, do, beside); other == o.Plan {
		t.Error("beside is planned as in place")
	}
	again := o
	again.DryRun = true
	if r, err := do(again); err != nil || r.PlanHash != o.Plan {
		t.Errorf("a dry run of the plan: %v", err)
	}
	r, err := do(o)
	p.Must(err)
	if r.PlanHash != o.Plan || r.Conversation.Mode != model.ConversationOriginal || p.Slurp(k.File) != was {
		t.Errorf("%s, want %s: %+v", r.PlanHash, o.Plan, r.Conversation)
	}
}

// A plan for sessions is done, or refused where what becomes of them is something else.
func TestPlanOfWhatIsManaged(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	_, err := p.E.Restorer.Manage(enginetest.Bg, manage.Request{
		Kind: refs.KindRename, Sessions: []string{k.Name()}, Title: "named", Env: p.Env(),
	})
	p.Must(err)
	undo := func(o restore.Options) (*restore.Result, error) { return p.E.Restorer.UndoRestore(enginetest.Bg, 0, o) }
	plan := planOf(p, undo, restore.Options{})
	k.Say("meanwhile")
	var changed *restore.PlanChangedError
	_, err = undo(restore.Options{Env: p.Env(), Plan: plan})
	if !errors.As(err, &changed) || !slices.Equal(changed.Parts, []value.PlanPart{value.PlanConversation}) {
		t.Fatalf("%v", err)
	}
	enginetest.Equal(t, "paths", changed.Paths, []value.Text{value.Text(k.File)})
	if s := p.Session(k.Name()); s.Title != "named" {
		t.Errorf("it was done: %q", s.Title)
	}
	r, err := undo(restore.Options{Env: p.Env(), Plan: changed.Plan})
	p.Must(err)
	if r.PlanHash != changed.Plan || p.Session(k.Name()).Title == "named" {
		t.Errorf("%s, want %s", r.PlanHash, changed.Plan)
	}
}
