package relay

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestHome(t *testing.T) {
	for _, c := range []struct{ rewind, home, want string }{
		{"", "/home/u", "/home/u/.rewind"},
		{"/r", "/home/u", "/r"},
		{"/r/../s/", "", "/s"},
		{"r", "", ""},
		{"./r", "/home/u", ""},
		{"", "", ""},
		{"", "relative", ""},
	} {
		t.Setenv("REWIND_HOME", c.rewind)
		t.Setenv("HOME", c.home)
		got, err := Home()
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("REWIND_HOME=%q HOME=%q: %q, %v; want %q", c.rewind, c.home, got, err, c.want)
		}
	}
}

func TestSocketPath(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/elsewhere")
	t.Setenv("TMPDIR", "/elsewhere")
	uid := strconv.Itoa(os.Geteuid())
	fits := "/" + strings.Repeat("h", 100-len("//run/daemon.sock"))
	for _, c := range []struct{ home, want string }{
		{"/home/u/.rewind", "/home/u/.rewind/run/daemon.sock"},
		{fits, fits + "/run/daemon.sock"},
		{fits + "h", "/tmp/rewind-" + uid + "/" + fnv64(fits+"h") + "/daemon.sock"},
		{fits + "h/", "/tmp/rewind-" + uid + "/" + fnv64(fits+"h") + "/daemon.sock"},
		{"relative", ""},
		{"", ""},
	} {
		got, err := SocketPath(c.home)
		if got != c.want || (err != nil) != (c.want == "") || len(got) > 100 {
			t.Errorf("%q: %q, %v; want %q", c.home, got, err, c.want)
		}
	}
	if got := fnv64("foobar"); got != "85944171f73967e8" {
		t.Errorf("FNV-1a of foobar: %s", got)
	}
}

func TestT17CheckDir(t *testing.T) {
	dir := shortDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{
		"good": 0o700, "narrow": 0o500, "group": 0o750, "others": 0o701, "world": 0o777,
		"sticky": 0o1777,
	} {
		_ = os.Mkdir(at(name), 0o700)
		// what os.FileMode calls sticky is not a bit of the number
		if err := syscall.Chmod(at(name), uint32(mode)); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.WriteFile(at("file"), nil, 0o600)
	_ = os.Symlink("good", at("link"))
	_ = os.Symlink("nowhere", at("dangling"))
	_ = os.Symlink("loop", at("loop"))
	cases := []struct{ name, want string }{
		{"good", ""},
		{"narrow", ""},
		{"group", "chmod 700 " + at("group")},
		{"others", "chmod 700"},
		{"world", "chmod 700"},
		{"sticky", "mode 01777"},
		{"file", "not a directory"},
		{"link", "symbolic link"},
		{"dangling", "symbolic link"},
		{"loop", "symbolic link"},
		{"missing", "no such file"},
		{"file/below", "not a directory"},
	}
	if os.Geteuid() == 0 {
		_ = os.Mkdir(at("foreign"), 0o700)
		if err := os.Chown(at("foreign"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, struct{ name, want string }{"foreign", "belongs to user 65534"})
	}
	for _, c := range cases {
		err := CheckDir(at(c.name))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), at(c.name))):
			t.Errorf("%s: %v; want its path and %q", c.name, err, c.want)
		}
	}
}

func TestT17MakeDir(t *testing.T) {
	home := filepath.Join(shortDir(t), "not", "there")
	defer syscall.Umask(syscall.Umask(0))
	for range 2 {
		dir, err := MakeDir(home)
		if err != nil || dir != filepath.Join(home, "run") {
			t.Fatalf("%q, %v", dir, err)
		}
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
	}
	for _, dir := range []string{home, filepath.Join(home, "run")} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := MakeDir(home); err != nil {
		t.Errorf("a directory that others may write: %v", err)
	}
	for dir, want := range map[string]os.FileMode{home: 0o755, filepath.Join(home, "run"): 0o700} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %o", dir, info.Mode(), err, want)
		}
	}
	os.RemoveAll(filepath.Join(home, "run"))
	_ = os.Symlink("/tmp", filepath.Join(home, "run"))
	if _, err := MakeDir(home); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a planted link: %v", err)
	}
}

// A home with a long path has its socket two directories deep in /tmp, where anybody could have made the first one.
func TestT17LongHomeChecksBothDirectories(t *testing.T) {
	dirs, err := runDirs("/" + strings.Repeat("long", 40))
	if err != nil || len(dirs) != 2 || filepath.Dir(dirs[1]) != dirs[0] || filepath.Dir(dirs[0]) != "/tmp" {
		t.Fatalf("%q, %v", dirs, err)
	}
	home := filepath.Join(shortDir(t), strings.Repeat("long", 40))
	dir, err := MakeDir(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := CheckDir(d); err != nil {
			t.Error(err)
		}
	}
	if notice, err := TrustDirs(home); err != nil || notice != "" {
		t.Errorf("%q, %v", notice, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if notice, err := TrustDirs(home); err != nil || !strings.Contains(notice, dir+" was open to others (mode 0755)") {
		t.Errorf("others may enter: %q, %v", notice, err)
	}
	if err := CheckDir(dir); err != nil {
		t.Error(err)
	}
}

// What a process puts right that nobody listens to is said to who asks next, once.
func TestT17WhatMakeDirPutRightIsTold(t *testing.T) {
	home := t.TempDir()
	dir, err := MakeDir(home)
	if err != nil {
		t.Fatal(err)
	}
	if said := Untold(home); said != "" {
		t.Errorf("nothing was put right: %q", said)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := MakeDir(home); err != nil {
		t.Fatal(err)
	}
	if said := Untold(home); !strings.HasSuffix(said, "run was open to others (mode 0777), and is closed again") {
		t.Errorf("what was put right: %q", said)
	}
	if said := Untold(home); said != "" {
		t.Errorf("said twice: %q", said)
	}
}
