package objstore

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"rewind/internal/kv"
)

// TestWholes: every object that stands by itself comes once, with its bytes, whatever the parts; what is damaged or too
// large does not.
func TestWholes(t *testing.T) {
	s := newStore(t)
	want, prev := map[Key]string{}, Zero
	put := func(raw []byte, base ID) ID {
		tx := s.Begin()
		id, err := tx.Put(Blob, raw, base)
		if err == nil {
			err = tx.Commit(t.Context(), kv.Written)
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for i := range 100 {
		raw := fmt.Appendf(bytes.Repeat([]byte("same "), 200), "%d", i)
		if i%10 == 0 {
			prev = Zero
		}
		if prev = put(raw, prev); i%10 == 0 {
			want[prev.Key()] = string(raw)
		}
	}
	largest := bytes.Repeat([]byte("x"), 2000)
	want[put(largest, Zero).Key()] = string(largest)
	put(bytes.Repeat([]byte("x"), 2001), Zero) // too large
	damaged := put([]byte("damaged"), Zero)
	write(t, s, Blob, damaged, []byte("\x00\x07other??"))
	got := map[Key]string{}
	for _, part := range [][2]int{{0, 7}, {7, 200}, {200, 256}} {
		err := s.Wholes(t.Context(), Blob, part[0], part[1], 2000, func(k Key, raw []byte) error {
			if _, twice := got[k]; twice {
				t.Errorf("%s came twice", k)
			}
			got[k] = string(raw)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
}
