package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// ProbePayload is an event that is none: `rewind hook` answers it with ProbeAnswer and does nothing else.
const ProbePayload = `{"rewind":"who answers a hook?"}`

const probeWord = "rewind-hook"

// ProbeAnswer is the line on standard output.
func ProbeAnswer(version string) string { return probeWord + " " + version + "\n" }

const (
	// probeTries is how often a hook that says nothing is started: a second may pass it by on a machine with too much
	// to do.
	probeTries = 3
	// probePatience bounds one start; the client ends by itself after one second.
	probePatience = 10 * time.Second
)

// Probe starts a command line as an agent does, with an event that is none, and returns the version of the rewind that
// it reaches. No daemon is asked, whether one runs or not: what is shown is that a hook needs none. env is who asks, as
// the agent would have it.
func Probe(ctx context.Context, command string, env []string) (version string, err error) {
	for range probeTries {
		if version, err = probe(ctx, command, env); err == nil || ctx.Err() != nil {
			break
		}
	}
	return version, err
}

func probe(ctx context.Context, command string, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = string(os.PathSeparator), strings.NewReader(ProbePayload), &out, &errs
	cmd.Env = append(env, "REWIND_DAEMON=off")
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	word, version, ok := strings.Cut(strings.TrimSpace(out.String()), " ")
	switch {
	case err != nil && said != "":
		return "", fmt.Errorf("%w: %s", err, said)
	case err != nil:
		return "", err
	case ok && word == probeWord:
		return version, nil
	case said != "":
		return "", errors.New(said)
	}
	return "", errors.New("it ends without having started rewind")
}
