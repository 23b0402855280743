package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableANSI makes the console understand escape sequences; false when it is
// too old to.
func enableANSI(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return true // not a console: colour was forced, so the reader wants it
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
