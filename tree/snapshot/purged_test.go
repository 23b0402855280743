package snapshot

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"rewind/objstore"
)

// refusing is a store from which some content was purged. It asks for large content before that is put, and refuses it
// then only.
type refusing struct {
	*memStore
	purged map[objstore.ID]bool
	broken error
}

func (r refusing) Put(k objstore.Kind, raw []byte, prev objstore.ID) (objstore.ID, error) {
	if r.purged[objstore.Sum(k, raw)] {
		return objstore.ID{}, objstore.ErrPurged
	}
	return r.memStore.Put(k, raw, prev)
}

func (r refusing) Purged(_ int64, sum func() (objstore.ID, error)) error {
	id, err := sum()
	if err == nil && r.purged[id] {
		err = objstore.ErrPurged
	}
	return errors.Join(err, r.broken)
}

// Content that the store refuses is noted, small, large or a link's. A file that cannot be read for the question is
// noted as that, and a store that cannot answer ends the snapshot.
func TestPurgedContentIsNoted(t *testing.T) {
	root := tempTree(t)
	large := strings.Repeat("x", smallFile+1)
	write(t, root+"/small", "small")
	write(t, root+"/large", large)
	check(t, os.Symlink("target", root+"/link"))
	errAsked := errors.New("cannot be asked")
	for name, c := range map[string]struct {
		purged []string
		broken error
		unread bool
		noted  []string
		err    error
	}{
		"nothing":        {},
		"all":            {purged: []string{"small", large, "target"}, noted: []string{"g small", "g large", "g link"}},
		"not readable":   {unread: true, noted: []string{"u large"}},
		"no answer":      {broken: errAsked, err: errAsked},
		"other contents": {purged: []string{"smal", large[1:]}},
	} {
		t.Run(name, func(t *testing.T) {
			m := refusing{newMemStore(), map[objstore.ID]bool{}, c.broken}
			for _, content := range c.purged {
				m.purged[objstore.Sum(objstore.Blob, []byte(content))] = true
			}
			fs := &watched{fail: func(op, name string) error {
				if c.unread && op == "readat" && name == "large" {
					return syscall.EIO
				}
				return nil
			}}
			r, err := Take(context.Background(), sourceOf(t, root, m.memStore, func(s *Source) {
				s.Root, s.Put = fs.wrap(s.Root), m
			}))
			if !errors.Is(err, c.err) {
				t.Fatalf("%v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			wantNoted(t, r, c.noted...)
			if n := len(inStore(t, m, r.Root)); n != 3-len(c.noted) {
				t.Errorf("%d captured", n)
			}
		})
	}
}
