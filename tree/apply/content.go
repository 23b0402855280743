package apply

import (
	"fmt"
	"io"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// writeSymlink makes a symlink with the target that r gives, whose hash must be that of the step.
func writeSymlink(j *job, r io.Reader, at worktreefs.Dir, name string) error {
	target, err := io.ReadAll(io.LimitReader(r, tree.MaxSymlink+1))
	if err != nil {
		return err
	}
	if objstore.Sum(objstore.Blob, target) != j.New.ID {
		return fmt.Errorf("content is not that of blob %s", j.New.ID)
	}
	if err := at.Symlink(string(target), name); err != nil {
		return err
	}
	j.staged, err = at.Lstat(name)
	return err
}

// writeContent writes the bytes of r into a new file, and sets its permissions. The bytes' hash must be that of the
// step.
func writeContent(j *job, r io.Reader, w worktreefs.WFile) error {
	h := objstore.NewHasher()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	var size, hole int64
	var err error
	for {
		n, rerr := io.ReadFull(r, *buf)
		_, _ = h.Write((*buf)[:n])
		if hole, err = writeSparse(w, (*buf)[:n], hole); err != nil {
			return err
		}
		size += int64(n)
		if rerr == io.EOF || rerr == io.ErrUnexpectedEOF {
			break
		}
		if rerr != nil {
			return rerr
		}
	}
	if h.Sum() != j.New.ID || size != j.New.Size {
		return fmt.Errorf("content is not that of blob %s", j.New.ID)
	}
	if hole > 0 {
		if err := w.Hole(hole); err != nil {
			return err
		}
	}
	if err := w.Chmod(j.perm); !refused(err) {
		return err
	}
	return nil // writeFile looks what the file has
}

// writeSparse writes p, with blocks of zeros as holes. hole is how many zeros before p are not written yet; it returns
// the same for what comes after p.
func writeSparse(w worktreefs.WFile, p []byte, hole int64) (int64, error) {
	for len(p) > 0 {
		zero, n := zeros(p)
		if zero {
			hole, p = hole+int64(n), p[n:]
			continue
		}
		if hole > 0 {
			if err := w.Hole(hole); err != nil {
				return 0, err
			}
			hole = 0
		}
		if _, err := w.Write(p[:n]); err != nil {
			return 0, err
		}
		p = p[n:]
	}
	return hole, nil
}

// zeros reports what p begins with, in bytes: n that are whole blocks of zeros, or n that are not.
func zeros(p []byte) (zero bool, n int) {
	for len(p)-n >= holeBlock && [holeBlock]byte(p[n:]) == [holeBlock]byte{} {
		n += holeBlock
	}
	if n > 0 {
		return true, n
	}
	for n = min(holeBlock, len(p)); len(p)-n >= holeBlock && [holeBlock]byte(p[n:]) != [holeBlock]byte{}; {
		n += holeBlock
	}
	if len(p)-n < holeBlock {
		n = len(p)
	}
	return false, n
}
