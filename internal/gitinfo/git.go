package gitinfo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// keptVariables are the GIT_* variables that a process started here inherits: they say where configuration is, not which repository is meant.
var keptVariables = map[string]bool{
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true, "GIT_EXEC_PATH": true,
}

// git runs a command that reads. ok is false when git answers no: exit code 1 without a message.
func (r *Repo) git(args ...string) (out []byte, ok bool, err error) {
	return r.gitAt(r.gitDir, args...)
}

func (r *Repo) gitAt(gitDir string, args ...string) (out []byte, ok bool, err error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, false, fmt.Errorf("git %s: %w", args[0], ErrNoGit)
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	// The file system monitor would be a program that the repository names.
	all := append([]string{"--git-dir=" + gitDir, "--work-tree=" + r.root, "--no-optional-locks", "-c", "core.fsmonitor=false"}, args...)
	cmd := exec.CommandContext(ctx, path, all...)
	cmd.Dir = r.root
	cmd.Env = environment(os.Environ())
	cmd.WaitDelay = gitTimeout / 10
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	message, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out, true, nil
	case errors.As(err, &exit) && exit.ExitCode() == 1 && message == "":
		return nil, false, nil
	case ctx.Err() != nil:
		return nil, false, fmt.Errorf("git %s: no answer in %s", args[0], gitTimeout)
	default:
		return nil, false, fmt.Errorf("git %s: %w: %s", args[0], err, message)
	}
}

// environment drops what would make git look at another repository, write, ask, fetch or trace.
func environment(env []string) []string {
	out := make([]string, 0, len(env)+4)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(strings.ToUpper(name), "GIT_") && !keptVariables[name] || name == "LC_ALL" {
			continue
		}
		out = append(out, e)
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}
