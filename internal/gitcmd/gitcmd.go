// Package gitcmd is the only place where git is started. A repository may be anybody's: its configuration, its hooks
// and its attributes name programs, and none of them is run.
//
// A command that only reads ([Command]) gets options on its command line that take such programs away; they count
// before every configuration file, included ones and those of a worktree among them. What git runs programs for besides
// (filters, textconv, external diffs, signatures, editors, aliases, helpers of remotes) is not reached by the commands
// that are used here: config, symbolic-ref, rev-parse, cat-file, ls-files, blame --no-textconv.
//
// A command that writes ([Aside]) would run hooks, which newer versions of git read from any name of the configuration.
// So it gets a git directory of its own, with a configuration of its own, to which the repository's objects and refs
// are lent.
package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// errNoGit is returned where there is no git program.
var errNoGit = errors.New("there is no git program")

// kept are the GIT_* variables that a process inherits: they say where configuration is, not which repository is meant.
var kept = map[string]bool{
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true, "GIT_EXEC_PATH": true,
}

// options take away what the commands that are used here would start.
var options = []string{
	"--no-pager", "--no-optional-locks",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.sshCommand=false", "-c", "core.askPass=",
	"-c", "core.editor=false", "-c", "credential.helper=", "-c", "diff.external=", "-c", "gpg.program=false",
	"-c", "commit.gpgSign=false", "-c", "log.showSignature=false",
	"-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.allow=never",
}

// Command is a git process that reads a repository and starts no program that the repository names. It has the user's
// configuration, and is killed with all that it started when ctx ends.
func Command(ctx context.Context, gitDir, workTree string, args ...string) (*exec.Cmd, error) {
	return command(ctx, workTree, os.Environ(), append([]string{"--git-dir=" + gitDir, "--work-tree=" + workTree}, args...))
}

// Installed reports whether there is a git program.
func Installed() bool {
	_, err := exec.LookPath("git")
	return err == nil
}

// Grace is how long the output of a git that was killed is waited for.
const Grace = 100 * time.Millisecond

func command(ctx context.Context, dir string, env, args []string) (*exec.Cmd, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, errNoGit
	}
	cmd := exec.CommandContext(ctx, program, append(append([]string{}, options...), args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment(env), Grace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with all that it started
	return cmd, nil
}

// environment drops what would make git look at another repository, write, ask, fetch or trace. Fetching what a
// repository lacks would run what it names; a git that does not know GIT_NO_LAZY_FETCH (before 2.39.4) finds that no
// way to another one is allowed.
func environment(env []string) []string {
	out := make([]string, 0, len(env)+5)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(strings.ToUpper(name), "GIT_") && !kept[name] || name == "LC_ALL" {
			continue
		}
		out = append(out, e)
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// Lent is what a command that writes may use of a repository.
type Lent struct {
	Common string // the repository's common directory: its objects are used
	Refs   string // the directory whose refs are written; "": none are
	SHA256 bool   // its object names are SHA-256
	Tables bool   // its refs are kept in tables
}

// Aside runs git for its effect, with a git directory that is made for it and removed. Of the repository only objects
// and refs are known to it, and the user's configuration is not read: nothing names a program. env are variables for
// it, as in GIT_INDEX_FILE=<path>.
func Aside(ctx context.Context, l Lent, env []string, args ...string) (err error) {
	dir, err := os.MkdirTemp("", "rewind-git-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := l.furnish(dir); err != nil {
		return err
	}
	cmd, err := command(ctx, dir, os.Environ(), append([]string{"--git-dir=" + dir}, args...))
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_OBJECT_DIRECTORY="+filepath.Join(l.Common, "objects"))
	cmd.Env = append(cmd.Env, env...)
	_, err = cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		said, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return fmt.Errorf("git %s: %s", args[0], said)
	}
	return err
}

// furnish makes a git directory.
func (l Lent) furnish(dir string) error {
	config := "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n\tlogAllRefUpdates = false\n[extensions]\n"
	if l.SHA256 {
		config += "\tobjectFormat = sha256\n"
	}
	if l.Tables {
		config += "\trefStorage = reftable\n"
	}
	head := "ref: refs/heads/.invalid\n"
	err := errors.Join(os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte(head), 0o600), os.Mkdir(filepath.Join(dir, "objects"), 0o700))
	if l.Refs == "" {
		return errors.Join(err, os.Mkdir(filepath.Join(dir, "refs"), 0o700))
	}
	for _, name := range []string{"refs", "packed-refs", "reftable"} {
		if _, serr := os.Stat(filepath.Join(l.Refs, name)); serr == nil {
			err = errors.Join(err, os.Symlink(filepath.Join(l.Refs, name), filepath.Join(dir, name)))
		}
	}
	return err
}
