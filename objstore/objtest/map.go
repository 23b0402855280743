package objtest

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"rewind/objstore"
)

// A Map keeps objects in a Go map. It is safe for concurrent use.
type Map struct {
	mu      sync.Mutex
	objects map[key][]byte
}

type key struct {
	kind objstore.Kind
	id   objstore.ID
}

// NewMap makes an empty one.
func NewMap() *Map { return &Map{objects: map[key][]byte{}} }

// Get implements objstore.Getter.
func (m *Map) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if err := check(k); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	raw, ok := m.objects[key{k, id}]
	if !ok {
		return nil, fmt.Errorf("objtest: get %s %s: %w", k, id.Short(), objstore.ErrNotFound)
	}
	return append([]byte{}, raw...), nil
}

// Put implements objstore.Putter.
func (m *Map) Put(k objstore.Kind, raw []byte, _ objstore.ID) (objstore.ID, error) {
	if err := check(k); err != nil {
		return objstore.Zero, err
	}
	id := objstore.Sum(k, raw)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key{k, id}] = bytes.Clone(raw)
	return id, nil
}

// PutReader puts a blob and gives its id and size.
func (m *Map) PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return objstore.Zero, 0, fmt.Errorf("objtest: put blob: %w", err)
	}
	id, err := m.Put(objstore.Blob, raw, prev)
	return id, int64(len(raw)), err
}

// Has tells whether an object is there.
func (m *Map) Has(k objstore.Kind, id objstore.ID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.objects[key{k, id}]
	return ok, check(k)
}

// Len is the number of objects.
func (m *Map) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.objects)
}

func check(k objstore.Kind) error {
	for _, known := range Kinds() {
		if k == known {
			return nil
		}
	}
	return fmt.Errorf("objtest: %w", &objstore.FormatError{What: "kind", Value: fmt.Sprintf("0x%02x", byte(k))})
}
