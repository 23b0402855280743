package storefs

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// callFile notes what is asked of a file.
type callFile struct {
	vfs.File
	calls []string
}

func (f *callFile) Write(p []byte) (int, error) {
	f.calls = append(f.calls, fmt.Sprintf("write %d", len(p)))
	return len(p), nil
}

func (f *callFile) SyncData() error {
	f.calls = append(f.calls, "sync")
	return nil
}

func (f *callFile) Close() error { return nil }

// The mark of a clean close says that all before it is on disk. It must not get there first: a power cut in between
// would be taken for damage.
func TestP1CloseMarkAfterWhatItVouchesFor(t *testing.T) {
	chunk := make([]byte, 19+9)
	binary.LittleEndian.PutUint16(chunk[4:], 9)
	chunk[6] = 9
	mark := make([]byte, 11)
	mark[6] = 5
	binary.LittleEndian.PutUint32(mark[7:], 8)
	for name, c := range map[string]struct {
		writes [][]byte
		want   string
	}{
		"in one write":      {[][]byte{chunk, slices.Concat(chunk, mark)}, "write 28, write 28, sync, write 11, sync"},
		"in one of its own": {[][]byte{chunk, mark}, "write 28, sync, write 11, sync"},
		"none":              {[][]byte{chunk, chunk}, "write 28, write 28, sync"},
	} {
		set := NewLogs(time.Second, &switchOf{})
		f := &callFile{}
		w := &walFile{File: f, name: "000007.log", set: set}
		set.add(w)
		for _, p := range c.writes {
			if n, err := w.Write(slices.Clone(p)); err != nil || n != len(p) {
				t.Fatalf("%s: %d, %v", name, n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		set.End()
		if got := strings.Join(f.calls, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
