package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// tries is how often a file that changes meanwhile is read, before it is stored as it is and flagged torn.
const tries = 3

// known takes a file from the cache, or returns it as one to read.
func (s *scan) known(n *node, m miss, st worktreefs.Stat) (miss, bool) {
	stamp := stampOf(m.kind, st)
	f := findCached(n.known, m.name)
	changed := f == nil || f.stamp != stamp
	if changed || !stamp.reliable(s.start) || !s.exists(n, f) {
		return m, true
	}
	switch m.kind {
	case cachedFile:
		s.add(n, tree.Entry{Name: m.name, Type: tree.TypeFile, Perm: st.Perm, ID: f.id, Size: st.Size}, f)
	case cachedSymlink:
		s.add(n, tree.Entry{Name: m.name, Type: tree.TypeSymlink, ID: f.id}, f)
	case cachedSecret:
		s.skip(n, tree.Skip{Path: m.path, Reason: tree.ReasonSecret, Size: st.Size, Hash: f.id})
		s.remember(n, *f)
	}
	return miss{}, false
}

// read captures a file or symlink.
func (s *scan) read(n *node, m miss) {
	for try := 1; ; try++ {
		var again bool
		var err error
		if m.kind == cachedSymlink {
			again, err = s.readLink(n, m, try == tries)
		} else {
			again, err = s.readFile(n, m, try == tries)
		}
		var store *storeError
		switch {
		case err == nil && !again:
			return
		case err == nil:
			continue
		case errors.As(err, &store), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			s.fail(err)
			return
		}
		switch kindOfError(err) {
		case isGone:
			s.unsure(n, m.name, moved)
		case isFatal:
			s.fail(err)
		case isOther: // another type of entry has the name now
			if try < tries {
				next, ok := s.classify(n, m.name, 0)
				if !ok {
					return
				}
				m = next
				continue
			}
			s.unreadable(n, m.name, m.path, n.only && !s.Named.has(m.path))
		default:
			s.unreadable(n, m.name, m.path, n.only && !m.take && !s.Named.has(m.path))
		}
		return
	}
}

// readAll reads files, or when they are many has other workers help.
func (s *scan) readAll(n *node, misses []miss) {
	const many, much = 32, 4 << 20
	var tasks []task
	from, bytes := 0, int64(0)
	for i, m := range misses {
		bytes += m.size
		if i+1-from == many || bytes >= much {
			tasks = append(tasks, task{n: n, read: misses[from : i+1]})
			from, bytes = i+1, 0
		}
	}
	if len(tasks) > 0 && s.workers > 1 {
		n.users.Add(int32(len(tasks)))
		n.pending.Add(int32(len(tasks)))
		s.push(tasks...)
		misses = misses[from:]
	}
	for _, m := range misses {
		if s.failed() {
			return
		}
		s.read(n, m)
	}
}

// storeError is an error of the store, which ends the snapshot; one of a file does not.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }

func (e *storeError) Unwrap() error { return e.err }

// readLink stores a symlink's target, which cannot be torn: a link is replaced, never changed. again: it was replaced
// meanwhile, and this was not the last try.
func (s *scan) readLink(n *node, m miss, last bool) (again bool, err error) {
	before, err := n.dir.Lstat(m.name)
	if err != nil {
		return false, err
	}
	target, err := n.dir.Readlink(m.name)
	if err != nil {
		return false, err
	}
	after, err := n.dir.Lstat(m.name)
	if err != nil {
		return false, err
	}
	if before != after && !last {
		return true, nil
	}
	if len(target) > tree.MaxSymlink {
		s.unreadable(n, m.name, m.path, false)
		return false, nil
	}
	id, err := s.put(objstore.Blob, []byte(target), s.prevBlob(n, m.name))
	if errors.Is(err, objstore.ErrPurged) {
		s.purged(n, m, 0)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f := s.sure(n, m, stampOf(m.kind, after), id, before != after || after.Type != worktreefs.TypeSymlink)
	s.add(n, tree.Entry{Name: m.name, Type: tree.TypeSymlink, ID: id}, f)
	return false, nil
}

// readFile stores a file's content, or notes a secret's hash. again: the file changed meanwhile, and this was not the
// last try.
func (s *scan) readFile(n *node, m miss, last bool) (again bool, err error) {
	file, before, err := n.dir.Open(m.name)
	if err != nil {
		return false, err
	}
	defer file.Close() //nolint:errcheck // only read
	if s.tooLarge(m, before.Size) {
		s.skip(n, tree.Skip{Path: m.path, Reason: tree.ReasonSize, Size: before.Size})
		return false, nil
	}
	stamp := stampOf(m.kind, before)
	r := &reading{scan: s, n: n, m: m, file: file, size: before.Size, racy: stamp.racy(s.start)}
	switch {
	case m.kind == cachedSecret:
		err = r.secret()
	case before.Size <= smallFile:
		err = r.small()
	default:
		err = r.large()
	}
	if errors.Is(err, objstore.ErrPurged) {
		s.purged(n, m, before.Size)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	after, err := file.Stat()
	if err != nil {
		return false, err
	}
	torn := r.changed || r.read != before.Size || stampOf(m.kind, after) != stamp
	if torn && !last {
		return true, nil
	}
	isDatabase := !m.member && m.kind == cachedFile && tree.IsDatabase(r.head())
	if r.leaks() {
		m.kind, stamp.kind = cachedSecret, cachedSecret
	}
	if r.store != nil {
		err := r.store()
		if errors.Is(err, objstore.ErrPurged) {
			s.purged(n, m, r.read)
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	s.count.hashed.Add(1)
	s.count.hashedBytes.Add(r.read)
	f := s.sure(n, m, stamp, r.id, torn)
	if m.kind == cachedSecret {
		s.skip(n, tree.Skip{Path: m.path, Reason: tree.ReasonSecret, Size: r.read, Hash: r.id})
		if f != nil {
			s.remember(n, *f)
		}
		return false, nil
	}
	if torn {
		s.skip(n, tree.Skip{Path: m.path, Reason: tree.ReasonTorn, Size: r.read})
	}
	s.add(n, tree.Entry{Name: m.name, Type: tree.TypeFile, Perm: before.Perm, ID: r.id, Size: r.read}, f)
	if isDatabase {
		s.checkCompanions(n, m.name)
	}
	return false, nil
}

// sure is what the cache gets of a file or link that was read; nil: the next snapshot is to look at it again, for its
// stamp proves nothing, or it is torn.
func (s *scan) sure(n *node, m miss, st stamp, id objstore.ID, torn bool) *cached {
	switch {
	case torn:
		s.unsure(n, m.name, touched)
	case !st.reliable(s.start):
		s.doubt(n, m.name)
	default:
		return &cached{name: m.name, stamp: st, id: id}
	}
	return nil
}

// reading is one try to read a file. Never more than size bytes, its length when it was opened, are read: a file that
// grows faster than it is read has an end as well.
//
// Equal stamps before and after prove that the content did not change during the reading. A young file is the
// exception: a change may leave its stamp the same, or a write may be under way (a write stamps the file when it
// begins). Then it is read twice, and both must be equal.
type reading struct {
	*scan
	n    *node
	m    miss
	file worktreefs.File
	size int64
	racy bool

	read    int64 // bytes
	id      objstore.ID
	changed bool         // the second reading gave other bytes
	store   func() error // stores what was read, and sets id; nil: it is stored
	data    []byte       // what store stores
}

// leaks reports whether the content makes the file a secret one, whose id is its keyed hash then.
func (r *reading) leaks() bool {
	unasked := r.Leak == nil || r.StoreSecrets || r.m.take
	if unasked || r.store == nil || !r.Leak(r.m.path, r.data) {
		return false
	}
	h := objstore.NewKeyedHasher(r.SecretKey)
	_, _ = h.Write(r.data) // never fails
	r.id, r.store, r.data = h.Sum(), nil, nil
	return true
}

var smallBuffers = sync.Pool{New: func() any { return new([smallFile]byte) }}

func (r *reading) small() error {
	buf := smallBuffers.Get().(*[smallFile]byte)
	data := buf[:r.size]
	n, err := io.ReadFull(r.file, data)
	if err != nil && !ended(err) {
		return err
	}
	data = data[:n]
	r.read = int64(n)
	if r.racy {
		other := smallBuffers.Get().(*[smallFile]byte)
		defer smallBuffers.Put(other)
		second := other[:n]
		k, err := r.file.ReadAt(second, 0)
		if err != nil && !ended(err) {
			return err
		}
		r.changed = !bytes.Equal(data, second[:k])
	}
	r.data = data
	r.store = func() (err error) {
		defer smallBuffers.Put(buf)
		r.id, err = r.put(objstore.Blob, data, r.prevBlob(r.n, r.m.name))
		return err
	}
	return nil
}

func (r *reading) large() error {
	if err := r.refusesLarge(); err != nil {
		return err
	}
	src := &source{ctx: r.ctx, r: io.LimitReader(r.file, r.size)}
	id, n, err := r.Put.PutReader(src, r.prevBlob(r.n, r.m.name))
	r.count.puts.Add(1)
	switch {
	case src.err != nil:
		return src.err
	case err != nil:
		return &storeError{err}
	}
	r.read, r.id = n, id
	if r.racy {
		return r.again(objstore.NewHasher())
	}
	return nil
}

func (r *reading) secret() error {
	h := objstore.NewKeyedHasher(r.SecretKey)
	src := &source{ctx: r.ctx, r: io.LimitReader(r.file, r.size)}
	var err error
	if r.read, err = io.Copy(h, src); err != nil {
		return err
	}
	r.id = h.Sum()
	if r.racy {
		h.Reset()
		return r.again(h)
	}
	return nil
}

// again reads the file a second time, and compares hashes.
func (r *reading) again(h *objstore.Hasher) error {
	src := &source{ctx: r.ctx, r: io.NewSectionReader(r.file, 0, r.read)}
	if _, err := io.Copy(h, src); err != nil {
		return err
	}
	r.changed = h.Sum() != r.id
	return nil
}

// ended reports whether err is the end of a file.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// source is a reader that keeps its own error, to tell it from one of its user, and fails when its context ends.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // io.EOF is never wrapped
		s.err = err
	}
	return n, err
}

// readAtMost reads all of r; an error if that is more than limit bytes.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &tree.LimitError{What: "bytes of a file", Limit: limit}
	}
	return data, err
}

// lists reports whether a sorted listing has a name.
func lists(names []worktreefs.Dirent, name string) bool {
	byName := func(e worktreefs.Dirent, name string) int { return strings.Compare(e.Name, name) }
	_, ok := slices.BinarySearchFunc(names, name, byName)
	return ok
}
