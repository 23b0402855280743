package worktreefs

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listBuffers are reused: a scan lists many directories.
var listBuffers = sync.Pool{New: func() any { b := make([]byte, listBuffer); return &b }}

// Where a raw directory record holds its parts.
const (
	recInode  = int(unsafe.Offsetof(unix.Dirent{}.Ino))
	recLength = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
	recType   = int(unsafe.Offsetof(unix.Dirent{}.Type))
	recName   = int(unsafe.Offsetof(unix.Dirent{}.Name))
)

func (d *dir) ReadDir() ([]Dirent, error) {
	d.listing.Lock()
	defer d.listing.Unlock()
	if err := again(func() error { _, err := unix.Seek(d.fd, 0, 0); return err }); err != nil {
		return nil, d.fail("list", "", err)
	}
	bp := listBuffers.Get().(*[]byte)
	defer listBuffers.Put(bp)
	buf := *bp
	var list []Dirent
	for {
		var n int
		err := again(func() (err error) { n, err = unix.ReadDirent(d.fd, buf); return err })
		if err != nil {
			return nil, d.fail("list", "", err)
		}
		if n <= 0 {
			return list, nil
		}
		for rest := buf[:n]; len(rest) >= recName; {
			size := int(binary.NativeEndian.Uint16(rest[recLength:]))
			if size < recName || size > len(rest) {
				return nil, d.fail("list", "", unix.EIO)
			}
			rec := rest[:size]
			rest = rest[size:]
			if binary.NativeEndian.Uint64(rec[recInode:]) == 0 {
				continue // a deleted entry
			}
			name := rec[recName:]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			if len(name) == 0 || string(name) == "." || string(name) == ".." {
				continue
			}
			list = append(list, Dirent{Name: string(name), Type: direntType(rec[recType])})
		}
	}
}

func direntType(t byte) Type {
	switch t {
	case unix.DT_REG:
		return TypeFile
	case unix.DT_DIR:
		return TypeDir
	case unix.DT_LNK:
		return TypeSymlink
	case unix.DT_FIFO:
		return TypePipe
	case unix.DT_SOCK:
		return TypeSocket
	case unix.DT_CHR, unix.DT_BLK:
		return TypeDevice
	}
	return 0
}

func statOf(st *unix.Stat_t) Stat {
	s := Stat{
		Perm:  uint16(st.Mode & permMask),
		Size:  st.Size,
		Mtime: st.Mtim.Nano(),
		Ctime: st.Ctim.Nano(),
		Ino:   st.Ino,
		Dev:   uint64(st.Dev),
		Nlink: uint64(st.Nlink),
		Uid:   st.Uid,
		Gid:   st.Gid,
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.Type = TypeFile
	case unix.S_IFDIR:
		s.Type = TypeDir
	case unix.S_IFLNK:
		s.Type = TypeSymlink
	case unix.S_IFIFO:
		s.Type = TypePipe
	case unix.S_IFSOCK:
		s.Type = TypeSocket
	default:
		s.Type = TypeDevice
	}
	return s
}
