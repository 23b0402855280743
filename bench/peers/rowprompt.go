package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/api"
	"rewind/bench/workload"
	"rewind/engine"
)

// A talk is a session of Claude's that grows, as its agent writes it.
type talk struct {
	*world
	id, path string
	s        *workload.Session
}

// takeLimit bounds the wait for the first capture of a session, of 1 GB too on a busy machine.
const takeLimit = 5 * time.Minute

// promptGrowth is by how much a session file has grown since the last hook.
const promptGrowth = 10 << 10

// newTalk writes the nth session of a world's project, of so many bytes, where its agent would.
func (w *world) newTalk(n int, size int64) (*talk, error) {
	k := &talk{world: w, id: fmt.Sprintf("5f1c0d2e-7a44-4c1b-9d55-%012d", n)}
	slug := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, w.tree)
	k.path = filepath.Join(w.bench.dir, "user", ".claude", "projects", slug, k.id+".jsonl")
	var err error
	k.s, _, err = workload.WriteSession(k.path, k.id, w.tree, size, uint64(n))
	return k, err
}

// grow appends what the agent has said.
func (k *talk) grow() error {
	f, err := os.OpenFile(k.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(k.s.Reply(promptGrowth))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// prompt tells of a prompt, in the tree and with the daemon of c.
func (k *talk) prompt(ctx context.Context, c command) (sample, error) {
	in, err := json.Marshal(map[string]any{
		"session_id": k.id, "transcript_path": k.path, "cwd": c.dir, "prompt_id": "33311054-b639-426a-8ede-15a9964e66a9",
		"permission_mode": "acceptEdits", "hook_event_name": "UserPromptSubmit", "prompt": "make the parser faster",
	})
	if err != nil {
		return sample{}, err
	}
	return k.event(ctx, c, "user-prompt-submit", in)
}

// turn is one prompt of a run.
func (k *talk) turn(ctx context.Context, c command, into *[]float64, grows, counts bool) error {
	if grows {
		if err := k.grow(); err != nil {
			return err
		}
	}
	took, err := k.prompt(ctx, c)
	if counts {
		*into = append(*into, ms(took.Wall))
	}
	time.Sleep(restTime)
	return err
}

// take has the whole session taken in before anything is measured: what is too much for a hook is taken after it. Only how far that has come is asked
// for: a list of the turns would read the file itself, over and over beside the capture.
func (k *talk) take(ctx context.Context) error {
	fi, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	if _, err := k.prompt(ctx, k.world.command()); err != nil {
		return err
	}
	began := time.Now()
	for have := int64(0); ; {
		var st api.StatusResponse
		err := k.ask(ctx, &st, "status")
		i := slices.IndexFunc(st.Sessions, func(s api.Session) bool { return s.Session == k.id })
		if err == nil && i >= 0 {
			have = st.Sessions[i].Captured
		}
		if have == fi.Size() {
			return nil
		}
		if time.Since(began) > takeLimit {
			return errors.Join(err, fmt.Errorf("of a session of %d bytes %d were taken in %v", fi.Size(), have, takeLimit))
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// taken fails unless every byte of the sessions is in the store, when the daemon has ended.
func (w *world) taken(ctx context.Context, talks ...*talk) (err error) {
	if err := w.end(ctx); err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Home{Dir: w.home}, w.tree, engine.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	list, err := e.Sessions()
	if err != nil {
		return err
	}
	for _, k := range talks {
		fi, err := os.Stat(k.path)
		if err != nil {
			return err
		}
		have := int64(-1)
		for _, s := range list {
			if s.ID == k.id {
				have = s.Cursor.Length
			}
		}
		if have != fi.Size() {
			return fmt.Errorf("of the %d bytes of a session %d were taken", fi.Size(), have)
		}
	}
	return nil
}

// floorCommand is the client with the daemon that does nothing.
func (s *site) floorCommand() command {
	c := s.command()
	c.dir, c.env = s.tree, append(c.env[:len(c.env):len(c.env)], "REWIND_HOME="+filepath.Join(s.dir, "floor"))
	return c
}

// promptRow is the hook of a prompt in a long conversation.
func (t *table) promptRow(ctx context.Context) error {
	s := t.middle()
	if err := s.begin(ctx); err != nil {
		return err
	}
	k, err := s.rewind.newTalk(1, t.opt.transcript)
	if err != nil {
		return err
	}
	t.say("prompt: a session of %s", inBytes.format(float64(t.opt.transcript)))
	if err := k.take(ctx); err != nil {
		return err
	}
	var f, mine []float64
	for round := range t.opt.rounds + warmCalls {
		one := func(c command, into *[]float64, grows bool) func() error {
			return func() error { return k.turn(ctx, c, into, grows, round >= warmCalls) }
		}
		if err := turns(ctx, round, one(s.floorCommand(), &f, false), one(s.rewind.world.command(), &mine, true)); err != nil {
			return err
		}
	}
	if err := s.rewind.taken(ctx, k); err != nil {
		return err
	}
	t.add("prompt", "prompt hook, 10 KB said since", inBytes.format(float64(t.opt.transcript))+" of conversation", inMillis, mine, emptyHook, f, within(1.5))
	return os.Remove(k.path)
}
