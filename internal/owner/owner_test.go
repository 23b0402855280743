package owner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	alice = 65534
	bob   = 65533
)

// home is alice's, with files of hers, of root's and of bob's; outside is root's, beside it.
func home(t *testing.T) (dir, outside string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	base := t.TempDir()
	dir, outside = filepath.Join(base, "alice/.rewind"), filepath.Join(base, "outside")
	check(t, os.MkdirAll(outside, 0o755), os.WriteFile(filepath.Join(outside, "shadow"), []byte("secret"), 0o600),
		os.WriteFile(filepath.Join(outside, "other"), nil, 0o600))
	for path, uid := range map[string]int{
		"config.json": alice, "lock": 0, "run/daemon.log": 0, "run/daemon.lock": alice, "run/bobs": bob,
		"storage/a/db/1.sst":     0,
		"storage/a/db/2.sst":     alice,
		"storage/b/project.json": 0, "projects/x": bob, "elsewhere/notes": 0, "notes": 0,
	} {
		path = filepath.Join(dir, path)
		check(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600),
			os.Chown(path, uid, uid))
	}
	for _, path := range []string{"", ".", "run", "storage", "storage/a", "storage/a/db", "projects"} {
		check(t, os.Chown(filepath.Join(dir, path), alice, alice))
	}
	check(t, os.Chown(filepath.Dir(dir), alice, alice))
	return dir, outside
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func uid(t *testing.T, path string) int {
	t.Helper()
	var st syscall.Stat_t
	check(t, syscall.Lstat(path, &st))
	return int(st.Uid)
}

func paths(list []Entry) string {
	var out []string
	for _, e := range list {
		out = append(out, e.Path)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestPromise17GivesBackWhatRootLeft: what root's commands left is the owner's again, and nothing else changes hands.
func TestPromise17GivesBackWhatRootLeft(t *testing.T) {
	dir, _ := home(t)
	for _, do := range []func(string) (*Report, error){Plan, Mend} {
		r, err := do(dir)
		check(t, err)
		if got := paths(r.Given); got != "lock storage/a/db/1.sst storage/b storage/b/project.json" ||
			r.Owner != alice {
			t.Errorf("given: %s, to %d", got, r.Owner)
		}
		if got := paths(r.Removed); got != "run/bobs run/daemon.log" {
			t.Errorf("removed: %s", got)
		}
		if got := paths(r.Left); got != "projects/x" {
			t.Errorf("left: %s", got)
		}
	}
	for path, want := range map[string]int{
		"lock": alice, "storage/a/db/1.sst": alice, "storage/b": alice, "storage/b/project.json": alice,
		"projects/x":      bob,
		"elsewhere/notes": 0, "notes": 0, "run/daemon.lock": alice,
	} {
		if got := uid(t, filepath.Join(dir, path)); got != want {
			t.Errorf("%s is %d's, want %d's", path, got, want)
		}
	}
	if r, err := Find(dir); err != nil || r.Foreign() != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPromise17GivesNothingElseAway: links, other names, devices, what runs as its owner and other file systems are
// left, whoever planted them.
func TestPromise17GivesNothingElseAway(t *testing.T) {
	dir, outside := home(t)
	shadow, at := filepath.Join(outside, "shadow"),
		func(name string) string { return filepath.Join(dir, "storage/a", name) }
	check(t, os.Symlink(shadow, at("link")), os.Symlink(outside, at("dirlink")), os.Link(shadow, at("hardlink")),
		syscall.Mkfifo(at("fifo"), 0o600),
		syscall.Mknod(at("device"), syscall.S_IFCHR|0o600, 1<<8|3), os.WriteFile(at("setuid"), nil, 0o755),
		syscall.Chmod(at("setuid"),
			0o4755),
		os.Symlink(outside, filepath.Join(dir, "run/warned")), os.Link(shadow, filepath.Join(dir, "run/daemon.sock")),
		os.Symlink(outside,
			filepath.Join(dir, "system")))
	r, err := Mend(dir)
	check(t, err)
	for _, name := range []string{"link", "dirlink", "hardlink", "fifo", "device", "setuid"} {
		if i := slices.IndexFunc(r.Left, func(e Entry) bool { return e.Path == "storage/a/"+name }); i < 0 ||
			r.Left[i].Why == "" {
			t.Errorf("%s is not named among %v", name, r.Left)
		}
		if got := uid(t, at(name)); got != 0 {
			t.Errorf("%s is %d's", name, got)
		}
	}
	for _, path := range []string{outside, shadow, filepath.Join(outside, "other")} {
		if got := uid(t, path); got != 0 {
			t.Errorf("%s is %d's", path, got)
		}
	}
	if b, err := os.ReadFile(shadow); err != nil || string(b) != "secret" {
		t.Errorf("%q, %v", b, err)
	}
	// The home itself as a link, root's own, and root's in root's directory.
	link := filepath.Join(filepath.Dir(dir), "link")
	check(t, os.Symlink(outside, link))
	for _, path := range []string{link, outside, filepath.Join(dir, "nowhere")} {
		if r, err := Mend(path); err == nil {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if uid(t, outside) != 0 {
		t.Error("the target of a link was given away")
	}
}

// TestPromise17HomeThatRootMade: one that root made in a user's directory becomes that user's.
func TestPromise17HomeThatRootMade(t *testing.T) {
	dir, _ := home(t)
	check(t, os.Chown(dir, 0, 0), os.Chown(filepath.Join(dir, "storage"), 0, 0))
	r, err := Mend(dir)
	check(t, err)
	if r.Owner != alice || uid(t, dir) != alice || uid(t, filepath.Join(dir, "storage")) != alice {
		t.Errorf("%+v", r)
	}
}

// TestPromise17ExchangedUnderWay: the owner exchanges names between a file of root's and ways to a foreign one as fast
// as it goes; nothing outside changes hands, whatever moment is met.
func TestPromise17ExchangedUnderWay(t *testing.T) {
	dir, outside := home(t)
	shadow, at := filepath.Join(outside, "shadow"),
		func(name string) string { return filepath.Join(dir, "storage/a", name) }
	check(t, os.Link(shadow, at("hard")), os.Symlink(shadow, at("soft")), os.Mkdir(at("plain"), 0o700),
		os.Symlink(outside, at("softdir")))
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for _, from := range []string{"hard", "soft"} {
				_ = os.WriteFile(at("x"), nil, 0o600) // root's, as this test is
				_ = os.Rename(at("x"), at("name"))
				_ = os.Remove(at("y"))
				if from == "hard" {
					_ = os.Link(shadow, at("y"))
				} else {
					_ = os.Symlink(shadow, at("y"))
				}
				_ = os.Rename(at("y"), at("name"))
			}
			_ = os.Rename(at("plain"), at("z"))
			_ = os.Rename(at("softdir"), at("plain"))
			_ = os.Rename(at("plain"), at("softdir"))
			_ = os.Rename(at("z"), at("plain"))
		}
	}()
	for range 200 {
		if _, err := Mend(dir); err != nil {
			t.Error(err)
		}
		for _, path := range []string{outside, shadow, filepath.Join(outside, "other")} {
			if uid(t, path) != 0 {
				t.Fatalf("%s was given away", path)
			}
		}
	}
	close(stop)
	<-done
}
