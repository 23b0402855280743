package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// An entry of a store that is planted anew, and the kinds of what is planted.
type planting struct {
	name string
	put  func(s *scene, path string) error
}

// plantings are what an entry of a store, a marker or a settings file may be instead.
var plantings = []planting{
	{"link to a file", func(s *scene, path string) error { return os.Symlink(s.path("home/.ssh/id_ed25519"), path) }},
	{"link to a directory", func(s *scene, path string) error { return os.Symlink(s.path("home/.ssh"), path) }},
	{"relative link out", func(s *scene, path string) error {
		rel, err := filepath.Rel(filepath.Dir(path), s.path("home/.ssh"))
		return errors.Join(err, os.Symlink(rel, path))
	}},
	{
		"dangling link",
		func(s *scene, path string) error { return os.Symlink(s.path("home/.config/autostart/x.desktop"), path) },
	},
	{"pipe", func(s *scene, path string) error { return syscall.Mkfifo(path, 0o600) }},
	{"device", func(s *scene, path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|5) }},
	{"hard link", func(s *scene, path string) error { return os.Link(s.path("home/.ssh/authorized_keys"), path) }},
	{"huge", func(s *scene, path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 3<<30))
	}},
	{"directory", func(s *scene, path string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "x"), []byte("x"), 0o600))
	}},
	{"loop", func(s *scene, path string) error { return os.Symlink(filepath.Base(path), path) }},
}

// entries of a store that may be planted; a * stands for the first file that matches.
var storeEntries = []string{
	"", "format", "lock", "tide", "checked", "ballast", "last-fatal", "making", "swap", "gc-ran", "project.json",
	"seal", "repair",
	"quarantine", "db",
	"db/LOCK", "db/extent", "db/archive", "db/MANIFEST-*", "db/*.sst", "db/OPTIONS-*", "db/marker.manifest*",
	"db/marker.format*",
	"db/*.log", "db/*.wal", "format.tmp", "db/archive/000001.sst",
}

// find gives the path of an entry, which need not be there.
func find(store, entry string) string {
	if list, err := filepath.Glob(filepath.Join(store, entry)); err == nil && len(list) > 0 {
		return list[0]
	}
	return filepath.Join(store, strings.ReplaceAll(entry, "*", "000009"))
}

// hostileCases are all of them, the families in turns.
func hostileCases(from *scene) []hostileCase {
	var all []hostileCase
	add := func(c hostileCase) { all = append(all, c) }
	// Entries of a store: one that came with a repository, and the victim's own that somebody got at.
	for _, entry := range storeEntries {
		if strings.Contains(entry, "*") {
			if list, _ := filepath.Glob(filepath.Join(from.proj, ".agent/rewind/store", entry)); len(list) == 0 {
				continue
			}
		}
		for _, p := range plantings {
			for _, believed := range []bool{false, true} {
				name := fmt.Sprintf("store/%s is a %s, known %v", entry, p.name, believed)
				add(hostileCase{name: name, believed: believed, plant: func(s *scene) {
					s.lay(from, believed)
					path := find(filepath.Join(s.proj, ".agent/rewind/store"), entry)
					must(s.t, os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), p.put(s, path))
					_ = os.Lchown(path, victim, victim)
				}})
			}
		}
		// Another user's.
		add(hostileCase{name: "store/" + entry + " is another user's", believed: true, plant: func(s *scene) {
			s.lay(from, true)
			path := find(filepath.Join(s.proj, ".agent/rewind/store"), entry)
			if _, err := os.Lstat(path); err != nil {
				must(s.t, os.WriteFile(path, []byte("x"), 0o666))
			}
			must(s.t, os.Lchown(path, attacker, attacker), os.Chmod(path, 0o777))
		}})
	}
	// The directories above a store.
	for _, above := range []string{".agent", ".agent/rewind"} {
		for _, p := range plantings {
			add(hostileCase{name: above + " is a " + p.name, plant: func(s *scene) {
				s.lay(from, false)
				path := filepath.Join(s.proj, above)
				must(s.t, os.RemoveAll(path), p.put(s, path))
			}})
		}
		add(hostileCase{name: above + " is a link to a store elsewhere", plant: func(s *scene) {
			s.lay(from, false)
			must(s.t, os.Rename(filepath.Join(s.proj, above), s.path("attacker/stolen")),
				os.Symlink(s.path("attacker/stolen"), filepath.Join(s.proj, above)))
		}})
		add(hostileCase{name: above + " is another user's", plant: func(s *scene) {
			s.lay(from, false)
			must(s.t, filepath.WalkDir(filepath.Join(s.proj, above), func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Lchown(path, attacker, attacker))
			}))
		}})
	}
	// Markers and settings.
	for _, file := range []string{"id", "config.json", ".gitignore", "stage"} {
		for _, p := range plantings {
			add(hostileCase{name: "marker " + file + " is a " + p.name, plant: func(s *scene) {
				write(s.t, s.proj,
					map[string]string{"a.txt": "a\n", ".agent/rewind/id": strings.Repeat("ab", 16) + "\n"})
				s.give("shared/proj", victim)
				path := filepath.Join(s.proj, ".agent/rewind", file)
				must(s.t, os.RemoveAll(path), p.put(s, path))
			}})
		}
	}
	for _, id := range []string{
		"", "\n", "../../../../home/.ssh", "/etc/passwd", strings.Repeat("00", 16), strings.Repeat("g", 32),
		strings.Repeat("ab",
			16), "ab\x00cd", strings.Repeat("ab", 1<<20), "\xff\xfe",
		strings.Repeat(strings.Repeat("ab", 16)+"\n", 200), "~/.ssh", "$(touch /tmp/x)", strings.Repeat("AB", 16),
	} {
		add(hostileCase{name: fmt.Sprintf("marker id %.12q", id), plant: func(s *scene) {
			write(s.t, s.proj, map[string]string{"a.txt": "a\n", ".agent/rewind/id": id})
			s.give("shared/proj", victim)
		}})
	}
	// From above: a project of the attacker's in the shared directory, and in the root of the scene.
	for _, owner := range []int{attacker, victim} {
		for _, planted := range []string{"", "db/archive", "lock", "db"} {
			add(hostileCase{
				name: fmt.Sprintf("a store above, of %d, %s a link", owner, planted),
				plant: func(s *scene) {
					s.lay(from, false)
					must(s.t, os.Rename(filepath.Join(s.proj, ".agent"), s.path("shared/.agent")))
					s.give("shared/.agent", owner)
					if planted != "" {
						path := filepath.Join(s.path("shared/.agent/rewind/store"), planted)
						must(s.t, os.RemoveAll(path), os.Symlink(s.path("home/.ssh"), path))
					}
				},
			})
		}
	}
	// A pull into a project whose store is in the victim's home, and a store that is unpacked over it.
	for _, tracked := range []bool{true, false} {
		for _, entry := range []string{"", "db/archive", "lock", "db", "id", "config.json", "store"} {
			add(hostileCase{
				name: fmt.Sprintf("pulled %q, in git %v", entry, tracked), believed: true, works: true,
				still: []string{"shared/proj/.agent/rewind/store"}, plant: func(s *scene) {
					s.pulled(from, entry, tracked)
				},
			})
		}
	}
	// Root in the victim's home and project.
	for _, entry := range []string{"", "lock", "db", "db/archive"} {
		for _, known := range []bool{true, false} {
			add(hostileCase{
				name: fmt.Sprintf("root, %q planted, known %v", entry, known), believed: true, root: true,
				plant: func(s *scene) {
					s.lay(from, known)
					if entry != "" {
						path := filepath.Join(s.proj, ".agent/rewind/store", entry)
						must(s.t, os.RemoveAll(path), os.Symlink("/etc/hostname", path))
					}
				},
			})
		}
	}
	// Another user in the victim's project, with a home of his own; the store is open to him.
	for _, mode := range []os.FileMode{0o700, 0o755, 0o777} {
		add(hostileCase{name: fmt.Sprintf("another user's project, %o", mode), plant: func(s *scene) {
			s.lay(from, false)
			must(s.t, filepath.WalkDir(s.proj, func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Chmod(path, mode), os.Lchown(path, attacker, attacker))
			}), os.Chmod(s.proj, 0o777))
		}})
	}
	// A clone: everything in git.
	for _, entry := range []string{"", "db/archive", "lock", "db/LOCK", "db/extent", "db", "project.json", "format"} {
		add(hostileCase{name: "clone, store/" + entry + " a link", plant: func(s *scene) {
			s.lay(from, false)
			store := filepath.Join(s.proj, ".agent/rewind/store")
			if entry != "" {
				path := filepath.Join(store, entry)
				must(s.t, os.RemoveAll(path),
					os.Symlink(strings.Repeat("../", 5+strings.Count(entry, "/"))+"home/.ssh", path))
			}
			must(s.t, os.Remove(filepath.Join(s.proj, ".agent/rewind/.gitignore")))
			s.give("shared/proj", victim)
			for _, args := range [][]string{
				{"git", "init", "-q"},
				{"git", "add", "-A", "-f"},
				{"git", "commit", "-q", "-m", "x"},
			} {
				if o := s.as(victim, s.proj, "", args...); o.code != 0 {
					s.t.Fatalf("%v: %s", args, o.errs)
				}
			}
			must(s.t, os.Rename(s.proj, s.path("attacker/repository")))
			if o := s.as(victim, s.path("shared"), "", "git", "clone", "-q", s.path("attacker/repository"), "proj"); o.code != 0 {
				s.t.Fatalf("git clone: %s", o.errs)
			}
		}})
	}
	return all
}

// pulled makes the project one in global mode, with checkpoints, into which a store, or a part of it, has come.
func (s *scene) pulled(from *scene, entry string, tracked bool) {
	s.t.Helper()
	write(s.t, s.proj, map[string]string{"a.txt": "mine\n"})
	s.give("shared/proj", victim)
	s.must("init", "--agents", "none")
	dir := filepath.Join(s.proj, ".agent/rewind")
	out, err := exec.Command("cp", "-a", filepath.Join(from.proj, ".agent/rewind/store"), dir).CombinedOutput()
	if err != nil {
		s.t.Fatalf("cp: %v\n%s", err, out)
	}
	switch entry {
	case "":
	case "id", "config.json":
		must(s.t, os.WriteFile(filepath.Join(dir, entry), []byte(map[string]string{
			"id": strings.Repeat("cd", 16) + "\n", "config.json": `{"hooks":{"enabled":false}}`,
		}[entry]), 0o644))
	case "store":
		must(s.t, os.RemoveAll(filepath.Join(dir, entry)), os.Symlink(s.path("home/.ssh"), filepath.Join(dir, entry)))
	default:
		path := filepath.Join(dir, "store", entry)
		must(s.t, os.RemoveAll(path), os.Symlink(s.path("home/.ssh"), path))
	}
	s.give("shared/proj", victim)
	if !tracked {
		return
	}
	for _, args := range [][]string{
		{"git", "init", "-q"},
		{"git", "add", "-A", "-f"},
		{"git", "commit", "-q", "-m", "x"},
	} {
		if o := s.as(victim, s.proj, "", args...); o.code != 0 {
			s.t.Fatalf("%v: %s", args, o.errs)
		}
	}
}
