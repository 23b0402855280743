package kvtest

import (
	"io"
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
)

// CrashFS is a file system in memory that knows which bytes and directory entries were synced.
type CrashFS struct {
	kv.FS
	mem *vfs.MemFS
	mu  sync.Mutex // one Lock or Clone at a time: MemFS.Lock takes its read lock twice, and hangs when a clone begins in between
}

// NewCrashFS makes an empty one.
func NewCrashFS() *CrashFS {
	m := vfs.NewCrashableMem()
	return &CrashFS{FS: m, mem: m}
}

// Lock is that of kv.FS.
func (c *CrashFS) Lock(name string) (io.Closer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.FS.Lock(name)
}

// Clone is what a power cut at this moment leaves: all that was synced, and of the rest each block and each directory
// entry with a probability of unsyncedPercent, chosen by seed. It may be called while the file system is in use, which
// is not disturbed.
func (c *CrashFS) Clone(unsyncedPercent int, seed uint64) *CrashFS {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: unsyncedPercent,
		RNG:                 rand.New(rand.NewPCG(seed, uint64(unsyncedPercent))),
	})
	return &CrashFS{FS: m, mem: m}
}

// Unwrap gives the file system below, as kv.FS asks.
func (c *CrashFS) Unwrap() kv.FS { return c.mem }
