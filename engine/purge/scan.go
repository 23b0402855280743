package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// purgeScan finds what a purge takes out. It may run again: what it has seen already costs an envelope, so that the
// second run, under the
// lock, is about what came meanwhile.
type purgeScan struct {
	e        *Purger
	paths    []string
	text     matcher // of --text-file: looked for in every content
	contents matcher // whole contents that go: looked for in conversations
	progress model.Progress
	seen     int
	words    *words

	trees       *tree.Memo
	targets     map[objstore.Key]target
	alreadyGone map[objstore.Key]bool // contents that were asked for and are purged already
	found       map[string]bool

	cps      map[objstore.Key]*model.Checkpoint
	searched map[objstore.Key]bool // contents
	looked   map[treeAt]bool
	matched  map[objstore.Key]bool              // targets that are in contents
	unread   map[objstore.Key]bool              // damaged: not searched
	nodes    map[objstore.ID]*conversation.Node // transcripts
	crossed  map[objstore.ID]bool               // transcripts whose block was compared with the one before
	chunks   map[objstore.Key]bool              // of targets that are lists: go, unless others need them
	needing  []objstore.Key                     // stored against what goes
	where    map[objstore.Key]map[string]bool
	holds    map[objstore.ID]bool
	tainted  map[objstore.ID]bool
}

// target is what is known of a content that goes.
type target struct {
	path    string // one that it stood at; "": only in conversations, or unknown
	chunked int64
	size    int64
}

type treeAt struct {
	id   objstore.ID
	rest string
}

func (p *purgeScan) count() {
	if p.seen++; p.progress != nil && p.seen%64 == 0 {
		p.progress(p.seen, 0)
	}
}

// run looks at all that the store has. What could not be read the last time is tried again: gc may have removed it
// meanwhile.
func (p *purgeScan) run(ctx context.Context) error {
	clear(p.unread)
	if err := p.checkpoints(ctx); err != nil {
		return err
	}
	if err := p.needleContents(); err != nil {
		return err
	}
	if len(p.text.needles) > 0 {
		if err := p.searchContents(ctx); err != nil {
			return err
		}
	}
	if err := p.words.search(ctx); err != nil {
		return err
	}
	if err := p.searchTranscripts(ctx); err != nil {
		return err
	}
	if err := p.needs(ctx); err != nil {
		return err
	}
	return p.affected(ctx)
}

// checkpoints takes in every stored checkpoint, reachable or not, and what stands in it at the paths.
func (p *purgeScan) checkpoints(ctx context.Context) error {
	return p.e.log.Objs.Keys(ctx, objstore.Checkpoint, func(key objstore.Key, _ objstore.Info) error {
		if p.cps[key] != nil {
			return nil
		}
		p.count()
		id, err := p.e.log.Objs.IDOf(objstore.Checkpoint, key)
		var cp *model.Checkpoint
		if err == nil {
			cp, err = p.e.log.Checkpoint(id)
		}
		if err != nil {
			return p.skip(key, err)
		}
		p.cps[key] = cp
		for _, path := range p.paths {
			if err := p.collect(cp.Tree, path, path); err != nil {
				return p.skip(key, err)
			}
		}
		return nil
	})
}

// skip passes over what is damaged; it is counted. An object that was purged is no damage: nothing of it is left to
// search.
func (p *purgeScan) skip(key objstore.Key, err error) error {
	if errors.Is(err, objstore.ErrPurged) {
		return nil
	}
	if errors.Is(err, objstore.ErrCorrupt) || errors.Is(err, objstore.ErrNotFound) || model.IsFormat(err) {
		p.unread[key] = true
		return nil
	}
	return err
}

// collect dooms the contents at, and below, the path rest of a tree.
func (p *purgeScan) collect(id objstore.ID, rest, path string) error {
	at := treeAt{id, rest}
	if p.looked[at] {
		return nil
	}
	ents, err := tree.List(p.trees, id)
	if err != nil {
		return err
	}
	p.looked[at] = true
	name, deeper, _ := strings.Cut(rest, "/")
	for i := range ents {
		ent := &ents[i]
		if rest != "" && ent.Name != name {
			continue
		}
		below := path
		if rest == "" {
			below = tree.Join(path, ent.Name)
		}
		switch {
		case ent.Type == tree.TypeDir:
			if err := p.collect(ent.ID, deeper, below); err != nil {
				return err
			}
		case deeper == "":
			if err := p.addTarget(ent.ID, below); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTarget takes a content in. An empty one is nobody's secret and stands for every empty file.
func (p *purgeScan) addTarget(id objstore.ID, path string) error {
	for _, asked := range p.paths {
		if refs.Below(path, asked) {
			p.found[asked] = true
		}
	}
	if _, ok := p.targets[id.Key()]; ok {
		return nil
	}
	if p.e.log.Objs.Refused(objstore.Blob, id) != nil {
		p.alreadyGone[id.Key()] = true
		return nil
	}
	info, err := p.e.log.Objs.Stat(objstore.Blob, id)
	if errors.Is(err, objstore.ErrNotFound) {
		return nil
	}
	d := target{path: path, size: info.Size}
	switch {
	case errors.Is(err, objstore.ErrCorrupt): // it goes all the same
	case err != nil:
		return err
	case info.Size == 0:
		return nil
	case info.Codec == objstore.CodecChunks:
		d.chunked = info.Size
	}
	p.targets[id.Key()] = d
	return nil
}

// needleContents has conversations searched for the small contents that go, as a whole.
func (p *purgeScan) needleContents() error {
	list := p.contents.needles
	for key, d := range p.targets {
		passed := p.matched[key] || d.chunked > 0
		if passed || d.size < minContent || d.size > MaxNeedle {
			continue
		}
		p.matched[key] = true
		raw, err := p.content(key)
		if err != nil {
			if err = p.skip(key, err); err != nil {
				return err
			}
			continue
		}
		if raw = bytes.TrimSpace(raw); len(raw) >= minContent {
			list = append(list, Needles(raw)...)
			clear(p.crossed)
		}
	}
	p.contents = NewHaystack(list)
	return nil
}

func (p *purgeScan) content(key objstore.Key) ([]byte, error) {
	id, err := p.e.log.Objs.IDOf(objstore.Blob, key)
	if err != nil {
		return nil, err
	}
	return p.e.log.Objs.Get(objstore.Blob, id)
}

// searchContents dooms every content that has the text in it.
func (p *purgeScan) searchContents(ctx context.Context) error {
	return p.e.log.Objs.Keys(ctx, objstore.Blob, func(key objstore.Key, _ objstore.Info) error {
		if p.searched[key] {
			return nil
		}
		p.count()
		id, err := p.e.log.Objs.IDOf(objstore.Blob, key)
		in := false
		if err == nil {
			in, err = p.text.InBlob(p.e.log.Objs, id)
		}
		if err != nil {
			return p.skip(key, err)
		}
		p.searched[key] = true
		if in {
			return p.addTarget(id, "")
		}
		return nil
	})
}

// searchTranscripts dooms the blocks of conversations that have the text, or a whole content that goes, in them: within
// a block, or across
// two that follow each other.
func (p *purgeScan) searchTranscripts(ctx context.Context) error {
	h := NewHaystack(append(slices.Clone(p.text.needles), p.contents.needles...))
	return p.e.log.Objs.Keys(ctx, objstore.Transcript, func(key objstore.Key, _ objstore.Info) error {
		id, err := p.e.log.Objs.IDOf(objstore.Transcript, key)
		if err != nil {
			return p.skip(key, err)
		}
		if p.crossed[id] {
			return nil
		}
		p.count()
		if err := p.searchBlock(h, id); err != nil {
			return p.skip(key, err)
		}
		p.crossed[id] = true
		return nil
	})
}

// searchBlock looks at the last block of a transcript, and at where it meets the one before. A block that was purged
// has nothing left to
// find; a text that lay across it and its neighbour was purged out of both.
func (p *purgeScan) searchBlock(h matcher, id objstore.ID) error {
	n, err := p.node(id)
	if err != nil || len(h.needles) == 0 {
		return err
	}
	tail, err := p.block(n.Tail)
	if err != nil {
		return err
	}
	if h.In(tail) {
		if err := p.addTarget(n.Tail, ""); err != nil {
			return err
		}
	}
	if n.Parent.IsZero() || n.Made || len(tail) == 0 { // a rule does not go on from what it makes something of
		return nil
	}
	before, err := p.node(n.Parent)
	if err != nil {
		return err
	}
	block, err := p.block(before.Tail)
	if err != nil {
		return err
	}
	if h.across(block, tail) {
		return errors.Join(p.addTarget(n.Tail, ""), p.addTarget(before.Tail, ""))
	}
	return nil
}

// block is a block of a transcript; nil if it was purged.
func (p *purgeScan) block(id objstore.ID) ([]byte, error) {
	raw, err := p.e.log.Objs.Get(objstore.Blob, id)
	if errors.Is(err, objstore.ErrPurged) {
		return nil, nil
	}
	return raw, err
}

func (p *purgeScan) node(id objstore.ID) (*conversation.Node, error) {
	if n := p.nodes[id]; n != nil {
		return n, nil
	}
	raw, err := p.e.log.Objs.Get(objstore.Transcript, id)
	if err != nil {
		return nil, err
	}
	n, err := conversation.DecodeNode(id, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", objstore.ErrCorrupt, err)
	}
	p.nodes[id] = n
	return n, nil
}
