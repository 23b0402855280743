package owner

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	maxEntries  = 10_000 // of one kind in a report
	runName     = "run"
	asidePrefix = ".foreign-run-"
	maxDepth    = 16 // directories below the home; a store has six
)

// known reports whether rewind makes a name in its directory; what else lies there is not looked at.
func known(name string) bool {
	switch name {
	case "config.json", "lock", runName, "storage", "projects", "system", "backups":
		return true
	}
	return strings.HasPrefix(name, asidePrefix) || strings.HasPrefix(name, ".new-")
}

// mender is one walk through a home.
type mender struct {
	Report
	gid    int
	device uint64
	me     int
	own    bool // the home is who runs this's, root included
	dry    bool
}

// Find reports what in a home of one's own is another user's.
func Find(home string) (*Report, error) {
	return (&mender{Report: Report{Home: home}, dry: true, own: true}).walk()
}

// Plan reports what Mend would do.
func Plan(home string) (*Report, error) {
	return (&mender{Report: Report{Home: home}, dry: true}).walk()
}

// Mend gives back what root left in a home, for root, and for its owner what can be without root: nothing in the run
// directory is needed.
func Mend(home string) (*Report, error) { return (&mender{Report: Report{Home: home}}).walk() }

func (m *mender) walk() (*Report, error) {
	home := m.Home
	m.me = os.Geteuid()
	dir, err := unix.Open(home, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", home, err)
	}
	defer func() { _ = unix.Close(dir) }()
	if err := m.begin(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", home, err)
	}
	names, err := list(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", home, err)
	}
	for _, name := range names {
		if known(name) {
			if err := m.entry(dir, name, name, 1); err != nil {
				return &m.Report, fmt.Errorf("%s: %w", path.Join(home, name), err)
			}
		}
	}
	return &m.Report, nil
}

// begin finds out to whom things are given back: the home's owner, and where root made that, too, who has the directory
// that it lies in.
func (m *mender) begin(dir int) error {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return err
	}
	m.Owner, m.gid, m.device = int(st.Uid), int(st.Gid), uint64(st.Dev) //nolint:unconvert // the types differ between systems
	if m.Owner == 0 && m.me == 0 && !m.own {
		var above unix.Stat_t
		if err := unix.Fstatat(dir, "..", &above, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		m.Owner, m.gid = int(above.Uid), int(above.Gid)
		if m.Owner == 0 {
			return ErrNobody
		}
		m.Given = append(m.Given, Entry{Path: ".", dir: true})
		if !m.dry {
			if err := unix.Fchown(dir, m.Owner, m.gid); err != nil {
				return err
			}
		}
	}
	if m.me != 0 && m.me != m.Owner {
		return ErrNotYours
	}
	return nil
}

// enters reports whether a directory is of the same file system, and not too deep.
func (m *mender) enters(st *unix.Stat_t, depth int) bool {
	return uint64(st.Dev) == m.device && depth < maxDepth //nolint:unconvert // the types differ between systems
}

// entry looks at one name in a directory, and below it.
func (m *mender) entry(at int, name, rel string, depth int) error {
	fd, st, err := open(at, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if fd >= 0 {
		defer func() { _ = unix.Close(fd) }()
	}
	kind := st.Mode & unix.S_IFMT
	e := Entry{Path: rel, UID: int(st.Uid), dir: kind == unix.S_IFDIR}
	if e.UID != m.Owner {
		if done, err := m.foreign(at, name, fd, &st, e); err != nil || done {
			return err
		}
	}
	if !e.dir || !m.enters(&st, depth) {
		return nil
	}
	dir, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil { // of another user, and told
		return nil
	}
	defer func() { _ = unix.Close(dir) }()
	names, err := list(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := m.entry(dir, n, path.Join(rel, n), depth+1); err != nil {
			return err
		}
	}
	if strings.HasPrefix(rel, asidePrefix) && !m.dry {
		_ = unix.Unlinkat(at, name, unix.AT_REMOVEDIR) // nobody needs it
	}
	return nil
}

// foreign deals with what is not the owner's. done: there is nothing below it to look at.
func (m *mender) foreign(at int, name string, fd int, st *unix.Stat_t, e Entry) (done bool, err error) {
	inRun := strings.HasPrefix(e.Path, runName+"/") || strings.HasPrefix(e.Path, asidePrefix)
	switch {
	case inRun && !e.dir: // removed by name: whatever has it now lies in a directory of this home
		return true, m.remove(at, name, e)
	case m.me != 0:
		return true, m.aside(at, name, e)
	}
	e.Why = refusal(st, m.device)
	if e.Why != "" {
		m.left(e)
		return e.UID != 0, nil // a directory of root's is no reason not to look into it
	}
	if !m.dry {
		if err := give(fd, m.Owner, m.gid); err != nil {
			return true, err
		}
	}
	add(&m.Given, e)
	return false, nil
}

// refusal says why root does not give something away.
func refusal(st *unix.Stat_t, device uint64) string {
	kind := st.Mode & unix.S_IFMT
	switch {
	case st.Uid != 0:
		return "it is a third user's: remove it, or have its owner take it away"
	case uint64(st.Dev) != device: //nolint:unconvert // the types differ between systems
		return "it is on another file system"
	case kind == unix.S_IFDIR:
		return ""
	case kind != unix.S_IFREG:
		return "it is neither a file nor a directory: remove it"
	case st.Nlink != 1:
		return "the file has another name elsewhere: remove this one"
	case st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return "it runs as its owner or group: remove it"
	}
	return ""
}

func (m *mender) remove(at int, name string, e Entry) error {
	if !m.dry {
		if err := unix.Unlinkat(at, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			e.Why = err.Error()
			m.left(e)
			return nil
		}
	}
	add(&m.Removed, e)
	return nil
}

// aside is what the owner can do about a directory of another user: that of the daemon is moved out of the way, and the
// rest stays for root.
func (m *mender) aside(at int, name string, e Entry) error {
	if e.dir && (e.Path == runName || strings.HasPrefix(e.Path, runName+"/")) {
		if m.dry || unix.Unlinkat(at, name, unix.AT_REMOVEDIR) == nil {
			add(&m.Removed, e)
			return nil
		}
		if e.Path == runName {
			e.Path = asidePrefix + rand.Text()[:8]
			if err := unix.Renameat(at, name, at, e.Path); err == nil {
				add(&m.Aside, e)
				return nil
			}
			e.Path = runName
		}
	}
	e.Why = "only root can give it back"
	m.left(e)
	return nil
}

func (m *mender) left(e Entry) { add(&m.Left, e) }

func add(list *[]Entry, e Entry) {
	if len(*list) < maxEntries {
		*list = append(*list, e)
	}
}

// list gives the names in a directory.
func list(dir int) ([]string, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1)
}
