package project

import (
	"time"

	"rewind/internal/worktreefs"
)

// heldDir is a directory that is held while it is decided whose project it is: whatever takes its name meanwhile
// decides nothing, gets no marker, and is not what is opened then.
type heldDir struct {
	path string
	dir  worktreefs.Dir
	st   worktreefs.Stat
}

// hold opens the directory d for the finder until release is called. One that cannot be opened is none.
func (f *Finder) hold(d string) (release func()) {
	was := f.at
	f.at = nil
	dir, err := worktreefs.OpenRoot(d)
	if err != nil {
		return func() { f.at = was }
	}
	st, err := dir.Stat()
	if err == nil {
		f.at = &heldDir{d, dir, st}
	}
	return func() {
		_ = dir.Close()
		f.at = was
	}
}

// is reports whether the directory d, which is probed, is the one of a record.
func (f *Finder) is(r *Record, d string) bool {
	if f.at != nil && f.at.path == d {
		return r.isHeld(f.at.st)
	}
	return r.is(d)
}

// atNow gives a record the directory d, which is probed.
func (f *Finder) atNow(r *Record, d string) *Record {
	if f.at != nil && f.at.path == d {
		return r.atDir(d, f.at.st)
	}
	return r.At(d)
}

// Another directory at a project's path is taken for the project only if it stays there.
const (
	steadyFor   = 300 * time.Millisecond // so long ago it must have got the name
	steadyWait  = 2 * time.Second        // so long that is waited for
	steadyPause = 2 * time.Millisecond
)

// steady reports whether the path d leads to the directory that is probed, and has done so for a while: a rename stamps
// the directory with the time. A stamp of the future, of another machine's clock, says nothing; then it is looked at
// for as long.
func (f *Finder) steady(d string) bool {
	from := time.Now()
	for f.at != nil {
		st, ok := statDir(d)
		if !ok || st.Ino != f.at.st.Ino || st.Dev != f.at.st.Dev {
			return false
		}
		now := time.Now()
		since := now.Sub(time.Unix(0, st.Ctime))
		if since < -steadyFor {
			since = now.Sub(from)
		}
		if since >= steadyFor {
			return true
		}
		if now.Sub(from) > steadyWait {
			return false
		}
		time.Sleep(steadyPause)
	}
	return false
}

// contents is contents of the directory d, which is probed.
func (f *Finder) contents(d string) (empty, own bool) {
	if f.at == nil || f.at.path != d {
		return contents(d)
	}
	list, err := f.at.dir.ReadDir()
	return err == nil && len(list) == 0, mine(f.at.st)
}
