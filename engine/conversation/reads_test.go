package conversation_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/hooks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// every is more reads than any question makes.
const every = 1 << 20

// A beginning is a transcript that a longer one begins with, or not.
type beginning struct {
	t     *testing.T
	all   []byte // of the longer one
	whole objstore.ID
	text  string // its own
	id    objstore.ID
}

func (c beginning) is() bool { return strings.HasPrefix(string(c.all), c.text) }

// told holds an answer, where there is one.
func (c beginning) told(err error, ok bool, answer ...any) error {
	if err == nil && !ok {
		c.t.Errorf("of %d bytes it is told: %v", len(c.text), answer)
	}
	return err
}

func (c beginning) beginsWith(get objstore.Getter) error {
	st, err := conversation.OpenEnd(get, c.whole)
	if err != nil {
		return err
	}
	n, is, err := st.BeginsWith(c.id)
	return c.told(err, is == c.is() && n == int64(len(c.text)), is, n)
}

func (c beginning) goesOn(get objstore.Getter) error {
	st, err := conversation.OpenEnd(get, c.whole)
	if err != nil {
		return err
	}
	of, err := conversation.OpenEnd(get, c.id)
	if err != nil {
		return err
	}
	on, err := st.GoesOn(of)
	return c.told(err, on == c.is(), on)
}

func (c beginning) common(get objstore.Getter) error {
	st, err := conversation.OpenTranscript(get, c.whole)
	if err != nil {
		return err
	}
	n, err := st.Common(strings.NewReader(c.text), min(int64(len(c.text)), st.Size))
	return c.told(err, n == int64(same([]byte(c.text), c.all)), n)
}

// appended has both ways to go on make the longer one of it.
func (c beginning) appended(tx *objstore.Tx) error {
	st, err := conversation.OpenTranscript(tx, c.whole)
	if err != nil {
		return err
	}
	cut, err := st.AppendTo(tx, int64(len(c.text)))
	if err != nil {
		return err
	}
	on, err := conversation.ResumeTranscript(tx, c.id)
	if err != nil {
		return err
	}
	for _, w := range []*conversation.Writer{cut, on} {
		if _, err := w.Write(c.all[len(c.text):]); err != nil {
			return err
		}
		if id, err := w.Close(); err != nil || id != c.whole {
			return c.told(err, false, id)
		}
	}
	return nil
}

// blocks asks for the blobs, from the last on, and what is common with a file that ends before.
func (c beginning) blocks(get objstore.Getter) error {
	const block = conversation.TranscriptBlock
	st, err := conversation.OpenEnd(get, c.whole)
	if err != nil {
		return err
	}
	sum := func(b []byte) objstore.ID { return objstore.Sum(objstore.Blob, b) }
	for _, want := range []struct {
		k  int
		id objstore.ID
	}{
		{9, sum(c.all[2*block:])},
		{2, sum(c.all[2*block:])},
		{1, sum(c.all[block : 2*block])},
		{0, sum(c.all[:block])},
		{-1, objstore.Zero},
	} {
		if id, err := st.Block(want.k); err != nil || id != want.id {
			return c.told(err, false, want.k, id)
		}
	}
	n, err := st.Common(bytes.NewReader(c.all[:block+9]), int64(len(c.all)))
	return c.told(err, n == block+9, n)
}

// TestTranscriptsWhileReadsFail: how transcripts begin, what is in them, and how they go on is told rightly, or not at
// all, where a read of the store fails.
func TestTranscriptsWhileReadsFail(t *testing.T) {
	t.Parallel()
	const block = conversation.TranscriptBlock
	p := enginetest.NewProject(t)
	all := someBytes(2*block+50, 5)
	changed := func(at int) string {
		b := bytes.Clone(all)
		b[at]++
		return string(b)
	}
	whole := put(p, string(all))
	c := beginning{t: t, all: all, whole: whole}
	p.ReadFails("blocks", every, func(q *enginetest.Project) (string, error) { return "", c.blocks(q.E.Log.Objs) })
	for i, text := range []string{
		string(all), string(all[:10]), string(all[:block+7]), changed(2*block + 20), string(all) + "more",
		changed(5), string(all) + string(someBytes(2*block, 6)),
	} {
		c := beginning{t, all, whole, text, put(p, text)}
		for name, ask := range map[string]func(objstore.Getter) error{
			"begins with": c.beginsWith, "goes on from": c.goesOn, "common with": c.common,
		} {
			if p.Must(ask(p.E.Log.Objs)); i < 2 {
				continue // the others read as much
			}
			p.ReadFails(fmt.Sprint(name, " ", i), every, func(q *enginetest.Project) (string, error) {
				return "", ask(q.E.Log.Objs)
			})
		}
		if i != 2 {
			continue
		}
		p.ReadFails("gone on with", every, func(q *enginetest.Project) (string, error) {
			tx := q.E.Log.Objs.Begin()
			defer tx.Discard()
			return "", c.appended(tx)
		})
	}
}

// TestStepsWhileReadsFail: a session file that a step writes is the old one or the new one, and the new one when it is
// done again; how far a copy is the same is told rightly, or not at all.
func TestStepsWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	text := p.Slurp(k.File)
	old := strings.Repeat("old\n", conversation.TranscriptBlock/3)
	now := strings.ReplaceAll(old, "old", "now")
	copied := p.Talker(2)
	step := refs.File{Path: p.Talker(3).File, From: put(p, old), To: put(p, now)}
	have(p, step.Path, old)
	p.ReadFails("a step", every, func(q *enginetest.Project) (string, error) {
		have(q, step.Path, old)
		err := conversation.SetSession(q.E.Log.Objs, register.Folders(q.Env()), step)
		got := has(q, step.Path)
		want := now
		if err != nil {
			want = old
		}
		if got != want {
			t.Errorf("%v, and the file has %d bytes", err, len(got))
		}
		return "", err
	})
	have(p, step.Path, "")
	have(p, copied.File, text[:strings.LastIndexByte(text[:len(text)-1], '\n')+1])
	copied.Line("user", `{"role":"user","content":"another way"}`)
	copied.Say("gone")
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	p.ReadFails("an event", every, func(q *enginetest.Project) (string, error) {
		_, err := q.E.Worktree.Handle(enginetest.Bg, hooks.Event{
			Agent: hooks.Claude, Session: copied.ID, Cwd: p.Root, Kind: hooks.Stop, Transcript: copied.File,
		}, capture.HandleOptions{Tier: tier})
		if err == nil {
			_, err = q.E.Worktree.FollowUp(enginetest.Bg)
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%+v", q.Session(copied.Name()).Fork), nil
	})
	copied.Stop() // in which its origin is found
	made := p.Session(copied.Name())
	if l := made.Fork; l == nil || l.Session != k.Name() || l.Turn != 2 {
		t.Fatalf("the copy is of %+v", l)
	}
	parent := p.Session(k.Name())
	p.ReadFails("what both have", every, func(q *enginetest.Project) (string, error) {
		st, err := conversation.OpenTranscript(q.E.Log.Objs, made.Cursor.Transcript)
		if err != nil {
			return "", err
		}
		l := &model.Lineage{}
		src := transcript.Source{ReaderAt: st, Size: st.Size, Name: copied.File, Ended: true}
		err = conversation.CommonTurns(l, q.E.Log.Objs, &made, &parent, src)
		if err == nil && (l.Turn != 2 || l.Both != 2) {
			t.Errorf("both have %+v", l)
		}
		return "", err
	})
	// where it was forked is known from then on
	p.E.Log.Lock()
	defer p.E.Log.Unlock()
	head, err := p.E.Log.Head()
	p.Must(err)
	cp, err := p.E.Log.Checkpoint(head.Checkpoint)
	p.Must(err)
	for _, name := range []string{copied.Name(), k.Name(), "claude/none"} {
		p.Must(p.E.Talks.PlaceOrigin(enginetest.Bg, name, cp))
	}
	if l := p.E.Log.Session(copied.Name()).Fork; l.Checkpoint != cp.ID.String() || l.Turn != 2 {
		t.Errorf("it was forked at %+v", l)
	}
	if l := p.E.Log.Session(k.Name()).Fork; l != nil {
		t.Errorf("what is no fork was forked at %+v", l)
	}
}

// TestSweep: what killed writers left beside session files goes, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	left := strings.Replace(k.File, k.ID, "."+k.ID, 1) + ".rewind-1"
	p.Must(conversation.WriteSession(register.Folders(p.Env()), p.Talker(2).File, false, func(w io.Writer) error {
		for _, name := range p.Files() { // as it is called while it is written
			if strings.HasPrefix(name, ".") {
				left = strings.Replace(k.File, k.ID+".jsonl", name, 1)
			}
		}
		return nil
	}))
	have(p, left, "half")
	list, err := p.E.Talks.Sweep(register.Folders(p.Env()))
	if p.Must(err); !slices.Equal(list, []string{left}) || len(p.Files()) != 2 {
		t.Errorf("swept %q, left %q", list, p.Files())
	}
	s := p.Session(k.Name())
	longLine(k, 10)
	k.Append(`{"not":"ended"`)
	f, err := conversation.OpenSession(s.Agent, k.File)
	p.Must(err)
	defer f.Close()
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	id, err := conversation.PutFile(tx, f, objstore.ID{})
	p.Must(err)
	if got := string(enginetest.ReadAll(t, tx, id)); got != p.Slurp(k.File) {
		t.Errorf("%d bytes are stored of a file of %d", len(got), len(p.Slurp(k.File)))
	}
	_, _, err = conversation.PutBytes(tx, objstore.ID{}, func(io.Writer) error { return io.ErrUnexpectedEOF })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("what cannot be read is stored: %v", err)
	}
}

// TestImportWhileReadsFail: an import has all sessions, or says that one failed, and the next has it.
func TestImportWhileReadsFail(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Save("first")
	var names []string
	for _, agent := range value.Agents() {
		s := p.Scribe(agent, enginetest.Unique())
		s.Asked("hello")
		s.Says("there")
		names = append(names, s.Name())
	}
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	later := p.Scribe(hooks.Codex, enginetest.Unique())
	later.Asked("hello")
	names = append(names, later.Name())
	p.ReadFails("import", every, func(q *enginetest.Project) (string, error) {
		res, err := q.E.Talks.Import(enginetest.Bg, q.Env(), nil)
		if err == nil {
			err = errors.Join(res.Failed...)
		}
		if err != nil {
			return "", err
		}
		var told strings.Builder
		for _, name := range names {
			s := q.Session(name)
			fmt.Fprintln(&told, name, s.Imported, s.Cursor.Length, s.Cursor.Transcript, s.Turn)
		}
		return told.String(), nil
	})
}
