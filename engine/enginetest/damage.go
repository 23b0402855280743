package enginetest

import (
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
)

// PutNonsense stores bytes that no object of a kind has, under their own id, and a checkpoint like cp that leads to
// them, whose id it is; of kind Checkpoint they are the checkpoint.
func (p *Project) PutNonsense(k objstore.Kind, cp model.Checkpoint) objstore.ID {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	id, err := tx.Put(k, []byte("\xffnonsense"), objstore.ID{})
	p.Must(err)
	switch k {
	case objstore.Tree:
		cp.Tree = id
	case objstore.Note:
		cp.Note = id
	case objstore.Transcript:
		cp.Conversation.Transcript, cp.Conversation.Path, cp.Conversation.Length = id, "/x", 7
	}
	if k != objstore.Checkpoint {
		p.Must(p.E.Log.PutCheckpoint(tx, &cp, cp.Seq))
		id = cp.ID
	}
	p.Must(tx.Commit(Bg, kv.Durable))
	return id
}
