package snapshot

import (
	"strings"

	"rewind/objstore"
	"rewind/tree"
)

// loader packs files as they come in the order of their paths as bytes. All below a directory come together, so that those which may still
// get files are the ones on the way to the last.
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
		if n < cap(l.open) { // with the room of the one that was there
			l.open = l.open[:n+1]
			l.open[n].dir = strings.Clone(dir)
		} else {
			l.open = append(l.open, loading{dir: strings.Clone(dir)})
		}
	}
	l.open[len(l.open)-1].add(name, s, id)
}

// close ends the innermost directory.
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

// isAt reports whether a path is a directory or below it.
func isAt(path, dir string) bool {
	return dir == "" || strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

const (
	boxBytes  = 64 << 10
	worthABox = 64 // directories
)

// box puts packs that come to stay side by side: one by one they would lie between the garbage of what made them, and keep its pages in
// memory. A pack that is replaced later leaves its room in the box until the others are, too.
type box struct {
	raw []byte
	in  []boxed
}

type boxed struct {
	d  *cacheDir
	at int // where its pack begins
}

// put sets d.files.raw, when the box is closed at the latest.
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

// gather boxes the packs of directories that nobody else reads yet, if they are many.
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
