package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"rewind/api"
	"rewind/internal/mcpserver"
	"rewind/internal/picker"
	"rewind/internal/relay"
	"rewind/internal/term"
	"rewind/internal/torture"
	"rewind/server"
)

// TestMain makes the test binary the program: as "rewind" and "rewindd" it is these, under the names of the helpers it
// is one of those.
func TestMain(m *testing.M) {
	commands := helpers()
	commands["rewind"] = func() { os.Exit(runMain(os.Args[1:], term.System())) }
	commands["rewindd"] = func() {
		if len(os.Args) == 3 && os.Args[1] == "mcp" {
			os.Exit(mcpserver.Main(os.Args[2], version()))
		}
		if len(os.Args) == 2 && os.Args[1] == "picker" {
			program, _ := exec.LookPath("rewindd")
			os.Exit(picker.Main(program, version()))
		}
		os.Exit(server.Main(os.Args[1:], version(), os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(outer{m}, commands)
}

// userHome is the home directory of who runs the tests; the go command keeps its caches there.
var userHome string

// outer is what only the run of the tests itself sets up, not the commands that it starts.
type outer struct{ *testing.M }

// Run implements testscript.TestingM. What runs in this process must never find the home of who runs the tests.
func (o outer) Run() int {
	syscall.Umask(0o022)
	home, err := os.MkdirTemp("", "rewind-home-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	userHome = os.Getenv("HOME")
	for name, value := range map[string]string{"HOME": home, "REWIND_HOME": filepath.Join(home, ".rewind"), "REWIND_DAEMON": "off"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	for _, name := range api.AgentVariables() { // no test writes the settings of who runs it
		if err := os.Unsetenv(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	self = realProgram // for commands in this process
	serveHere = func(in, out *os.File) int { return server.Main([]string{"serve"}, version(), in, out, os.Stderr) }
	return o.M.Run()
}

func TestScript(t *testing.T) {
	t.Parallel()
	must(t, inPlaceOfThis())
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                scriptCommands(),
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			socket, err := relay.SocketPath(filepath.Join(home, ".rewind")) // elsewhere where TMPDIR is long
			if err != nil {
				return err
			}
			config := filepath.Join(home, ".gitconfig")
			for _, v := range [][2]string{
				{"HOME", home},
				{"RUN", filepath.Dir(socket)}, // the directory of the daemon
				{"REWIND_HOME", ""},
				{"REWIND_DAEMON", ""},               // but for scripts that begin with the command alone
				{"REWIND_IDLE", "2m"},               // should the end be missed
				{"REWIND_AFTERWARDS", "off"},        // but for scripts of what comes then
				{"DAY", fmt.Sprint(torture.Seed())}, // what is not for every day
				{"WHOLE", os.Getenv(torture.EnvFull)},
				{"XDG_CONFIG_HOME", ""},
				{"TZ", "UTC"},
				{"TERM", "dumb"},
				{"NO_COLOR", ""},
				{"PAGER", "cat"},
				{"GIT_CONFIG_GLOBAL", config},
				{"GIT_CONFIG_NOSYSTEM", "1"},
				{"LC_ALL", "C.UTF-8"},
				{"GIT_OPTIONAL_LOCKS", "0"},
			} {
				env.Setenv(v[0], v[1])
			}
			env.Defer(func() { endBelow(env.WorkDir, env.Vars) })
			return os.WriteFile(config, []byte("[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"+
				"[commit]\n\tgpgSign = false\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdefaultBranchName = false\n"), 0o644)
		},
	})
}

// condition knows [asroot]: the tests run as root.
func condition(name string) (bool, error) {
	if name == "asroot" {
		return os.Getuid() == 0, nil
	}
	return false, fmt.Errorf("no condition %q", name)
}
