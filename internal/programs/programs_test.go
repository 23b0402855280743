package programs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// those lays out programs with these contents; "": not there. The order is that of all.
func those(t *testing.T, contents [3]string) string {
	t.Helper()
	dir := t.TempDir()
	for i, data := range contents {
		if data == "" {
			continue
		}
		if err := os.WriteFile(Path(dir, all[i]), []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func beside(t *testing.T, dir string) Source {
	t.Helper()
	s, err := Beside(Path(dir, Rewind))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWanting holds what is copied against what is there: a whole source makes the programs its own, another one mends
// only what is missing.
func TestWanting(t *testing.T) {
	for name, c := range map[string]struct {
		from, to [3]string
		want     []string
		lacks    string
	}{
		"nothing there":            {[3]string{"d", "r", "c"}, [3]string{}, all, ""},
		"the same":                 {[3]string{"d", "r", "c"}, [3]string{"d", "r", "c"}, nil, ""},
		"another rewind":           {[3]string{"d", "r", "c"}, [3]string{"d", "R", "c"}, []string{Rewind}, ""},
		"another daemon":           {[3]string{"d", "r", "c"}, [3]string{"D", "r", "c"}, []string{Daemon}, ""},
		"an old client":            {[3]string{"d", "r", "c"}, [3]string{"d", "r", "C"}, []string{Client}, ""},
		"all are others":           {[3]string{"d", "r", "c"}, [3]string{"D", "rr", "C"}, all, ""},
		"as before the daemon":     {[3]string{"d", "r", "c"}, [3]string{"", "R", "C"}, all, ""},
		"only the client":          {[3]string{"d", "r", "c"}, [3]string{"", "", "c"}, []string{Daemon, Rewind}, ""},
		"no client, only a client": {[3]string{"d", "r", ""}, [3]string{"", "", "c"}, []string{Daemon, Rewind}, ""},
		"no client, others":        {[3]string{"d", "r", ""}, [3]string{"D", "R", "C"}, nil, ""},
		"no client anywhere":       {[3]string{"d", "r", ""}, [3]string{}, []string{Daemon, Rewind}, Client},
		"lone, others":             {[3]string{"", "r", ""}, [3]string{"D", "R", "C"}, nil, ""},
		"lone, no daemon anywhere": {[3]string{"", "r", ""}, [3]string{"", "R", "C"}, nil, Daemon},
	} {
		s, dir := beside(t, those(t, c.from)), those(t, c.to)
		if got := s.Lacks(dir); got != c.lacks {
			t.Errorf("%s: nobody has %q, want %q", name, got, c.lacks)
		}
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
		missing, _ := Missing(dir)
		if (missing != "") != (c.lacks != "") {
			t.Errorf("%s: %q is missing", name, missing)
		}
	}
}

// TestQuick: a quick look believes size and time, a thorough one does not.
func TestQuick(t *testing.T) {
	from, to := those(t, [3]string{"d", "r", "c"}), those(t, [3]string{"d", "R", "c"})
	at := time.Unix(1, 0)
	for _, dir := range []string{from, to} {
		for _, name := range all {
			if err := os.Chtimes(Path(dir, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := beside(t, from)
	if got, err := s.Wanting(to, true); err != nil || got != nil {
		t.Errorf("quick: %q (%v)", got, err)
	}
	if got, err := s.Wanting(to, false); err != nil || !slices.Equal(got, []string{Rewind}) {
		t.Errorf("thorough: %q (%v)", got, err)
	}
}

// TestInstallFails: where one cannot be copied all that was there stays, and nothing is beside it.
func TestInstallFails(t *testing.T) {
	from, dir := those(t, [3]string{"d", "r", "c"}), those(t, [3]string{"D", "R", "C"})
	s := beside(t, from)
	if err := os.Remove(Path(from, Client)); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(dir, all); err == nil || !strings.Contains(err.Error(), Path(dir, Client)) {
		t.Errorf("a program that is not there was installed: %v", err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != len(all) {
		t.Errorf("%v (%v)", list, err)
	}
	for i, name := range all {
		if b, err := os.ReadFile(Path(dir, name)); string(b) != "DRC"[i:i+1] {
			t.Errorf("%s is %q (%v)", name, b, err)
		}
	}
}

// A kill's leftovers go with the next copy.
func TestInstallSweeps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{temporary + "XYZ", temporary + Rewind} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := beside(t, those(t, [3]string{"d", "r", "c"})).Install(dir, all); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != len(all) {
		t.Errorf("%v (%v)", list, err)
	}
}

// TestOdd: a program that says another version than a rewind is named; one that says nothing is not.
func TestOdd(t *testing.T) {
	says := func(text string) string { return "#!/bin/sh\n" + text + "\n" }
	for name, c := range map[string]struct {
		programs [3]string
		want     string
	}{
		"the same": {[3]string{says("echo rewindd v2"), says("echo rewind version v2"), says("echo smart-checkpoint v2")}, ""},
		"old client": {
			[3]string{says("echo rewindd v2"), says("echo rewind version v2"), says("echo smart-checkpoint v1")},
			"smart-checkpoint has version v1, and this rewind v2",
		},
		"old daemon": {
			[3]string{says("echo rewindd v1"), says("echo rewind version v2"), says("echo smart-checkpoint v2")},
			"rewindd has version v1, and this rewind v2",
		},
		"no release": {[3]string{
			says("echo rewindd devel-1"), says("echo rewind version devel-1"),
			says("echo smart-checkpoint devel"),
		}, ""},
		"other work": {
			[3]string{says("echo rewindd devel-2"), says("echo rewind version devel-1"), says("echo smart-checkpoint devel")},
			"rewindd has version devel-2, and this rewind devel-1",
		},
		"silent": {[3]string{says(""), says("echo rewind version v2"), says("exit 1")}, ""},
	} {
		dir := those(t, c.programs)
		if got := Odd(t.Context(), dir, Path(dir, Rewind)); !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
