package relay

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestUnanswered(t *testing.T) {
	home := t.TempDir()
	if list, full := ReadUnanswered(home); list != nil || full {
		t.Errorf("%v, %v", list, full)
	}
	want := []Unanswered{
		{noon, "claude", "post-tool-use", 4711, "/a dir/p"},
		{noon.Add(time.Second), "codex", "stop", 0, ""},
	}
	for _, u := range want {
		RecordUnanswered(home, u)
	}
	RecordUnanswered(home, Unanswered{noon, "odd agent\n", "", 1, "/with\nnewline"})
	want = append(want, Unanswered{noon, "oddagent", "-", 1, ""})
	list, full := ReadUnanswered(home)
	if len(list) != 3 || full {
		t.Fatalf("%v, %v", list, full)
	}
	for i := range want {
		if list[i] != want[i] {
			t.Errorf("%+v, want %+v", list[i], want[i])
		}
	}
	if fi, err := os.Stat(filepath.Join(home, unansweredName)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	ForgetUnanswered(home, func(u Unanswered) bool { return u.Agent == "claude" })
	if list, _ = ReadUnanswered(home); len(list) != 2 || list[0] != want[1] {
		t.Errorf("%+v", list)
	}
	ForgetUnanswered(home, func(Unanswered) bool { return true })
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	RecordUnanswered(filepath.Join(home, "none"), want[0])
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("a home was made: %v, %v", left, err)
	}
}

// Many hooks wait in the same moment, and one line after the other is whole.
func TestUnansweredAtOnce(t *testing.T) {
	home := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				RecordUnanswered(home, Unanswered{noon, "claude", "stop", 1, "/p/" + strings.Repeat("x", 100)})
			}
		})
	}
	all.Wait()
	if list, full := ReadUnanswered(home); len(list) != 160 || full {
		t.Errorf("%d, %v", len(list), full)
	}
}

// The file does not grow for ever, and who reads it hears that there may have been more.
func TestUnansweredBounded(t *testing.T) {
	home := t.TempDir()
	for range 2000 {
		RecordUnanswered(home, Unanswered{noon, "claude", "stop", 1, strings.Repeat("d", 200)})
	}
	fi, err := os.Stat(filepath.Join(home, unansweredName))
	if err != nil || fi.Size() > maxUnanswered+maxUnansweredDir {
		t.Errorf("%v, %v", fi, err)
	}
	if list, full := ReadUnanswered(home); !full || len(list) < 200 {
		t.Errorf("%d, %v", len(list), full)
	}
}

// Whatever lies there is not followed, not waited for, and not believed.
func TestUnansweredHostile(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(path+"-target", path) },
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error {
			return os.Mkdir(path, 0o700)
		},
		"noise": func(path string) error {
			return os.WriteFile(path, []byte("\n\nx\n2026 a b c d\n"+strings.Repeat("\x00", 300<<10)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, unansweredName)
			if err := plant(path); err != nil {
				t.Fatal(err)
			}
			RecordUnanswered(home, Unanswered{noon, "claude", "stop", 1, ""})
			if list, _ := ReadUnanswered(home); len(list) != 0 {
				t.Errorf("%v", list)
			}
			if _, err := os.Lstat(path + "-target"); err == nil {
				t.Error("a link was followed")
			}
		})
	}
}
