package agentfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/internal/osfile"
	"rewind/transcript"
)

// Claude Code keeps what files were before it changed them in a folder for each session, file-history/<id>; its own
// rewind takes them from there. A session that is made of another has the same backups, as hard links: that is how
// Claude makes them for its own forks.

const history = "file-history"

// maxHistory is how many files of a session's history are linked.
const maxHistory = 100_000

// LinkHistory gives the session in the file `to` the backups that the session in the file `from` has: hard links, in
// the person's own folder, through no link. It returns how many; an agent that has none, or another way of keeping
// them, is no error.
func (own Folders) LinkHistory(from, to string) (n int, err error) {
	err = own.eachBackup(from, to, true, func(root *os.Root, from, to string) error {
		err := root.Link(from, to)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		if err == nil {
			n++
		}
		return err
	})
	return n, err
}

// UnlinkHistory takes away again what LinkHistory made, as far as the other session still has it: the agent's own files
// stay.
func (own Folders) UnlinkHistory(from, to string) error {
	return own.eachBackup(from, to, false, func(root *os.Root, from, to string) error {
		a, err := root.Lstat(from)
		if err != nil {
			return err
		}
		b, err := root.Lstat(to)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !os.SameFile(a, b) {
			return err
		}
		return root.Remove(to)
	})
}

// listed are the entries of a directory, at most maxHistory.
func listed(root *os.Root) ([]fs.DirEntry, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	list, err := dir.ReadDir(maxHistory)
	dir.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return list, nil
}

// eachBackup gives the backups of one session, and what another's would be called, below the folder that has those of
// all sessions.
func (own Folders) eachBackup(from, to string, linking bool, fn func(root *os.Root, from, to string) error) error {
	f, err := own.Of(transcript.Claude, from)
	if err != nil {
		return err
	}
	if _, err := own.Of(transcript.Claude, to); err != nil {
		return err
	}
	_, of, err := transcript.SessionFile(transcript.Claude, from)
	if err != nil {
		return err
	}
	_, id, err := transcript.SessionFile(transcript.Claude, to)
	if err != nil || of == id {
		return err
	}
	folder, err := os.OpenRoot(f.Folder)
	if err != nil {
		return nothing(err)
	}
	defer folder.Close()
	root, err := below(folder, history, false)
	if err != nil {
		return nothing(err)
	}
	defer root.Close()
	src, err := below(root, of, false)
	if err != nil {
		return nothing(err)
	}
	defer src.Close()
	dst, err := below(root, id, linking)
	if err != nil {
		return nothing(err)
	}
	defer dst.Close()
	list, err := listed(src)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.Type().IsRegular() {
			continue
		}
		if err := fn(root, filepath.Join(of, e.Name()), filepath.Join(id, e.Name())); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(f.Folder, history, id), err)
		}
	}
	if linking {
		return osfile.SyncRoot(dst)
	}
	_ = root.Remove(id) // it stays while something is in it
	return nil
}

// nothing is the error of a look at what need not be there.
func nothing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
