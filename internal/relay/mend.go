package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// putRight closes a run directory of this user's that was opened to others, and takes out what they may have put there:
// everything but plain files and sockets of this user's with one name, and directories of this user's. What is taken
// out is named; nothing in a run directory is needed. In this order, so that it can end anywhere: closed and marked,
// looked through, mark taken off. A directory of another user that is not empty stays, and the mark with it: the
// directory is refused until that is gone.
func putRight(dir string) (notice string, err error) {
	var opened openedError
	if err := CheckDir(dir); !errors.As(err, &opened) {
		return "", err
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", fail("put right", dir, err)
	}
	defer func() { _ = f.Close() }()
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return "", fail("put right", dir, err)
	}
	if err := checkOwner("", dir, &st, false); err != nil { // it was exchanged
		return "", err
	}
	if err := syscall.Fchmod(int(f.Fd()), 0o700|mendingBit); err != nil {
		return "", fail("put right", dir, err)
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return "", fail("put right", dir, err)
	}
	notice = dir + " was open to others (mode 0" + strconv.FormatUint(uint64(opened.mode), 8) + "), and is closed again"
	for _, name := range names {
		removed, err := takeOut(filepath.Join(dir, name))
		if err != nil {
			return "", fail("put right", dir, err)
		}
		if removed != "" {
			notice += "; removed " + removed
		}
	}
	if err := syscall.Fchmod(int(f.Fd()), 0o700); err != nil {
		return "", fail("put right", dir, err)
	}
	return notice, nil
}

// untoldName is the file of what was put right and nobody has been told.
const untoldName = "untold"

// keepUntold notes what was put right. Where that cannot be, nothing else is in the way of what the directory is for.
func keepUntold(dir, notice string) {
	f, err := os.OpenFile(filepath.Join(dir, untoldName), os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(notice + "\n")
	_ = f.Close()
}

// Untold returns what MakeDir has put right in the run directory of a home since it was asked last, "" where nothing
// was. The directory is one that TrustDirs trusts.
func Untold(home string) string {
	dirs, err := runDirs(home)
	if err != nil {
		return ""
	}
	path := filepath.Join(dirs[len(dirs)-1], untoldName)
	b, err := os.ReadFile(path)
	if err != nil || os.Remove(path) != nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "; ")
}

// takeOut removes an entry that somebody else may have put there, and names it.
func takeOut(path string) (removed string, err error) {
	var st syscall.Stat_t
	if err := again(func() error { return syscall.Lstat(path, &st) }); err != nil {
		if err == syscall.ENOENT {
			err = nil
		}
		return "", err
	}
	mine := int(st.Uid) == os.Geteuid()
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		if !mine && syscall.Rmdir(path) != nil {
			return "", errors.New(path + " belongs to " + userName(int(st.Uid)) + "; remove it")
		}
		if !mine {
			return filepath.Base(path) + " of " + userName(int(st.Uid)), nil
		}
		return "", syscall.Chmod(path, 0o700)
	case syscall.S_IFREG, syscall.S_IFSOCK:
		if mine && st.Nlink == 1 {
			return "", syscall.Chmod(path, 0o600)
		}
	}
	if err := syscall.Unlink(path); err != nil {
		return "", &os.PathError{Op: "remove", Path: path, Err: err}
	}
	return filepath.Base(path) + " of " + userName(int(st.Uid)), nil
}

// closeHome takes the right to write a home of this user's from others: who can write it can put another run directory,
// or other stores, in place of ours.
func closeHome(home string) error {
	var st syscall.Stat_t
	err := again(func() error { return syscall.Lstat(home, &st) })
	noDir := err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR
	if noDir || int(st.Uid) != os.Geteuid() || st.Mode&0o022 == 0 {
		return nil // what is wrong with it, others say
	}
	if err := syscall.Chmod(home, uint32(st.Mode&0o755)); err != nil {
		return fail("close", home, err)
	}
	return nil
}
