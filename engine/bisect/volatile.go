package bisect

import "rewind/internal/worktreefs"

// volatile is a directory in which nothing has to survive a crash: nothing in it is synced.
type volatile struct{ worktreefs.Dir }

// Unwrap gives the directory below, for Move and Exchange.
func (v volatile) Unwrap() worktreefs.Dir { return v.Dir }

func (v volatile) OpenDir(name string) (worktreefs.Dir, error) {
	d, err := v.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return volatile{d}, nil
}

func (v volatile) CreateFile(name string, perm uint16) (worktreefs.WFile, error) {
	f, err := v.Dir.CreateFile(name, perm)
	if err != nil {
		return nil, err
	}
	return volatileFile{f}, nil
}

func (volatile) Sync() error   { return nil }
func (volatile) SyncFS() error { return nil }

// volatileFile is a file in such a directory.
type volatileFile struct{ worktreefs.WFile }

func (volatileFile) WriteOut()   {}
func (volatileFile) Sync() error { return nil }
