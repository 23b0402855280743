package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"rewind/transcript"
)

// hold locks the file of its first argument as Codex does.
func hold() {
	f, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	wait()
	_ = f.Close()
}

func init() { plays["hold"] = hold }

func TestRunningCodex(t *testing.T) {
	root := t.TempDir()
	lock := filepath.Join(root, "thread-writer-locks", session+".lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		t.Fatal(err)
	}
	look := func() Live {
		t.Helper()
		live, err := look(transcript.Codex, root, session)
		if err != nil {
			t.Fatal(err)
		}
		return live
	}
	if live := look(); live.Running {
		t.Errorf("without a lock: %+v", live)
	}
	if _, err := os.Lstat(lock); err == nil {
		t.Error("the lock was made")
	}
	put(t, lock, "")
	if live := look(); live.Running {
		t.Errorf("with a free lock: %+v", live)
	}
	t.Run("held", func(t *testing.T) {
		cmd := child(t, "hold", "codex", lock, "app-server", "--managed-daemon")
		live := look()
		if !live.Running || live.Guess || !strings.Contains(live.How, " holds "+lock) {
			t.Errorf("held: %+v", live)
		}
		if runtime.GOOS == "linux" && (live.PID != cmd.Process.Pid || !strings.Contains(live.How, "daemon stop")) {
			t.Errorf("held by %d: %+v", cmd.Process.Pid, live)
		}
	})
	if live := look(); live.Running {
		t.Errorf("after it was let go: %+v", live)
	}
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("looking has left a lock: %v", err)
	}
}

func TestRunningCodexLink(t *testing.T) {
	root := t.TempDir()
	lock := filepath.Join(root, "thread-writer-locks", session+".lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(put(t, filepath.Join(root, "elsewhere"), ""), lock); err != nil {
		t.Fatal(err)
	}
	if live, err := look(transcript.Codex, root, session); err == nil || live.Running {
		t.Errorf("a link was followed: %+v", live)
	}
}
