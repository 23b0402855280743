package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"rewind/internal/built"
)

// releasedPrograms are the programs as a release has them: a directory that holds them and nothing else.
var releasedPrograms = sync.OnceValues(func() (string, error) {
	return built.Programs(filepath.Join(os.Getenv("HOME"), "programs")) // of the tests, taken away with it
})

// realProgram is the real rewind, with rewindd beside it and nothing else, without the test binary's weight.
var realProgram = sync.OnceValues(func() (string, error) {
	from, err := releasedPrograms()
	if err != nil {
		return "", err
	}
	to := filepath.Join(os.Getenv("HOME"), "pair")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"rewind", "rewindd"} {
		if err := os.Link(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return "", err
		}
	}
	return filepath.Join(to, "rewind"), nil
})

// inPlaceOfThis has what is called rewind and rewindd on the PATH be the real programs, not this test binary under
// their names, which takes four times as long to start. They are put there once, however often the scripts are run.
var inPlaceOfThis = sync.OnceValue(func() error {
	from, err := releasedPrograms()
	if err != nil {
		return err
	}
	for _, name := range []string{"rewind", "rewindd"} {
		to, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		if err := os.Link(filepath.Join(from, name), to+".new"); err != nil {
			return err
		}
		if err := os.Rename(to+".new", to); err != nil {
			return err
		}
	}
	return nil
})

// cmdPrograms: programs DIR [NAME...] makes a directory that holds what was built and nothing else; or only the
// programs named.
func cmdPrograms(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 1, "programs DIR [NAME...]")
	from, err := releasedPrograms()
	ts.Check(err)
	to, names := ts.MkAbs(args[0]), args[1:]
	ts.Check(os.MkdirAll(to, 0o755))
	if len(names) == 0 {
		names = []string{"rewind", "rewindd", "smart-checkpoint"}
	}
	for _, name := range names {
		in, err := os.Open(filepath.Join(from, name))
		ts.Check(err)
		out, err := os.OpenFile(filepath.Join(to, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
		ts.Check(err)
		_, err = io.Copy(out, in)
		ts.Check(err)
		ts.Check(out.Close())
		ts.Check(in.Close())
	}
}

// cmdRegistered: registered SETTINGS EVENT PAYLOAD runs what an agent's settings have for an event as the agent does:
// by a shell, in the script's directory, with the payload on standard input. Each must exit with 0.
func cmdRegistered(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "registered SETTINGS EVENT PAYLOAD")
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &settings))
	n := 0
	for _, group := range settings.Hooks[args[1]] {
		for _, hook := range group.Hooks {
			ts.Check(ts.Exec("sh", "-c", `sh -c "$0" <"$1"`, hook.Command, ts.MkAbs(args[2])))
			n++
		}
	}
	if n == 0 {
		ts.Fatalf("%s has no hook for %s", args[0], args[1])
	}
}
