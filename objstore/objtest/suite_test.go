package objtest_test

import (
	"io"
	"testing"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/objstore/objtest"
)

func TestMap(t *testing.T) {
	objtest.Run(t, func(*testing.T) objtest.Subject { return objtest.NewMap() })
}

func openStore(t *testing.T) *objstore.Store {
	db, err := kv.Open(t.Context(), t.TempDir(), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return objstore.New(db)
}

func TestTx(t *testing.T) {
	objtest.Run(t, func(t *testing.T) objtest.Subject {
		tx := openStore(t).Begin()
		t.Cleanup(tx.Discard)
		return tx
	})
}

// committing puts every object by a transaction of its own and reads from the store.
type committing struct {
	*objstore.Store
	t *testing.T
}

func (c committing) Put(k objstore.Kind, raw []byte, prev objstore.ID) (objstore.ID, error) {
	tx := c.Begin()
	defer tx.Discard()
	id, err := tx.Put(k, raw, prev)
	if err != nil {
		return id, err
	}
	return id, tx.Commit(c.t.Context(), kv.Written)
}

func (c committing) PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error) {
	tx := c.Begin()
	defer tx.Discard()
	id, n, err := tx.PutReader(r, prev)
	if err != nil {
		return id, n, err
	}
	return id, n, tx.Commit(c.t.Context(), kv.Written)
}

func TestStore(t *testing.T) {
	objtest.Run(t, func(t *testing.T) objtest.Subject { return committing{openStore(t), t} })
}
