package programs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func pair(t *testing.T, rewind, client string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{Rewind: rewind, Client: client} {
		if data == "" {
			continue
		}
		if err := os.WriteFile(Path(dir, name), []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestWanting holds what is copied against what is there: a source with a client makes the pair its own, one without mends only what is
// missing.
func TestWanting(t *testing.T) {
	both, lone := []string{Rewind, Client}, []string{Rewind}
	for name, c := range map[string]struct {
		from, to [2]string
		want     []string
	}{
		"nothing there":          {[2]string{"r", "c"}, [2]string{}, both},
		"the same":               {[2]string{"r", "c"}, [2]string{"r", "c"}, nil},
		"another rewind":         {[2]string{"r", "c"}, [2]string{"R", "c"}, lone},
		"another pair":           {[2]string{"r", "c"}, [2]string{"rr", "C"}, both},
		"only the client":        {[2]string{"r", "c"}, [2]string{"", "c"}, lone},
		"lone, only the client":  {[2]string{"r", ""}, [2]string{"", "c"}, lone},
		"lone, another pair":     {[2]string{"r", ""}, [2]string{"R", "C"}, nil},
		"lone, nothing is there": {[2]string{"r", ""}, [2]string{}, lone},
	} {
		s, err := Beside(Path(pair(t, c.from[0], c.from[1]), Rewind))
		if err != nil {
			t.Fatal(err)
		}
		dir := pair(t, c.to[0], c.to[1])
		got, err := s.Wanting(dir, false)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
		}
		if err := s.Install(dir, got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := s.Wanting(dir, true); err != nil || got != nil {
			t.Errorf("%s: after it was installed: %q (%v)", name, got, err)
		}
		if c.from[1] != "" {
			continue
		}
		if b, err := os.ReadFile(Path(dir, Client)); string(b) != c.to[1] {
			t.Errorf("%s: the client is %q (%v)", name, b, err)
		}
	}
}

// TestQuick: a quick look believes size and time, a thorough one does not.
func TestQuick(t *testing.T) {
	from, to := pair(t, "r", "c"), pair(t, "R", "c")
	at := time.Unix(1, 0)
	for _, dir := range []string{from, to} {
		for _, name := range []string{Rewind, Client} {
			if err := os.Chtimes(Path(dir, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := Beside(Path(from, Rewind))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Wanting(to, true); err != nil || got != nil {
		t.Errorf("quick: %q (%v)", got, err)
	}
	if got, err := s.Wanting(to, false); err != nil || !slices.Equal(got, []string{Rewind}) {
		t.Errorf("thorough: %q (%v)", got, err)
	}
}

// TestInstallFails: what cannot be copied leaves what was there, and nothing beside it.
func TestInstallFails(t *testing.T) {
	dir := pair(t, "R", "C")
	s := Source{Rewind: filepath.Join(t.TempDir(), "gone"), Client: ""}
	if err := s.Install(dir, []string{Rewind}); err == nil {
		t.Error("a program that is not there was installed")
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("%v (%v)", list, err)
	}
	if b, err := os.ReadFile(Path(dir, Rewind)); string(b) != "R" {
		t.Errorf("rewind is %q (%v)", b, err)
	}
}

// A kill's leftovers go with the next copy.
func TestInstallSweeps(t *testing.T) {
	from, dir := pair(t, "r", "c"), pair(t, "", "")
	if err := os.WriteFile(filepath.Join(dir, temporary+"XYZ"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Beside(Path(from, Rewind))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Install(dir, []string{Rewind, Client}); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("%v (%v)", list, err)
	}
}
