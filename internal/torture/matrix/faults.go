package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"rewind/internal/torture"
)

// faultPatience is how long the tests of a fault may take; a fault that makes one hang is found by that.
const faultPatience = "3m"

var failedRE = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// findFaults runs, for each fault of the list that is asked for, the tests that must find it: with the tag and the fault one of them must fail, with the
// tag alone all must pass.
func (o *options) findFaults(list []torture.Fault) error {
	flags, err := exec.Command("go", "env", "GOFLAGS").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	o.flags = strings.TrimSpace(strings.TrimSpace(string(flags)) + " -tags=rewind_bug")
	var missed []error
	fmt.Println("| fault | what is wrong | promise | found by | seconds |\n|--|--|--|--|--|")
	clean := map[string]error{}
	only := strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' })
	for _, f := range list {
		if len(only) > 0 && !slices.Contains(only, f.Name) {
			continue
		}
		by := f.Package + " " + f.Tests
		if _, known := clean[by]; !known {
			_, clean[by] = o.faulty(f, "")
		}
		began := time.Now()
		found, err := o.faulty(f, f.Name)
		switch {
		case clean[by] != nil:
			err = fmt.Errorf("%s: its tests fail without it: %w", f.Name, clean[by])
		case err == nil:
			err = fmt.Errorf("%s: NOT FOUND by %s", f.Name, by)
		case found == "":
			err = fmt.Errorf("%s: no test has failed, but: %w", f.Name, err)
		default:
			err = nil
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			missed = append(missed, fmt.Errorf("%s was not found", f.Name))
			found = "**nothing**"
		}
		fmt.Printf("| `%s` | %s | %d | %s | %.0f |\n", f.Name, f.What, f.Promise, found, time.Since(began).Seconds())
	}
	return errors.Join(missed...)
}

// faulty runs the tests of a fault, with a fault or ("") with none, and returns which of them was the first to fail.
func (o *options) faulty(f torture.Fault, name string) (found string, err error) {
	cmd := exec.Command("go", "test", "-count=1", "-failfast", "-timeout", faultPatience, "-run", f.Tests, "./"+f.Package)
	cmd.Dir = o.dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+o.flags, torture.EnvFault+"="+name)
	out, err := cmd.CombinedOutput()
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
	if name == "" || found == "" {
		err = fmt.Errorf("%w\n%s", err, tail(out))
	}
	return found, err
}
