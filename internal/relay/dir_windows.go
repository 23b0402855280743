package relay

import (
	"errors"
	"os"
	"path/filepath"
)

const homeVariable = "USERPROFILE"

// shortRunDir is the directory for the sockets of homes with long paths. Where it is is this user's alone.
func shortRunDir() string { return filepath.Join(os.Getenv("LOCALAPPDATA"), "rewind") }

// CheckDir reports why a run directory cannot be trusted. Who may enter it is left to the access control of the profile it lies in.
func CheckDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fail("check directory", dir, err)
	}
	if !info.IsDir() {
		return fail("check directory", dir, errors.New("it is not a directory; move it away"))
	}
	return nil
}

func putRight(dir string) (notice string, err error) { return "", CheckDir(dir) }

func closeHome(string) error { return nil }
