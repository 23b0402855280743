package snapshot

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"rewind/objstore"
	"rewind/objstore/objtest"
	"rewind/tree"
	"rewind/tree/ignore"
)

// memStore is the plainest store: a map. It counts what is put.
type memStore struct {
	mu      sync.Mutex
	objects map[objstore.Kind]map[objstore.ID][]byte
	puts    int
	gets    int
	prevs   map[objstore.ID]objstore.ID // what each object was said to replace
}

func newMemStore() *memStore {
	m := &memStore{objects: map[objstore.Kind]map[objstore.ID][]byte{}, prevs: map[objstore.ID]objstore.ID{}}
	for _, k := range objtest.Kinds() {
		m.objects[k] = map[objstore.ID][]byte{}
	}
	return m
}

func (m *memStore) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gets++
	raw, ok := m.objects[k][id]
	if !ok {
		return nil, fmt.Errorf("get %s: %w", id.Short(), objstore.ErrNotFound)
	}
	return bytes.Clone(raw), nil
}

func (m *memStore) Has(k objstore.Kind, id objstore.ID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.objects[k][id]
	return ok, nil
}

func (m *memStore) Put(k objstore.Kind, raw []byte, prev objstore.ID) (objstore.ID, error) {
	id := objstore.Sum(k, raw)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	m.objects[k][id] = bytes.Clone(raw)
	m.prevs[id] = prev
	return id, nil
}

func (m *memStore) PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return objstore.ID{}, 0, err
	}
	id, err := m.Put(objstore.Blob, raw, prev)
	return id, int64(len(raw)), err
}

// putTree stores entries for tests of reading.
func (m *memStore) putTree(entries ...tree.Entry) objstore.ID {
	raw, err := tree.Encode(entries)
	if err != nil {
		panic(err)
	}
	id, _ := m.Put(objstore.Tree, raw, objstore.ID{})
	return id
}

func idOf(b byte) (id objstore.ID) {
	for i := range id {
		id[i] = b
	}
	return id
}

// builtin are the built-in exclusions, as a base file of rules.
func builtin() ignore.File {
	return ignore.File{Path: ignore.BuiltinPath, Data: []byte(strings.Join(ignore.Globs(ignore.Exclusions()), "\n"))}
}
