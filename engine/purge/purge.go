package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Options say what is to be taken out of the store for good: the contents that ever stood at some paths, or below them; contents by
// their ids; every content, of files and conversations, that has a text in it.
type Options struct {
	Paths    []string // relative to the project's root
	Blobs    []string // ids of contents, or beginnings of them
	Text     []byte   // white space at its ends is left out; 6 bytes to 4 KiB
	DryRun   bool
	Progress model.Progress
}

// Result is what a purge took out, or would.
type Result struct {
	Contents    int
	Bytes       int64    // of the contents
	Before      int      // contents that were asked for and had been purged before
	Paths       []string // where the contents stood, in any checkpoint
	Checkpoints int      // that name one of them
	Sessions    []string // in whose conversations they were; their conversations are captured no more
	Present     []string // files of the worktree that still had such a content at the last checkpoint
	AgentFiles  []string // session files of those Sessions, which are the agents' own and stay
	Files       []string // other files of rewind's with the text in them: removed
	Prompts     int      // checkpoints, operations and sessions with the text in their own words, which stay
	Unread      int      // damaged objects that could not be searched
	Operation   uint64   // 0: nothing was taken out
}

// Purge takes contents out of the store for good, in one step, and then makes the files of the store forget their bytes. Every checkpoint
// stays; a restore leaves their paths as they are. Killed anywhere it has purged all or nothing; begun again, it ends what is left to do.
// ErrNotFound: nothing is or was there. Events wait only while it commits.
func (pu *Purger) Purge(ctx context.Context, o Options) (*Result, error) {
	p, err := pu.purgeScan(o)
	if err != nil {
		return nil, err
	}
	if err := pu.purgeable(); err != nil {
		return nil, err
	}
	if err := p.run(ctx); err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	for _, path := range p.paths {
		if !p.found[path] {
			return nil, fmt.Errorf("purge %q: %w: no checkpoint has it", path, model.ErrNotFound)
		}
	}
	if o.DryRun {
		return pu.purgeResult(p)
	}
	r, err := pu.purgeHeld(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	if r.Files, err = pu.purgeFiles(p); err != nil {
		return r, fmt.Errorf("purge: it is out of the store, but not of every file beside it: %w", err)
	}
	if any, err := pu.anyPurged(); err != nil || !any {
		return r, err
	}
	if err := pu.log.DB.Scrub(ctx); err != nil {
		return r, fmt.Errorf("purge: it is out of the store, but bytes of it may be in its files until purge was run again: %w", err)
	}
	return r, nil
}

// purgeable refuses while a checkout is half done: its journal names contents that it needs.
func (pu *Purger) purgeable() error {
	pu.log.Mu.Lock()
	defer pu.log.Mu.Unlock()
	return pu.log.CheckWhole()
}

func (pu *Purger) purgeScan(o Options) (*purgeScan, error) {
	p := &purgeScan{
		e: pu, progress: o.Progress, trees: tree.NewMemo(pu.log.Objs), doomed: map[objstore.Key]doom{}, gone: map[objstore.Key]bool{}, found: map[string]bool{},
		cps: map[objstore.Key]*model.Checkpoint{}, searched: map[objstore.Key]bool{}, looked: map[treeAt]bool{}, needled: map[objstore.Key]bool{},
		unread: map[objstore.Key]bool{}, nodes: map[objstore.ID]*conversation.Node{}, crossed: map[objstore.ID]bool{},
	}
	paths, err := model.NewPathSet(o.Paths)
	if err != nil {
		return nil, err
	}
	if p.paths = paths; slices.Contains(paths, "") {
		return nil, model.Usagef("purge: the whole project; 'rewind init --remove' removes its store")
	}
	for _, b := range o.Blobs {
		id, err := pu.log.Objs.Resolve(objstore.Blob, b)
		if errors.Is(err, objstore.ErrNotFound) {
			if was, gerr := p.purgedBefore(b); was || gerr != nil {
				if gerr != nil {
					return nil, gerr
				}
				continue
			}
		}
		if errors.Is(err, objstore.ErrBadID) {
			err = model.Usagef("%w", err)
		}
		if err != nil {
			return nil, fmt.Errorf("purge %.64q: %w", b, err)
		}
		if err := p.doom(id, ""); err != nil {
			return nil, err
		}
	}
	if text := bytes.TrimSpace(o.Text); len(text) > 0 {
		if len(text) < minNeedle || len(text) > MaxNeedle {
			return nil, model.Usagef("purge: a text of %d bytes; %d to %d can be looked for", len(text), minNeedle, MaxNeedle)
		}
		p.text = NewHaystack(Needles(text))
	}
	if len(p.paths)+len(o.Blobs)+len(p.text.needles) == 0 {
		return nil, model.Usagef("purge: nothing is named")
	}
	return p, nil
}

// purgedBefore takes in the contents that are gone and whose ids begin so.
func (p *purgeScan) purgedBefore(digits string) (found bool, err error) {
	err = p.e.log.Objs.WalkTombstones(func(k objstore.Kind, key objstore.Key, g objstore.Tombstone, err error) error {
		n := min(len(digits), len(key.String()))
		if err == nil && k == objstore.Blob && g.Reason == objstore.Purged && key.String()[:n] == strings.ToLower(digits[:n]) {
			p.gone[key], found = true, true
		}
		return nil
	})
	return found, err
}

// anyPurged tells whether anything was ever purged from the store: then the files may not have forgotten it yet.
func (pu *Purger) anyPurged() (found bool, err error) {
	err = pu.log.Objs.WalkTombstones(func(objstore.Kind, objstore.Key, objstore.Tombstone, error) error {
		found = true
		return kv.ErrStop
	})
	return found, err
}

// purgeHeld looks at what came while the store was searched, and commits.
func (pu *Purger) purgeHeld(ctx context.Context, p *purgeScan) (*Result, error) {
	defer pu.log.Hold()()
	if err := pu.log.CheckWhole(); err != nil {
		return nil, err
	}
	tx := pu.log.Objs.BeginAlone() // what else is under way is seen then
	defer tx.Discard()
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	if err := p.dependents(ctx); err != nil {
		return nil, err
	}
	r, err := pu.purgeHeldResult(p)
	if err != nil || len(p.doomed) == 0 {
		return r, err
	}
	for _, key := range p.needing {
		if err := tx.Unbase(objstore.Blob, key); err != nil {
			return nil, err
		}
	}
	var silent []*model.Session
	for _, name := range r.Sessions {
		if s := pu.log.Records[name]; s != nil {
			now := *s
			now.Purged, now.Problem = true, conversation.ErrPurgedTalk.Error()
			silent = append(silent, &now)
			pu.log.Silent.Store(name, true)
		}
	}
	now := pu.log.Now().UnixMilli()
	op, err := pu.log.Refs.Commit(ctx, tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		op := refs.Operation{Kind: refs.KindPurge, Time: now, Message: purgeMessage(r)}
		for key, d := range p.doomed {
			if err := tx.Expunge(objstore.Blob, key, objstore.Tombstone{
				Reason: objstore.Purged, Operation: seq, Time: now, Text: d.path, Chunked: d.chunked,
			}); err != nil {
				return op, nil, err
			}
		}
		for key := range p.chunks {
			if err := tx.Drop(objstore.Blob, key); err != nil {
				return op, nil, err
			}
		}
		for _, s := range silent {
			if err := tx.Batch().Set(model.SessionKey(s.Name), s.Encode()); err != nil {
				return op, nil, err
			}
		}
		return op, nil, nil
	})
	if err != nil {
		for _, s := range silent {
			pu.log.Silent.Delete(s.Name)
		}
		return nil, err
	}
	// What is kept in memory names what is gone, or holds it.
	pu.worktree.Forget()
	pu.log.Noted = oplog.Noted{}
	for _, s := range silent {
		pu.log.Records[s.Name] = s
		delete(pu.talks.Followed, s.Name)
	}
	r.Operation = op.Seq
	return r, nil
}

func purgeMessage(r *Result) string {
	if len(r.Paths) == 0 {
		return fmt.Sprintf("%d contents", r.Contents)
	}
	text := r.Paths[0]
	if n := len(r.Paths) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func (pu *Purger) purgeResult(p *purgeScan) (*Result, error) {
	pu.log.Mu.Lock()
	defer pu.log.Mu.Unlock()
	return pu.purgeHeldResult(p)
}

// purgeHeldResult says what a scan found; the log's lock is held.
func (pu *Purger) purgeHeldResult(p *purgeScan) (*Result, error) {
	if err := pu.log.LoadSessions(); err != nil {
		return nil, err
	}
	r := &Result{Contents: len(p.doomed), Before: len(p.gone), Unread: len(p.unread)}
	paths, talks := map[string]bool{}, map[string]bool{}
	for key, d := range p.doomed {
		r.Bytes += d.size
		maps.Copy(paths, p.where[key])
	}
	r.Paths = slices.SortedFunc(maps.Keys(paths), tree.ComparePaths)
	prompts := func(texts ...string) {
		if p.text.In([]byte(strings.Join(texts, "\n"))) {
			r.Prompts++
		}
	}
	for _, cp := range p.cps {
		if p.holds[cp.Tree] {
			r.Checkpoints++
		}
		if p.inTalk(cp.Mark.Transcript) {
			talks[cp.Session] = true
		}
		prompts(cp.Cause.Message, cp.Cause.Prompt)
	}
	for name, s := range pu.log.Records {
		if p.inTalk(s.Cursor.Transcript) || s.Fork != nil && p.inTalk(s.Fork.Transcript) {
			talks[name] = true
		}
		prompts(s.Prompt, s.Title)
	}
	err := pu.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Session != "" && p.inTalk(op.Transcript) {
			talks[op.Session] = true
		}
		prompts(op.Message)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Sessions = slices.Sorted(maps.Keys(talks))
	for _, name := range r.Sessions {
		if s := pu.log.Records[name]; s != nil && s.Transcript != "" {
			r.AgentFiles = append(r.AgentFiles, s.Transcript)
		}
	}
	r.Present, err = pu.purgePresent(p)
	return r, err
}

// purgePresent lists the files of the newest state that have what goes.
func (pu *Purger) purgePresent(p *purgeScan) ([]string, error) {
	was, err := pu.log.Head()
	if err != nil || was.Tree.IsZero() {
		return nil, err
	}
	now := oplog.NewLookups(p.trees, was.Tree)
	var out []string
	for key, paths := range p.where {
		for path := range paths {
			ent, err := now.Find(path)
			if err != nil {
				return nil, err
			}
			if model.IsFile(ent) && ent.ID.Key() == key {
				out = append(out, path)
			}
		}
	}
	slices.SortFunc(out, tree.ComparePaths)
	return out, nil
}
