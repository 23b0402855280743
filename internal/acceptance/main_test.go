//go:build acceptance

package acceptance

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stage tells the process without a network, by its environment, where the binaries are.
const stage = "REWIND_ACCEPTANCE_BINARIES"

// TestMain has two lives. The first has the network: it installs the agents, builds rewind and starts the second, which
// has only loopback where the system lets it and runs the tests.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.list"); f.Value.String() != "" || os.Getenv(stage) != "" {
		if err := loopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if list, err := net.Interfaces(); err == nil {
			fmt.Fprintf(os.Stderr, "acceptance: network interfaces that the agents have: %v\n", names(list))
		}
		os.Exit(m.Run())
	}
	code, err := prepareAndRun()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func names(list []net.Interface) []string {
	var out []string
	for _, i := range list {
		out = append(out, i.Name)
	}
	return out
}

// tools are what the machine must have, and why.
var tools = []struct{ name, why string }{
	{"node", "runs the agents (version 20 or newer)"},
	{"npm", "installs the agents"},
	{"git", "the projects that the agents work in"},
	{"tmux", "the terminal of the interactive agents"},
	{"go", "builds rewind"},
}

func prepareAndRun() (code int, err error) {
	var missing []string
	for _, tool := range tools {
		if _, err := exec.LookPath(tool.name); err != nil {
			missing = append(missing, fmt.Sprintf("acceptance: %s is missing: %s", tool.name, tool.why))
		}
	}
	if missing != nil {
		return 1, errors.New(strings.Join(missing, "\n"))
	}
	dir, err := clientsDir()
	if err != nil {
		return 1, err
	}
	for _, c := range clients {
		start := time.Now()
		if err := c.install(dir); err != nil {
			fmt.Fprintln(os.Stderr, err) // the tests of this agent fail, the others run
		} else if took := time.Since(start); took > time.Second {
			fmt.Fprintf(os.Stderr, "installed %s in %s, %v\n", c, dir, took.Round(time.Second))
		}
	}
	bin, err := os.MkdirTemp("", "acceptance-bin-")
	if err != nil {
		return 1, fmt.Errorf("acceptance: %w", err)
	}
	defer os.RemoveAll(bin)
	if err := buildBinaries(bin); err != nil {
		fmt.Fprintln(os.Stderr, err) // the tests that need it fail, TestEvents runs
	}
	return runInside(bin)
}

// runInside runs this program again, without a network if that can be had.
func runInside(bin string) (code int, err error) {
	for _, alone := range []bool{true, false} {
		cmd := exec.Command(os.Args[0], os.Args[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), stage+"="+bin)
		if alone && !isolate(cmd) {
			continue
		}
		if err := cmd.Start(); err != nil {
			if alone {
				fmt.Fprintf(os.Stderr, "acceptance: no network namespace (%v): the agents are only pointed at loopback\n", err)
				continue
			}
			return 1, fmt.Errorf("acceptance: %w", err)
		}
		err = cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return max(exit.ExitCode(), 1), nil
		}
		break
	}
	if err != nil {
		return 1, fmt.Errorf("acceptance: %w", err)
	}
	return 0, nil
}

// programs are the commands that an installation has.
var programs = []string{"rewind", "rewindd", "smart-checkpoint"}

// buildBinaries builds the programs as make install does.
func buildBinaries(bin string) error {
	for _, name := range programs {
		pkg := filepath.Join("..", "..", "cmd", name)
		if _, err := os.Stat(pkg); errors.Is(err, os.ErrNotExist) {
			continue
		}
		cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(bin, name), "./"+filepath.ToSlash(pkg))
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("acceptance: build %s: %w\n%s", name, err, out)
		}
	}
	return nil
}
