package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"rewind/internal/built"
)

var (
	scratch  string          // of this run
	programs string          // the directory with rewind and rewindd
	chromium context.Context // the one browser; nil before it is asked for
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "rewind-browser-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	alloc, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.ExecPath(browser()), chromedp.Flag("disable-popup-blocking", true))...)
	defer end()
	var stop context.CancelFunc
	chromium, stop = chromedp.NewContext(alloc)
	defer stop()
	return m.Run()
}

// started has the programs built and the browser running.
var started = sync.OnceValue(func() error {
	dir, err := built.Programs(filepath.Join(scratch, "bin"))
	if err != nil {
		return err
	}
	programs = dir
	return chromedp.Do(chromium)
})

// browser is the program: the headless shell where there is one, for it takes half of what chromium takes of the
// processor.
func browser() string {
	const shell, whole = "chromium-headless-shell", "chromium"
	if _, err := exec.LookPath(shell); err == nil {
		return shell
	}
	return whole
}

// needBrowser fails a test where there is no browser: what the page promises is not shown then.
func needBrowser(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath(browser()); err != nil {
		t.Fatal("a browser is missing: Debian has one in the package chromium-headless-shell")
	}
	if err := started(); err != nil {
		t.Fatal(err)
	}
}
