package snapshot

import (
	"strings"

	"rewind/objstore"
	"rewind/tree"
)

// loader packs files that come in the byte order of their paths. All files below a directory come together, so only the
// directories on the way to the last file can still get more.
type loader struct {
	dirs map[string]*cacheDir
	open []loading
	box  box
}

type loading struct {
	dir string
	packer
}

func (l *loader) add(path string, s *stamp, id *objstore.ID) {
	dir, name := tree.Split(path)
	for len(l.open) > 0 && !isAt(dir, l.open[len(l.open)-1].dir) {
		l.close()
	}
	if n := len(l.open); n == 0 || l.open[n-1].dir != dir {
		if n < cap(l.open) { // reuses the buffers of an earlier directory
			l.open = l.open[:n+1]
			l.open[n].dir = strings.Clone(dir)
		} else {
			l.open = append(l.open, loading{dir: strings.Clone(dir)})
		}
	}
	l.open[len(l.open)-1].add(name, s, id)
}

// close packs the innermost directory.
func (l *loader) close() {
	last := &l.open[len(l.open)-1]
	d := &cacheDir{files: pack{n: last.n}}
	l.box.put(d, last.raw)
	last.packer = packer{raw: last.raw[:0]}
	l.dirs[last.dir] = d
	l.open = l.open[:len(l.open)-1]
}

func (l *loader) end() {
	for len(l.open) > 0 {
		l.close()
	}
	l.box.close()
}

// isAt reports whether path is dir, or below it.
func isAt(path, dir string) bool {
	return dir == "" || strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

const (
	boxBytes  = 64 << 10
	worthABox = 64 // directories
)

// box puts packs that stay side by side in memory. One by one they would lie between the garbage of what made them, and
// keep its pages. The room of a pack that is replaced later is free when all packs of the box are.
type box struct {
	raw []byte
	in  []boxed
}

type boxed struct {
	d  *cacheDir
	at int // offset of its pack
}

// put copies a pack into the box; d.files.raw is set when the box is closed, or before.
func (b *box) put(d *cacheDir, raw []byte) {
	if len(b.raw)+len(raw) > boxBytes {
		b.close()
	}
	b.in = append(b.in, boxed{d, len(b.raw)})
	b.raw = append(b.raw, raw...)
}

func (b *box) close() {
	whole, end := string(b.raw), len(b.raw)
	for i := len(b.in) - 1; i >= 0; i-- {
		b.in[i].d.files.raw = whole[b.in[i].at:end]
		end = b.in[i].at
	}
	b.raw, b.in = b.raw[:0], b.in[:0]
}

// gather boxes the packs of many directories that nobody else reads yet; few are left as they are.
func gather(dirs map[string]*cacheDir) {
	if len(dirs) < worthABox {
		return
	}
	var b box
	for _, d := range dirs {
		b.put(d, []byte(d.files.raw))
	}
	b.close()
}
