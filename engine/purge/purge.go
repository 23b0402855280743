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
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Options say what to delete from the store for good. By path: all contents that were ever at a path or below it. By
// id: those contents. By text: every content of files and conversations that has one of the texts.
type Options struct {
	Paths    []string           // relative to the project's root
	Blobs    []string           // ids of contents, or beginnings of them
	Texts    [][]byte           // white space at their ends is left out; 6 bytes to 4 KiB
	Folders  agentfiles.Folders // of the person who asks: what killed writers left beside session files goes, too; nil: it stays
	DryRun   bool
	Progress model.Progress
}

// Purge takes contents out of the store for good, in one step, and then makes the files of the store forget their
// bytes. Every checkpoint
// stays; a restore leaves their paths as they are. Killed anywhere it has purged all or nothing; begun again, it ends
// what is left to do.
// ErrNotFound: nothing is or was there. Events wait only while it commits.
func (pu *Purger) Purge(ctx context.Context, o Options) (*value.Purged, error) {
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
			return nil, &value.OpError{
				Op: "purge", Subject: path, Typed: true,
				Err: fmt.Errorf("%w: no checkpoint has it", model.ErrNotFound),
			}
		}
	}
	if o.DryRun {
		r, err := pu.purgeResult(ctx, p)
		if err == nil {
			r.Present, err = pu.present(ctx, p)
		}
		return r, err
	}
	r, err := pu.purgeHeld(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	if r.Present, err = pu.present(ctx, p); err != nil {
		return r, fmt.Errorf("purge: it is out of the store, but the project could not be looked at: %w", err)
	}
	files, err := pu.purgeFiles(p)
	if o.Folders != nil {
		left, serr := pu.talks.Sweep(o.Folders)
		files, err = append(files, left...), errors.Join(err, serr)
	}
	if r.Files = value.Texts(files); err != nil {
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
	pu.log.Lock()
	defer pu.log.Unlock()
	return pu.log.CheckWhole()
}

func (pu *Purger) purgeScan(o Options) (*purgeScan, error) {
	p := &purgeScan{
		e: pu, progress: o.Progress, trees: tree.NewMemo(pu.log.Objs), targets: map[objstore.Key]target{},
		alreadyGone: map[objstore.Key]bool{}, found: map[string]bool{},
		cps: map[objstore.Key]*model.Checkpoint{}, searched: map[objstore.Key]bool{}, looked: map[treeAt]bool{},
		matched: map[objstore.Key]bool{},
		unread:  map[objstore.Key]bool{}, nodes: map[objstore.ID]*conversation.Node{}, crossed: map[objstore.ID]bool{},
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
		if err := p.addTarget(id, ""); err != nil {
			return nil, err
		}
	}
	needles, err := needlesOf(o.Texts)
	if err != nil {
		return nil, err
	}
	p.text = NewHaystack(needles)
	p.words = p.newWords()
	if len(p.paths)+len(o.Blobs)+len(p.text.needles) == 0 {
		return nil, model.Usagef("purge: nothing is named")
	}
	return p, nil
}

// purgedBefore takes in the contents that are gone and whose ids begin so.
func (p *purgeScan) purgedBefore(digits string) (found bool, err error) {
	err = p.e.log.Objs.WalkTombstones(func(k objstore.Kind, key objstore.Key, g objstore.Tombstone, err error) error {
		n := min(len(digits), len(key.String()))
		purged := err == nil && k == objstore.Blob && g.Reason == objstore.Purged
		if purged && key.String()[:n] == strings.ToLower(digits[:n]) {
			p.alreadyGone[key], found = true, true
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

// silence has nothing more be captured of sessions whose conversations are purged, and gives what is stored of them.
func (pu *Purger) silence(p *purgeScan, names []string) (silent []*model.Session) {
	for _, name := range names {
		if s := pu.log.Session(name); s != nil {
			now := *s
			// a root is made of words, too
			now.Purged, now.Problem, now.Root = true, conversation.ErrPurgedTalk.Error(), 0
			now.Texts(p.words.to)
			silent = append(silent, &now)
			pu.log.Silence(name)
		}
	}
	return silent
}

// expunge takes the contents out, with a note of each, and their chunks.
func (p *purgeScan) expunge(tx *objstore.Tx, seq uint64, now int64) error {
	for key, d := range p.targets {
		if err := tx.Expunge(objstore.Blob, key, objstore.Tombstone{
			Reason: objstore.Purged, Operation: seq, Time: now, Text: p.words.to(d.path), Chunked: d.chunked,
		}); err != nil {
			return err
		}
	}
	for key := range p.chunks {
		if err := tx.Drop(objstore.Blob, key); err != nil {
			return err
		}
	}
	return nil
}

// purgeHeld looks at what came while the store was searched, and commits.
func (pu *Purger) purgeHeld(ctx context.Context, p *purgeScan) (*value.Purged, error) {
	defer pu.log.Hold()()
	if err := pu.log.CheckWhole(); err != nil {
		return nil, err
	}
	tx := pu.log.Objs.BeginAlone() // what else is under way is seen then
	c := pu.log.BeginWith(tx)
	defer c.Discard()
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	var err error
	if p.needing, err = p.against(ctx, objstore.Blob, p.goes); err != nil {
		return nil, err
	}
	r, err := pu.purgeHeldResult(ctx, p)
	if err != nil || len(p.targets)+r.Words == 0 {
		return r, err
	}
	if err := p.storeWhole(ctx, tx); err != nil {
		return nil, err
	}
	silent := pu.silence(p, r.Sessions)
	now := pu.log.Now().UnixMilli()
	for _, s := range silent {
		c.SetSession(s)
	}
	c.SetNote(oplog.StoredNote{}) // it may name what is gone
	op, err := c.Commit(ctx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		op := refs.Operation{Kind: refs.KindPurge, Time: now, Message: p.words.to(purgeMessage(r))}
		if err := p.words.commit(tx, objstore.Tombstone{Operation: seq, Time: now}); err != nil {
			return op, nil, err
		}
		if err := p.expunge(tx, seq, now); err != nil {
			return op, nil, err
		}
		if err := tx.Batch().DeleteRange([]byte{kv.PrefixKnown}, []byte{kv.PrefixKnown + 1}); err != nil {
			return op, nil, err // titles are words, too
		}
		return op, nil, ledger.Changed(pu.log.DB, tx.Batch())
	})
	if err != nil {
		for _, s := range silent {
			pu.log.Unsilence(s.Name)
		}
		return nil, err
	}
	// What is kept in memory names what is gone, or holds it.
	pu.worktree.Forget()
	pu.leaks.Forget()
	pu.log.Refs.Forget()
	pu.log.Rewrote()
	pu.remember(p, r.Sessions)
	for _, s := range silent {
		delete(pu.talks.Files, s.Name)
	}
	r.Operation = op.Seq
	return r, nil
}

// remember has the records of sessions whose words were taken out be in memory what they are in the store by now, but
// for those that were silenced.
func (pu *Purger) remember(p *purgeScan, silenced []string) {
	for _, s := range p.words.sessions() {
		if !slices.Contains(silenced, s.Name) {
			pu.log.Remember(s)
		}
	}
}

// storeWhole stores what stays and is built on what goes, or gets other bytes, so that it needs neither.
func (p *purgeScan) storeWhole(ctx context.Context, tx *objstore.Tx) error {
	for _, key := range p.needing {
		if err := tx.Unbase(objstore.Blob, key); err != nil {
			return err
		}
	}
	return p.words.unbase(ctx, tx)
}

func purgeMessage(r *value.Purged) string {
	if len(r.Paths) == 0 {
		return fmt.Sprintf("%d contents", r.Contents)
	}
	text := string(r.Paths[0])
	if n := len(r.Paths) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func (pu *Purger) purgeResult(ctx context.Context, p *purgeScan) (*value.Purged, error) {
	pu.log.Lock()
	defer pu.log.Unlock()
	return pu.purgeHeldResult(ctx, p)
}

// needlesOf are what is looked for of texts; an error says that one is too short or too long for it.
func needlesOf(texts [][]byte) (needles [][]byte, err error) {
	for _, text := range texts {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if len(text) < minNeedle || len(text) > MaxNeedle {
			return nil,
				model.Usagef("purge: a text of %d bytes; %d to %d can be looked for", len(text), minNeedle, MaxNeedle)
		}
		needles = append(needles, Needles(text)...)
	}
	return needles, nil
}

// purgeHeldResult says what a scan found; the log's lock is held.
func (pu *Purger) purgeHeldResult(ctx context.Context, p *purgeScan) (*value.Purged, error) {
	if err := pu.log.LoadSessions(); err != nil {
		return nil, err
	}
	if err := p.words.plan(ctx); err != nil {
		return nil, err
	}
	r := &value.Purged{
		Words: len(p.words.objects) + len(p.words.rows), Prompts: p.words.stays, Names: value.Texts(p.words.names),
		Contents: len(p.targets), Before: len(p.alreadyGone), Unread: len(p.unread),
	}
	paths, talks := map[string]bool{}, map[string]bool{}
	for key, d := range p.targets {
		r.Bytes += d.size
		maps.Copy(paths, p.where[key])
	}
	r.Paths = value.Texts(slices.SortedFunc(maps.Keys(paths), tree.ComparePaths))
	for _, cp := range p.cps {
		if p.holds[cp.Tree] {
			r.Checkpoints++
		}
		if p.inTalk(cp.Conversation.Transcript) {
			talks[cp.Session] = true
		}
	}
	for name, s := range pu.log.EachSession() {
		if p.inTalk(s.Cursor.Transcript) || p.inTalk(s.BeganAs()) || p.inTalk(s.Cursor.Lost) {
			talks[name] = true
		}
	}
	err := pu.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Session != "" && p.inTalk(op.Transcript) {
			talks[op.Session] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Sessions = slices.Sorted(maps.Keys(talks))
	r.AgentFiles = pu.agentFiles(r.Sessions)
	return r, nil
}

// agentFiles are the session files of sessions.
func (pu *Purger) agentFiles(names []string) (files []value.Text) {
	for _, name := range names {
		if s := pu.log.Session(name); s != nil && s.Transcript != "" {
			files = append(files, value.Text(s.Transcript))
		}
	}
	return files
}
