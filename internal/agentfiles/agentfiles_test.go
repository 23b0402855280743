package agentfiles

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rewind/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const id = "00000001-0000-4000-8000-000000000000"

// folders are those of a person whose home is given.
func folders(home string) Folders {
	return func(agent transcript.Agent) string {
		return map[transcript.Agent]string{
			transcript.Claude: home + "/.claude", transcript.Codex: home + "/.codex", transcript.Gemini: home +
				"/.gemini",
			transcript.Droid: home + "/.factory",
		}[agent]
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestLocate(t *testing.T) {
	own := folders("/h")
	for path, agent := range map[string]transcript.Agent{
		"/h/.claude/projects/-p/" + id +
			".jsonl": transcript.Claude,
		"/h/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-" + id +
			".jsonl": transcript.Codex,
		"/h/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-" + id + "_" + strings.Replace(id, "1", "2",
			1) + ".jsonl": transcript.Codex,
		"/h/.codex/archived_sessions/rollout-2026-11-20T10-00-00-" + id + ".jsonl.zst": transcript.Codex,
		"/h/.gemini/tmp/p/chats/session-2026-11-20T10-00-0123abcd.json":                transcript.Gemini,
		"/h/.factory/sessions/-p/" + id + ".jsonl":                                     transcript.Droid,
		"/h/.factory/sessions/-p/" + id + ".settings.json":                             transcript.Droid,
	} {
		if f, err := own.Locate(path); err != nil || f.agent != agent || f.Folder != own(agent) || !Shape(path) ||
			f.String() != path {
			t.Errorf("%s: %+v, %v", path, f, err)
		}
	}
	for path, want := range map[string]error{
		"":                               ErrForeign,
		"x":                              ErrForeign,
		"/h/.zshenv":                     ErrForeign,
		"/h/.claude/settings.json":       ErrForeign,
		"/h/.claude/projects/-p/a.jsonl": ErrForeign,
		"/h/.claude/projects/-p/" + id + ".settings.json":                            ErrForeign,
		"/h/.claude/projects/-p/../-p/" + id + ".jsonl":                              ErrForeign,
		"/h/.factory/sessions/-p/settings.json":                                      ErrForeign,
		"/h/.factory/sessions/-p/.settings.json":                                     ErrForeign,
		"/h/.factory/sessions/-p/x/" + id + ".settings.json":                         ErrForeign,
		"/h/.codex/hooks.json":                                                       ErrForeign,
		"/h/.codex/sessions/2026/13/20/rollout-2026-11-20T10-00-00-" + id + ".jsonl": ErrForeign,
		"/h/p/.claude/projects/-p/" + id + ".jsonl":                                  errElsewhere,
		"/h/.codex/projects/-p/" + id + ".jsonl":                                     errElsewhere,
		"/h2/.factory/sessions/-p/" + id + ".settings.json":                          errElsewhere,
	} {
		if f, err := own.Locate(path); !errors.Is(err, want) {
			t.Errorf("%s: %+v, %v; want %v", path, f, err, want)
		}
	}
	for name, none := range map[string]Folders{
		"unknown":  func(transcript.Agent) string { return "" },
		"relative": func(transcript.Agent) string { return ".claude" },
	} {
		if _, err := none.Locate("/h/.claude/projects/-p/" + id + ".jsonl"); !errors.Is(err, errElsewhere) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := own.Of(transcript.Droid, "/h/.claude/projects/-p/"+id+".jsonl"); !errors.Is(err, ErrForeign) {
		t.Errorf("another agent's: %v", err)
	}
}

// laid is a home with a file of Claude's, and its place.
func laid(t *testing.T) (home string, f File) {
	t.Helper()
	home = t.TempDir()
	path := filepath.Join(home, ".claude/projects/-p", id+".jsonl")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("one"), 0o640))
	f, err := folders(home).Locate(path)
	must(t, err)
	return home, f
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestWriteAndRemove(t *testing.T) {
	_, f := laid(t)
	if err := f.Write(false, text("x")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file is there: %v", err)
	}
	bad := errors.New("bad")
	if err := f.Write(true, func(w io.Writer) error { return errors.Join(text("x")(w), bad) }); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	must(t, f.Write(true, text("two")))
	if b, err := f.Read(3); err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := f.Read(2); err == nil {
		t.Error("more than was asked for")
	}
	if fi, err := os.Stat(f.String()); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	must(t, f.Remove())
	if err := f.Remove(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
	// All of the folder is gone: it is made again.
	must(t, os.RemoveAll(f.Folder), f.Check(), f.Write(false, text("three")))
	if list, err := os.ReadDir(filepath.Dir(f.String())); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestT21Promise17NotPlain: links on the way and at the end, second names, and what is no file are not opened, written
// or removed.
func TestT21Promise17NotPlain(t *testing.T) {
	for what, put := range map[string]func(home string, path string) error{
		"a link":          func(home, path string) error { return os.Symlink(home+"/victim", path) },
		"a relative link": func(_, path string) error { return os.Symlink("../../../victim", path) },
		"a link inside":   func(_, path string) error { return os.Symlink("other.jsonl", path) },
		"a pipe":          func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory":     func(_, path string) error { return os.Mkdir(path, 0o700) },
		"a second name":   func(home, path string) error { return os.Link(home+"/victim", path) },
		"a link above": func(home, path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.Symlink(home+"/dir", filepath.Dir(path)))
		},
		"a link above that stays inside": func(home, path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.Mkdir(home+"/.claude/projects/q", 0o700),
				os.Symlink("q", filepath.Dir(path)))
		},
		"a link further above": func(home, path string) error {
			return errors.Join(os.Rename(home+"/.claude/projects", home+"/elsewhere"),
				os.Symlink(home+"/elsewhere", home+"/.claude/projects"))
		},
		"a file above": func(_, path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		},
	} {
		home, f := laid(t)
		must(t, os.Remove(f.String()), os.WriteFile(home+"/victim", []byte("mine"), 0o600),
			os.Mkdir(home+"/dir", 0o700))
		must(t, os.WriteFile(filepath.Join(filepath.Dir(f.String()), "other.jsonl"), []byte("other"), 0o600),
			put(home, f.String()))
		before := tree(t, home)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if file, _, err := f.Open(); err == nil {
				file.Close()
				t.Errorf("%s: it is opened", what)
			}
			for _, replace := range []bool{true, false} {
				if err := f.Write(replace, text("evil")); err == nil {
					t.Errorf("%s: it is written", what)
				}
			}
			if err := f.Remove(); err == nil {
				t.Errorf("%s: it is removed", what)
			}
			if err := f.Check(); !errors.Is(err, ErrNotPlain) {
				t.Errorf("%s: check: %v", what, err)
			}
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("%s: it hangs", what)
		}
		if after := tree(t, home); after != before {
			t.Errorf("%s:\n%s\nwas\n%s", what, after, before)
		}
	}
}

// The folder itself may be a link that the person made.
func TestFolderIsALink(t *testing.T) {
	home, f := laid(t)
	must(t, os.Rename(home+"/.claude", home+"/dotfiles"), os.Symlink("dotfiles", home+"/.claude"))
	must(t, f.Check(), f.Write(true, text("two")))
	if b, err := os.ReadFile(filepath.Join(home, "dotfiles/projects/-p", id+".jsonl")); err != nil ||
		string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	// By its other name it is the same.
	g, err := folders(home).Locate(filepath.Join(home, "dotfiles/projects/-p", id+".jsonl"))
	if err != nil || g.Folder != home+"/.claude" {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestT21Promise17ExchangedMeanwhile: a directory that becomes a link while the file is written has nothing written
// where the link leads.
func TestT21Promise17ExchangedMeanwhile(t *testing.T) {
	home, f := laid(t)
	dir, victim := filepath.Dir(f.String()), filepath.Join(home, "victim")
	must(t, os.Mkdir(victim, 0o700))
	must(t, f.Write(true, func(w io.Writer) error {
		must(t, os.Rename(dir, dir+"-moved"), os.Symlink(victim, dir))
		return text("two")(w)
	}))
	if list, err := os.ReadDir(victim); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir+"-moved", id+".jsonl")); err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	if file, err := OpenBelow(f.Folder, filepath.Join(dir, id+".jsonl")); err == nil {
		file.Close()
		t.Error("it is opened where the link leads")
	}
}

// tree is all that there is below a directory.
func tree(t *testing.T, dir string) (out string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		out += strings.TrimPrefix(path, dir) + " " + fi.Mode().String()
		if fi.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			out += " " + string(b)
			if err != nil {
				return err
			}
		}
		out += "\n"
		return nil
	}))
	return out
}
