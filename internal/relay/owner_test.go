package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromise17HomeOfAnotherUser: a home is this user's, or one that is not there yet and would be.
func TestPromise17HomeOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	dir := shortDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"mine", "theirs", "theirs/mine"} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"good": "mine", "away": "theirs", "planted": "mine", "dangling": "nowhere"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"theirs", "planted"} {
		if err := os.Lchown(at(name), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ home, want string }{
		{"mine", ""},
		{"theirs/mine", ""}, // the owner of the home itself decides
		{"good", ""},
		{"not/yet", ""},
		{"mine/not/yet", ""},
		{"theirs", "theirs belongs to user 65534, and this is root"},
		{"away", "away belongs to user 65534"},
		{"planted", "planted belongs to user 65534"},
		{"theirs/not/yet", "not/yet would be made in " + at("theirs") + ", which belongs to user 65534, and this is root"},
		{"away/not/yet", "belongs to user 65534"},
		{"dangling", "no such file"},
	} {
		err := CheckHome(at(c.home))
		var owner *OwnerError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.home, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %q", c.home, err, c.want)
		case strings.Contains(c.want, "belongs") && !errors.As(err, &owner):
			t.Errorf("%s: %T", c.home, err)
		}
	}
	if _, err := os.Lstat(at("theirs/not")); err == nil {
		t.Error("something was made")
	}
}

// TestPromise17ConnectRefusesHome: in the home of another user no directory is made, and no daemon started.
func TestPromise17ConnectRefusesHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	home, bin := testHome(t)
	if err := os.Chown(home, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for _, run := range []bool{false, true} {
		if run { // that of the owner's daemon
			if err := errors.Join(os.Mkdir(filepath.Join(home, "run"), 0o700),
				os.Chown(filepath.Join(home, "run"), 65534, 65534)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Connect(home, bin, "v1", soon())
		var owner *OwnerError
		if !errors.As(err, &owner) || owner.Dir != home || owner.Owner != 65534 {
			t.Errorf("run directory there: %v: %v", run, err)
		}
		if _, err := os.Stat(filepath.Join(home, "run")); err == nil != run {
			t.Error("a directory was made")
		}
		if starts := notes(home, "start"); len(starts) > 0 {
			t.Error("a daemon was started")
		}
	}
}
