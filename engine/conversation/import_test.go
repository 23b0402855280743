package conversation_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
)

// TestImportFails: what cannot be imported is told with the reason, and stops no other session.
func TestImportFails(t *testing.T) {
	t.Parallel()
	const id, other = "00000007-1111-4111-8111-000000000007", "00000008-1111-4111-8111-000000000008"
	for what, c := range map[string]struct {
		agent hooks.Agent
		do    func(p *enginetest.Project, s *enginetest.Scribe)
		want  string // "": nothing is told
	}{
		"a folder that leads out": {hooks.Claude, func(p *enginetest.Project, s *enginetest.Scribe) {
			dir := filepath.Dir(filepath.Dir(s.File))
			p.Must(os.Rename(dir, filepath.Join(p.User(), "out")))
			p.Must(os.Symlink(filepath.Join(p.User(), "out"), dir))
		}, "it leads out of "},
		"a project's folder that is a link": {hooks.Claude, func(p *enginetest.Project, s *enginetest.Scribe) {
			dir := filepath.Dir(s.File)
			p.Must(os.Rename(dir, filepath.Join(p.User(), "out")))
			p.Must(os.Symlink(filepath.Join(p.User(), "out"), dir))
		}, "it is a link, and links are not followed"},
		"a broken document": {hooks.Gemini, func(p *enginetest.Project, s *enginetest.Scribe) {
			have(p, s.File, "")
			have(p, strings.TrimSuffix(s.File, "l"), `{"sessionId":"`+id+`","messages":[{"id":`)
		}, ".json"},
		"no id": {hooks.Droid, func(p *enginetest.Project, s *enginetest.Scribe) {
			have(p, s.File, strings.ReplaceAll(p.Slurp(s.File), `"id":"`+id+`"`, `"is":"x"`))
		}, "no id of a session in it"},
		"an id that is none": {hooks.Droid, func(p *enginetest.Project, s *enginetest.Scribe) {
			have(p, s.File, strings.ReplaceAll(p.Slurp(s.File), `"id":"`+id+`"`, `"id":"../x"`))
		}, "no id of a session in it"},
		"no folder": {hooks.Droid, func(p *enginetest.Project, _ *enginetest.Scribe) {
			p.Must(os.RemoveAll(filepath.Join(p.User(), ".factory")))
			have(p, filepath.Join(p.User(), ".factory"), "x")
		}, "not a directory"},
		"the name of another one": {hooks.Droid, func(p *enginetest.Project, s *enginetest.Scribe) {
			have(p, strings.Replace(s.File, id, other, 1), p.Slurp(s.File))
		}, ""},
	} {
		p := enginetest.NewProject(t)
		p.Save("first")
		s := p.Scribe(c.agent, id)
		s.Asked("hello")
		c.do(p, s)
		last := p.Scribe(hooks.Codex, other)
		last.Asked("hello")
		res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		p.Must(err)
		all := []string{last.Name()}
		if c.want == "" {
			all = append(all, s.Name())
		}
		slices.Sort(res.Sessions)
		slices.Sort(all)
		said := errors.Join(append(res.Failed, res.Passed...)...)
		told := said != nil && strings.Contains(said.Error(), c.want)
		if !slices.Equal(res.Sessions, all) || told == (c.want == "") || len(res.Failed) > 1 {
			t.Errorf("%s: imported %q, failed %v, passed %v", what, res.Sessions, res.Failed, res.Passed)
		}
		known, err := p.E.Log.Sessions()
		if p.Must(err); len(known) != len(all) {
			t.Errorf("%s: %d sessions are known", what, len(known))
		}
	}
}

// importedCopy is a project with a session, and a copy of it that names no origin, went on and was imported.
func importedCopy(t *testing.T) (p *enginetest.Project, k, c *enginetest.Talker) {
	t.Helper()
	p, k = enginetest.TwoTurns(t)
	c = p.Talker(2)
	have(p, c.File, unnamed(p, k, c))
	c.Used("another way")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	return p, k, c
}

// TestNothingWhileHalfDone: while a restore is unfinished nothing is imported, and no origin is told.
func TestNothingWhileHalfDone(t *testing.T) {
	t.Parallel()
	p, _, c := importedCopy(t)
	is := p.Session(c.Name())
	p.Crashed("turn:1", restore.Options{}, false, 0)
	p.Reopen()
	if res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil); !errors.Is(err, model.ErrHalfDone) {
		t.Errorf("imported %+v, %v", res, err)
	}
	p.Must(p.E.Log.LoadSessions())
	is.Fork = nil
	p.E.Log.Remember(&is)
	p.E.Talks.ForgetOrigins([]string{is.Name})
	last := p.E.Log.DB.LastSeq()
	p.E.Talks.ResolveOriginsUnlocked(enginetest.Bg, []string{is.Name})
	if f := p.E.Log.Session(is.Name).Fork; f != nil || p.E.Log.DB.LastSeq() != last {
		t.Errorf("it is told to be of %+v", f)
	}
}

// TestUnlikeOrigins: a session is told to be made of none that is another agent's, a subagent's, or not there any more.
func TestUnlikeOrigins(t *testing.T) {
	t.Parallel()
	p, k, c := importedCopy(t)
	l := &looker{Project: p, is: p.Session(c.Name())}
	of := p.Session(k.Name())
	for _, x := range []struct {
		what   string
		change func(s *model.Session)
		want   bool
	}{
		{"as it was", func(*model.Session) {}, true},
		{"another agent's", func(s *model.Session) { s.Agent = hooks.Codex }, false},
		{"a subagent's", func(s *model.Session) { s.LaneOf = "claude/x" }, false},
		{"purged", func(s *model.Session) { s.Purged = true }, false},
		{"not captured", func(s *model.Session) { s.Cursor = model.Cursor{} }, false},
		{"made of it by rewind", func(s *model.Session) {
			s.Fork = &model.Lineage{Lineage: value.Lineage{Session: c.Name(), Kind: value.ForkMade}}
		}, false},
	} {
		one := of
		x.change(&one)
		p.Must(p.E.Log.LoadSessions())
		p.E.Log.Remember(&one)
		p.E.Talks.ForgetOrigins([]string{c.Name()})
		if got := l.looks(func(*model.Session) {}); got != x.want {
			t.Errorf("%s: an origin is found %v", x.what, got)
		}
		p.E.Log.Remember(&of)
	}
}

// TestPointsOfOthers: what is stored of where conversations begin counts where this program has written it; else it is
// found again, and what is of no session goes.
func TestPointsOfOthers(t *testing.T) {
	t.Parallel()
	p, _, c := importedCopy(t)
	l := &looker{Project: p, is: p.Session(c.Name())}
	known := func(name string) (raw []byte) {
		err := p.E.Log.DB.View(model.PointsKey(name), func(val []byte) error {
			raw = slices.Clone(val)
			return nil
		})
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			t.Fatal(err)
		}
		return raw
	}
	was := known(c.Name())
	old, err := model.DecodePoints(was)
	p.Must(err)
	old.Read++
	for what, x := range map[string]struct {
		name string
		raw  []byte
		want bool
	}{
		"as it was":             {c.Name(), was, false},
		"read by another":       {c.Name(), old.Encode(), true},
		"damaged":               {c.Name(), []byte("\xffx"), true},
		"of a session not here": {"claude/none", was, false},
	} {
		b := p.E.Log.DB.NewBatch()
		p.Must(b.Set(model.PointsKey(x.name), x.raw))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		p.Reopen()
		if got := l.looks(func(*model.Session) {}); got != x.want {
			t.Errorf("%s: looked for %v", what, got)
		}
		if now := known(c.Name()); string(now) != string(was) {
			t.Errorf("%s: stored as %q, want %q", what, now, was)
		}
		if now := known("claude/none"); len(now) > 0 {
			t.Errorf("%s: stored of no session", what)
		}
	}
}

// TestOriginInHookReads: a hook tells the origin as long as both conversations are no more than it may read; of longer
// ones, and where something is lost, it is told later.
func TestOriginInHookReads(t *testing.T) {
	t.Parallel()
	for size, inHook := range map[int]bool{700 << 10: true, 1200 << 10: false} {
		p, k := enginetest.TwoTurns(t)
		have(p, k.File, longer(p.Slurp(k.File), size))
		p.Settle()
		c := p.Talker(2)
		c.N, c.Parent = 1000, k.Parent
		all := unnamed(p, k, c)
		have(p, c.File, all[:strings.LastIndexByte(all[:len(all)-1], '\n')+1]) // without the long line
		c.Used("another way")
		c.Stop()
		want := k.Name() + " at 2 by content"
		if got := origin(p.Session(c.Name())); (got == want) != inHook || !inHook && got != "none" {
			t.Errorf("of %d bytes: in the hook: of %s", size, got)
		}
		p.Settle()
		if got := origin(p.Session(c.Name())); got != want {
			t.Errorf("of %d bytes: later: of %s, want %s", size, got, want)
		}
		if !inHook {
			continue
		}
		tx := p.E.Log.Objs.Begin()
		lost := p.Session(c.Name())
		lost.Name, lost.Fork, lost.Cursor.Transcript = "claude/"+enginetest.ClaudeID(7), nil, none
		if p.E.Talks.OriginInHook(tx, &lost) || lost.Fork != nil {
			t.Errorf("of what is lost it is told: %+v", lost.Fork)
		}
		of := p.Session(k.Name())
		of.Cursor.Transcript = none
		p.E.Log.Remember(&of)
		again := p.Session(c.Name())
		again.Name, again.Fork = lost.Name, nil
		again.Cursor.Transcript = put(p, p.Slurp(k.File)[:300]+"\n"+p.Slurp(c.File))
		if p.E.Talks.OriginInHook(tx, &again); again.Fork != nil {
			t.Errorf("of one that is lost it is told: %+v", again.Fork)
		}
		tx.Discard()
	}
}
