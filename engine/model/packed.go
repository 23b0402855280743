package model

import (
	"sync"
	"time"

	"rewind/objstore"
)

const (
	mostAlike   = 256  // shared parts that the next checkpoints are compared with
	packedBytes = 400  // about what a Packed takes with its place in a cache, beside its texts
	alikeBytes  = 1024 // about what a shared part takes beside its record
)

// Packed is a checkpoint as it is kept in memory, in about a third of the bytes of a Checkpoint. It has what mostly
// differs from one checkpoint to the next. All else is in a checkpoint that many share.
type Packed struct {
	alike *Checkpoint // has every field that is not below; nobody changes it

	seq, turn          uint64
	time               int64 // milliseconds
	tree, base         objstore.ID
	parent             [1]objstore.ID
	transcript         objstore.ID
	length             int64
	last, call, prompt string
	counts             Counts
	one                bool // parent is the only parent; false: the parents are in alike
	late, minor        bool

	bytes int32
}

// A Packer packs checkpoints. The zero value is ready. Safe for concurrent use.
type Packer struct {
	mu     sync.Mutex
	alike  map[string]*Checkpoint // by its record: the parts that were shared lately
	prompt string                 // of the checkpoint that was packed last
}

// Forget forgets what the next checkpoints could share.
func (r *Packer) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alike, r.prompt = nil, ""
}

// Pack packs a checkpoint that is as its record says. Nobody may change what its slices hold from then on.
func (r *Packer) Pack(cp *Checkpoint) *Packed {
	p := &Packed{
		seq: cp.Seq, turn: cp.Cause.Turn, time: cp.Time.UnixMilli(), tree: cp.Tree, base: cp.Base,
		transcript: cp.Conversation.Transcript, length: cp.Conversation.Length, last: cp.Conversation.Last,
		call: cp.Cause.Call, prompt: cp.Cause.Prompt, counts: cp.Counts, late: cp.Late, minor: cp.Minor,
	}
	rest := *cp
	rest.ID, rest.Seq, rest.Cause.Turn, rest.Time = objstore.ID{}, 0, 0, time.Time{}
	rest.Tree, rest.Base = objstore.ID{}, objstore.ID{}
	rest.Conversation.Transcript, rest.Conversation.Length, rest.Conversation.Last = objstore.ID{}, 0, ""
	rest.Cause.Call, rest.Cause.Prompt = "", ""
	rest.Counts, rest.Late, rest.Minor = Counts{}, false, false
	if p.one = len(cp.Parents) == 1; p.one {
		p.parent[0], rest.Parents = cp.Parents[0], nil
	}
	p.bytes = int32(packedBytes + len(p.last) + len(p.call))
	key := string(rest.Encode())
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.prompt == r.prompt {
		p.prompt = r.prompt // one text for a turn
	} else {
		r.prompt = p.prompt
		p.bytes += int32(len(p.prompt))
	}
	if p.alike = r.alike[key]; p.alike != nil {
		return p
	}
	p.alike = &rest
	p.bytes += int32(alikeBytes + len(key))
	if r.alike == nil || len(r.alike) == mostAlike {
		r.alike = map[string]*Checkpoint{}
	}
	r.alike[key] = p.alike
	return p
}

// Bytes is about what it takes in memory.
func (p *Packed) Bytes() int { return int(p.bytes) }

// Checkpoint returns the checkpoint, whose id the caller knows. The caller may change its fields, but not what its
// slices hold.
func (p *Packed) Checkpoint(id objstore.ID) *Checkpoint {
	cp := new(Checkpoint)
	*cp = *p.alike
	cp.ID, cp.Seq, cp.Time, cp.Tree, cp.Base = id, p.seq, time.UnixMilli(p.time), p.tree, p.base
	if p.one {
		cp.Parents = p.parent[:]
	}
	cp.Conversation.Transcript, cp.Conversation.Length, cp.Conversation.Last = p.transcript, p.length, p.last
	cp.Cause.Turn, cp.Cause.Call, cp.Cause.Prompt = p.turn, p.call, p.prompt
	cp.Counts, cp.Late, cp.Minor = p.counts, p.late, p.minor
	return cp
}
