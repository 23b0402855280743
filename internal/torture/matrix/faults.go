package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"rewind/internal/torture"
)

// faultPatience is how long the tests of a fault may take; a fault that makes one hang is found by that.
const faultPatience = "3m"

var failedRE = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// runFault runs the tests that must find a fault: with the fault one of them must fail, without it all must pass.
func (o *options) runFault(f torture.Fault, figures *torture.Figures) (problem string) {
	found, err := o.faulty(f, f.Name)
	switch {
	case err == nil:
		return fmt.Sprintf("%s: NOT FOUND by %s %s", f.Name, f.Package, f.Tests)
	case found == "":
		return fmt.Sprintf("%s: no test has failed, but: %v", f.Name, err)
	}
	if _, err := o.faulty(f, ""); err != nil {
		return fmt.Sprintf("%s: its tests fail without it: %v", f.Name, err)
	}
	figures.Points, figures.Fired, figures.Note = 1, 1, found
	return ""
}

// faulty runs the tests of a fault, with a fault or ("") with none, and returns which of them was the first to fail.
func (o *options) faulty(f torture.Fault, name string) (found string, err error) {
	env := []string(nil)
	if name != "" {
		dir, err := os.MkdirTemp("", "fault-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		overlay, err := torture.Overlay(o.dir, name, dir)
		if err != nil {
			return "", err
		}
		env = append(env, "GOFLAGS="+faultFlags()+" -overlay="+overlay)
	}
	out, err := o.goTest(f.Package, env, "-failfast", "-timeout", faultPatience, "-run", f.Tests)
	if err == nil {
		if bytes.Contains(out, []byte("no tests to run")) {
			return "", fmt.Errorf("no test of %s has a name like %s", f.Package, f.Tests)
		}
		return "", nil
	}
	all := failedRE.FindAllStringSubmatch(string(out), -1)
	switch {
	case len(all) > 0:
		found = all[0][1]
	case bytes.Contains(out, []byte("panic: test timed out")):
		found = "a test that hangs"
	case bytes.Contains(out, []byte("panic: ")):
		found = "a test that panics"
	}
	return found, fmt.Errorf("%w\n%s", err, tail(out))
}

// faultFlags are the GOFLAGS as they are: what is added to them holds also for programs that tests build.
var faultFlags = sync.OnceValue(func() string {
	flags, _ := exec.Command("go", "env", "GOFLAGS").Output() // without an answer there are none
	return strings.TrimSpace(string(flags))
})
