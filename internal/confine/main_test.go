package confine

import (
	"os"
	"testing"
)

// TestMain makes the test binary a supervisor where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Word {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}
