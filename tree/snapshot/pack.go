package snapshot

import (
	"encoding/binary"
	"sort"
	"sync"

	"rewind/objstore"
)

// pack has the files of one directory as the stat cache knows them, ascending by name, in one string: some 60 bytes a
// file where a []cached takes 110, and no pointers for the garbage collector. Equal lists give equal packs. Packs are
// in memory only, and not checked.
//
// A file is: the name's length and the name, kind, perm, size, mtime less that of the file before, ctime less mtime,
// inode less that of the file before, id. Numbers are varints; differences are signed and wrap.
type pack struct {
	raw string
	n   int // files
}

// packer makes packs one after the other. The zero value is ready.
type packer struct {
	raw   []byte
	n     int
	mtime int64
	ino   uint64
}

// packers are shared, because the buffer of one has grown larger than what it makes.
var packers = sync.Pool{New: func() any { return new(packer) }}

// packOf packs a list that ascends by name.
func packOf(files []cached) pack {
	if len(files) == 0 {
		return pack{}
	}
	p := packers.Get().(*packer)
	defer packers.Put(p)
	for i := range files {
		p.add(files[i].name, &files[i].stamp, &files[i].id)
	}
	return p.pack()
}

// add appends a file, whose name is greater than all before.
func (p *packer) add(name string, s *stamp, id *objstore.ID) {
	raw := binary.AppendUvarint(p.raw, uint64(len(name)))
	raw = append(append(raw, name...), s.kind)
	raw = binary.AppendUvarint(raw, uint64(s.perm))
	raw = binary.AppendUvarint(raw, uint64(s.size))
	raw = binary.AppendVarint(raw, s.mtime-p.mtime)
	raw = binary.AppendVarint(raw, s.ctime-s.mtime)
	raw = binary.AppendVarint(raw, int64(s.ino-p.ino))
	p.raw = append(raw, id[:]...)
	p.n, p.mtime, p.ino = p.n+1, s.mtime, s.ino
}

// pack is the pack of what was added; the packer is empty then.
func (p *packer) pack() pack {
	made := pack{string(p.raw), p.n}
	*p = packer{raw: p.raw[:0]}
	return made
}

// list gives the files. Their names are parts of the pack, and must be cloned to be kept.
func (p pack) list() []cached {
	if p.n == 0 {
		return nil
	}
	files := make([]cached, p.n)
	raw, mtime, ino := p.raw, int64(0), uint64(0)
	for i := range files {
		f := &files[i]
		n := int(unsigned(&raw))
		f.name, f.stamp.kind, raw = raw[:n], raw[n], raw[n+1:]
		f.stamp.perm = uint16(unsigned(&raw))
		f.stamp.size = int64(unsigned(&raw))
		mtime += signed(&raw)
		f.stamp.mtime, f.stamp.ctime = mtime, mtime+signed(&raw)
		ino += uint64(signed(&raw))
		f.stamp.ino = ino
		raw = raw[copy(f.id[:], raw):]
	}
	return files
}

// kindOf is the kind of one file; 0: it is not there. It allocates nothing.
func (p pack) kindOf(name string) byte {
	raw := p.raw
	for range p.n {
		n := int(unsigned(&raw))
		is, kind := raw[:n], raw[n]
		if is >= name {
			if is == name {
				return kind
			}
			return 0
		}
		raw = raw[n+1:]
		for range 5 { // perm, size, mtime, ctime, inode
			unsigned(&raw)
		}
		raw = raw[len(objstore.ID{}):]
	}
	return 0
}

// unsigned takes a varint from the front of raw.
func unsigned(raw *string) uint64 {
	var v uint64
	for i := 0; ; i++ {
		b := (*raw)[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			*raw = (*raw)[i+1:]
			return v
		}
	}
}

// signed takes a signed varint from the front of raw.
func signed(raw *string) int64 {
	v := unsigned(raw)
	return int64(v>>1) ^ -int64(v&1)
}

// findCached is the file of a name in a list; nil: none.
func findCached(files []cached, name string) *cached {
	i := sort.Search(len(files), func(i int) bool { return files[i].name >= name })
	if i == len(files) || files[i].name != name {
		return nil
	}
	return &files[i]
}
