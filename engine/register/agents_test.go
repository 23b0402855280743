package register

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/programs"
	"rewind/internal/value"
)

// agentsHome is a home directory with the program that hooks call, and the settings of Claude Code.
func agentsHome(t *testing.T, settings string) (h project.Home, env value.AgentEnv, file string) {
	t.Helper()
	dir := t.TempDir()
	h, env = project.Home{Dir: filepath.Join(dir, ".rewind")}, value.AgentEnv{Home: value.Text(dir)}
	file = filepath.Join(dir, ".claude", "settings.json")
	for path, data := range map[string]string{
		hookProgram(h): "", programs.Path(programDir(h), programs.Rewind): "",
		programs.Path(programDir(h), programs.Daemon): "", file: settings,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h, env, file
}

func claudeEdit(t *testing.T, h project.Home, file string, remove bool) *SettingsEdit {
	t.Helper()
	e := &SettingsEdit{Agent: hooks.Claude, Path: file}
	if !remove {
		want, err := Wanted(h, hooks.Claude, hooks.DefaultTier)
		if err != nil {
			t.Fatal(err)
		}
		e.Want = want
	}
	if err := Plan(context.Background(), h, e); err != nil {
		t.Fatal(err)
	}
	return e
}

func readString(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSettingsWrittenMeanwhile: what an agent writes between our reading and our renaming is not lost, in place or by a
// rename of its own.
func TestSettingsWrittenMeanwhile(t *testing.T) {
	const before, later = `{"model": "one"}`, `{"model": "two"}`
	for name, write := range map[string]func(path string) error{
		"in place": func(path string) error { return os.WriteFile(path, []byte(later), 0o600) },
		"renamed": func(path string) error {
			if err := os.WriteFile(path+".new", []byte(later), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		for _, remove := range []bool{false, true} {
			h, env, file := agentsHome(t, before)
			if remove {
				if r, err := SetHooks(context.Background(), h, env, Options{}); errors.Join(err, r.Err()) != nil {
					t.Fatal(err)
				}
			}
			e := claudeEdit(t, h, file, remove)
			if err := write(file); err != nil {
				t.Fatal(err)
			}
			if err := writeSettings(context.Background(), h, e); err != nil {
				t.Fatal(err)
			}
			got := readString(t, file)
			if !strings.Contains(got, `"two"`) || strings.Contains(got, "smart-checkpoint") == remove {
				t.Errorf("%s, remove %v: the file is now\n%s", name, remove, got)
			}
			if !remove {
				if b := backup(h, e); string(b) != later {
					t.Errorf("%s: the backup is %q", name, b)
				}
			}
		}
	}
}

// TestSettingsRemovedMeanwhile: a file that is gone by the time of the rename is not made again from what was read.
func TestSettingsRemovedMeanwhile(t *testing.T) {
	h, _, file := agentsHome(t, `{"secret": 1}`)
	e := claudeEdit(t, h, file, false)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := writeSettings(context.Background(), h, e); err != nil {
		t.Fatal(err)
	}
	if got := readString(t, file); strings.Contains(got, "secret") || !strings.Contains(got, "smart-checkpoint") {
		t.Errorf("the file is now\n%s", got)
	}
}

// TestUnregisterRestores gives back the very bytes for odd but valid files, a blank and an absent one included.
func TestUnregisterRestores(t *testing.T) {
	for _, before := range []string{
		"", " \n", "{}", "\xef\xbb\xbf{}\r\n", `{"hooks":{}}`, "{\n\t// c\n\t\"hooks\": {\"Stop\": []},\n}",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
	} {
		h, env, file := agentsHome(t, before)
		for range 2 {
			if r, err := SetHooks(context.Background(), h, env, Options{}); errors.Join(err, r.Err()) != nil {
				t.Fatalf("%q: %v", before, err)
			}
		}
		if !strings.Contains(readString(t, file), "smart-checkpoint") {
			t.Fatalf("%q: not registered", before)
		}
		if r, err := SetHooks(context.Background(), h, env, Options{Remove: true}); errors.Join(err, r.Err()) != nil {
			t.Fatalf("%q: %v", before, err)
		}
		if got := readString(t, file); got != before {
			t.Errorf("%q became %q", before, got)
		}
	}
	h, env, file := agentsHome(t, "")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, remove := range []bool{false, true} {
		if r, err := SetHooks(context.Background(), h, env, Options{Remove: remove}); errors.Join(err, r.Err()) != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("a file that was not there is: %v", err)
	}
}

// TestDroidHooksMove: when hooks.json takes over from settings.json, ours move with it.
func TestDroidHooksMove(t *testing.T) {
	h, env, _ := agentsHome(t, "{}")
	dir := filepath.Join(string(env.Home), ".factory")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	settings, own := filepath.Join(dir, "settings.json"), filepath.Join(dir, "hooks.json")
	set := func(o Options) {
		t.Helper()
		if r, err := SetHooks(context.Background(), h, env, o); errors.Join(err, r.Err()) != nil {
			t.Fatal(err)
		}
	}
	set(Options{})
	if !strings.Contains(readString(t, settings), "smart-checkpoint") {
		t.Fatal("not registered")
	}
	foreign := []byte(`{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}`)
	if err := os.WriteFile(own, foreign, 0o600); err != nil {
		t.Fatal(err)
	}
	set(Options{Refresh: true})
	if _, err := os.Lstat(settings); !os.IsNotExist(err) {
		t.Errorf("settings.json, which was made for our hooks, is still there: %v", err)
	}
	if !strings.Contains(readString(t, own), "smart-checkpoint") {
		t.Error("hooks.json has no hooks of ours")
	}
	set(Options{Remove: true})
	if got := readString(t, own); !bytes.Equal([]byte(got), foreign) {
		t.Errorf("hooks.json is %s", got)
	}
}

// TestSettingsKeepMode: the new file has the mode of the old one, and what a killed edit left is gone.
func TestSettingsKeepMode(t *testing.T) {
	h, env, file := agentsHome(t, `{"a": 1}`)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(filepath.Dir(file), ".settings.json.rewind-1")
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := SetHooks(context.Background(), h, env, Options{}); errors.Join(err, r.Err()) != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(file)
	if err != nil || fi.Mode() != 0o644 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if _, err := os.Lstat(stale); !os.IsNotExist(err) {
		t.Errorf("what a killed edit left is still there: %v", err)
	}
}
