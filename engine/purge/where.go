package purge

import (
	"context"
	"slices"

	"rewind/objstore"
	"rewind/tree"
)

// needs finds the chunks that go with targets. A content that is itself a chunk of another takes that with it: it is in
// there.
func (p *purgeScan) needs(ctx context.Context) error {
	p.chunks = map[objstore.Key]bool{}
	if len(p.targets) == 0 {
		return nil
	}
	lists := map[objstore.Key][]objstore.Key{}
	err := p.e.log.Objs.Keys(ctx, objstore.Blob, func(key objstore.Key, info objstore.Info) error {
		if info.Codec != objstore.CodecChunks || info.Damage != nil {
			return nil
		}
		deps, err := p.e.log.Objs.Deps(objstore.Blob, key)
		lists[key] = deps
		return err
	})
	if err != nil {
		return err
	}
	for key, deps := range lists {
		if p.goes(key) || !slices.ContainsFunc(deps, p.goes) {
			continue
		}
		id, err := p.e.log.Objs.IDOf(objstore.Blob, key)
		if err == nil {
			err = p.addTarget(id, "")
		}
		if err != nil {
			return err
		}
	}
	p.findChunks(lists)
	return nil
}

// findChunks finds the chunks that only targets are made of.
func (p *purgeScan) findChunks(lists map[objstore.Key][]objstore.Key) {
	for key, deps := range lists {
		for _, c := range deps {
			if _, out := p.targets[key]; out {
				p.chunks[c] = true
			}
		}
	}
	for key, deps := range lists {
		for _, c := range deps {
			if _, out := p.targets[key]; !out {
				delete(p.chunks, c)
			}
		}
	}
}

// goes tells whether a content is to be removed.
func (p *purgeScan) goes(key objstore.Key) bool {
	_, out := p.targets[key]
	return out || p.chunks[key]
}

// against are the objects of a kind that stay and are stored against what goes.
func (p *purgeScan) against(
	ctx context.Context, k objstore.Kind, goes func(objstore.Key) bool,
) (list []objstore.Key, err error) {
	err = p.e.log.Objs.Keys(ctx, k, func(key objstore.Key, info objstore.Info) error {
		if info.Index == 0 || info.Damage != nil || goes(key) {
			return nil
		}
		deps, err := p.e.log.Objs.Deps(k, key)
		if err != nil {
			return p.skip(key, err)
		}
		if slices.ContainsFunc(deps, goes) {
			list = append(list, key)
		}
		return nil
	})
	return list, err
}

// affected finds which checkpoints and conversations name what goes, and at which paths. A chunk that is a file of its
// own stays.
func (p *purgeScan) affected(ctx context.Context) error {
	p.where, p.holds, p.tainted = map[objstore.Key]map[string]bool{}, map[objstore.ID]bool{}, map[objstore.ID]bool{}
	for key, cp := range p.cps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := p.inTree(cp.Tree, ""); err != nil {
			if err = p.skip(key, err); err != nil {
				return err
			}
		}
	}
	for _, n := range p.nodes {
		delete(p.chunks, n.Tail.Key())
	}
	return nil
}

// inTree tells whether a tree has a content that goes.
func (p *purgeScan) inTree(id objstore.ID, path string) (bool, error) {
	if in, ok := p.holds[id]; ok {
		return in, nil
	}
	p.count()
	ents, err := tree.List(p.trees, id)
	if err != nil {
		return false, err
	}
	in := false
	for i := range ents {
		ent := &ents[i]
		at := tree.Join(path, ent.Name)
		if ent.Type == tree.TypeDir {
			below, err := p.inTree(ent.ID, at)
			if err != nil {
				return false, err
			}
			in = in || below
			continue
		}
		key := ent.ID.Key()
		delete(p.chunks, key)
		if d, out := p.targets[key]; out {
			in = true
			if p.where[key] == nil {
				p.where[key] = map[string]bool{}
			}
			p.where[key][at] = true
			if d.path == "" {
				d.path = at
				p.targets[key] = d
			}
		}
	}
	p.holds[id] = in
	return in, nil
}

// inTalk tells whether a conversation has a block that goes.
func (p *purgeScan) inTalk(id objstore.ID) bool {
	var chain []objstore.ID
	in := false
	for !id.IsZero() {
		if known, ok := p.tainted[id]; ok {
			in = known
			break
		}
		chain = append(chain, id)
		n, err := p.node(id)
		if err != nil {
			break
		}
		id = n.Parent
	}
	for _, id := range slices.Backward(chain) {
		if n := p.nodes[id]; n != nil {
			_, out := p.targets[n.Tail.Key()]
			in = in || out
		}
		p.tainted[id] = in
	}
	return in
}
