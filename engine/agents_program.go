package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// checkProgram says whether hooks have something to call.
func (h Home) checkProgram() error {
	fi, err := os.Stat(h.HookProgram())
	if err == nil && !isProgram(fi) {
		err = errors.New("not a program")
	}
	if err != nil {
		return fmt.Errorf("engine: register hooks: %w: %s: %w", ErrNoProgram, h.HookProgram(), pathCause(err))
	}
	return nil
}

func isProgram(fi fs.FileInfo) bool {
	return fi.Mode().IsRegular() && (runtime.GOOS == "windows" || fi.Mode()&0o111 != 0)
}

// bringProgram puts the program that hooks call where they call it, if it is not there and stands beside this one: somebody has built both and
// installed neither. One that is there is left alone; 'make install' replaces it.
func (h Home) bringProgram(dryRun bool) error {
	missing := h.checkProgram()
	if !errors.Is(missing, fs.ErrNotExist) {
		return missing
	}
	self, err := os.Executable()
	if err != nil {
		return missing
	}
	beside := filepath.Join(filepath.Dir(self), filepath.Base(h.HookProgram()))
	fi, err := os.Stat(beside)
	if err != nil || !isProgram(fi) {
		return missing
	}
	if dryRun {
		return nil
	}
	data, err := os.ReadFile(beside)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(h.HookProgram()), 0o700)
	}
	if err == nil {
		err = writeFile(h.HookProgram(), data)
	}
	if err == nil {
		err = os.Chmod(h.HookProgram(), 0o700)
	}
	if err != nil {
		return fmt.Errorf("engine: install %s: %w", h.HookProgram(), pathCause(err))
	}
	return nil
}
