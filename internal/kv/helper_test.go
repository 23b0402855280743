package kv_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rewind/internal/kv"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	if os.Getenv(faultsEnv) != "" {
		os.Exit(m.Run()) // pebble is left behind there, in the middle of what failed
	}
	goleak.VerifyTestMain(m)
}

var bg = context.Background()

// open opens a store that must open, and closes it with the test.
func open(t testing.TB, dir string, o kv.Options) *kv.DB {
	t.Helper()
	d, err := kv.Open(bg, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func get(d *kv.DB, key []byte) ([]byte, error) {
	var out []byte
	err := d.View(key, func(v []byte) error { out = bytes.Clone(v); return nil })
	return out, err
}

func put(d *kv.DB, du kv.Durability, kvs ...string) error {
	b := d.NewBatch()
	for i := 0; i < len(kvs); i += 2 {
		if err := b.Set([]byte(kvs[i]), []byte(kvs[i+1])); err != nil {
			return err
		}
	}
	return b.Commit(bg, du)
}

// Steps: step n writes operation n and some values whose keys, right behind those of operations, follow from n. Whoever
// finds operation n expects the rest.

func stepKeys(n uint64) [][]byte {
	keys := make([][]byte, n%4+1)
	for i := range keys {
		k := binary.BigEndian.AppendUint64([]byte{kv.PrefixRef, 'b'}, n)
		keys[i] = binary.BigEndian.AppendUint64(k, uint64(i))
	}
	return keys
}

func stepValue(n uint64, i, scale int) []byte {
	r := rand.New(rand.NewPCG(n, uint64(i)))
	v := make([]byte, 0, scale+8)
	size := r.IntN(scale) + 1
	for len(v) < size {
		v = binary.LittleEndian.AppendUint64(v, r.Uint64())
	}
	return v[:size]
}

func step(d *kv.DB, n uint64, scale int, du kv.Durability) error {
	b := d.NewBatch()
	defer func() { _ = b.Close() }()
	for i, k := range stepKeys(n) {
		if err := b.Set(k, stepValue(n, i, scale)); err != nil {
			return err
		}
	}
	if err := b.Set(kv.OperationKey(n), fmt.Appendf(nil, "operation %d", n)); err != nil {
		return err
	}
	return b.Commit(bg, du)
}

// checkSteps reads a store whose steps 1 to n are whole, and no more of step n+1 than nothing. It returns n.
func checkSteps(d *kv.DB, scale int) (uint64, error) {
	newest := d.LastSeq()
	for n := uint64(1); n <= newest+1; n++ {
		op, err := get(d, kv.OperationKey(n))
		if n > newest {
			if !errors.Is(err, kv.ErrNotFound) {
				return 0, fmt.Errorf("operation %d after the newest: %q, %v", n, op, err)
			}
		} else if err != nil || string(op) != fmt.Sprintf("operation %d", n) {
			return 0, fmt.Errorf("operation %d: %q, %w", n, op, err)
		}
		for i, k := range stepKeys(n) {
			v, err := get(d, k)
			if n > newest {
				if !errors.Is(err, kv.ErrNotFound) {
					return 0, fmt.Errorf("object %d of step %d without its operation: %v", i, n, err)
				}
				continue
			}
			if err != nil {
				return 0, fmt.Errorf("object %d of step %d: %w", i, n, err)
			}
			if !bytes.Equal(v, stepValue(n, i, scale)) {
				return 0, fmt.Errorf("object %d of step %d: WRONG BYTES", i, n)
			}
		}
	}
	return newest, nil
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}
