package confine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs a command and ends all that it started. It returns an error if the command did not start, or ctx has ended;
// what it started is ended then, too. Errors: ErrNoDir, *StartError.
func Run(ctx context.Context, c Command) (Outcome, error) {
	o := order{Argv: c.Argv, Dir: c.Dir, Fallback: c.Fallback, Env: c.Env, Level: c.Level, View: c.View}
	p, err := supervise(o, namespaced(c.Level), c.Stdout, c.Stderr)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", errView, err)
	}
	var out Outcome
	started, tooLong := c.Started, (<-chan time.Time)(nil)
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		tooLong = timer.C
	}
	last := report{}
	for reports, stop := p.reports, ctx.Done(); ; {
		select {
		case r, more := <-reports:
			if !more {
				out.Left = p.finish(last.Ended == nil)
				return outcome(out, last, ctx.Err())
			}
			if r.Started != nil && started != nil {
				started(*r.Started)
			}
			last = r
		case <-tooLong:
			out.Late = true
			p.stop()
		case <-stop:
			stop = nil
			p.stop()
		}
	}
}

// outcome is what a supervisor's last report says.
func outcome(out Outcome, r report, gone error) (Outcome, error) {
	switch {
	case gone != nil:
		return out, gone
	case r.NoDir:
		return out, ErrNoDir
	case r.View != "":
		return out, fmt.Errorf("%w: %s", errView, r.View)
	case r.Start != "" && r.Kind != 0:
		return out, &StartError{syscall.Errno(r.Kind)}
	case r.Start != "":
		return out, &StartError{errors.New(r.Start)}
	case r.Ended == nil:
		return out, errors.New("what watched the command was ended")
	}
	out.Code, out.Left = r.Ended.Code, append(out.Left, r.Ended.Left...)
	return out, nil
}

// supervised is a supervisor that was started.
type supervised struct {
	cmd     *exec.Cmd
	ask     *os.File
	before  map[int]bool // children that this process had before
	reports <-chan report
}

// namespaces are what a supervisor has of its own.
type namespaces int

const (
	noNamespace   namespaces = iota
	mountsOnly               // for root
	userAndMounts            // for others, and for a root that must not mount
)

// namespaced is what a level needs; Probe has found out whether it works.
func namespaced(level Level) namespaces {
	switch {
	case level == None:
		return noNamespace
	case os.Geteuid() == 0 && mayMount():
		return mountsOnly
	}
	return userAndMounts
}

// mayMount reports whether this process has the right to mount.
func mayMount() bool {
	var data [2]unix.CapUserData
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	return unix.Capget(&head, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// wholeSystem reports whether this process is in the user namespace of the system, and not in a container's.
func wholeSystem() bool {
	raw, err := os.ReadFile("/proc/self/uid_map")
	return err != nil || strings.Join(strings.Fields(string(raw)), " ") == "0 0 4294967295"
}

// supervise starts a supervisor.
func supervise(o order, ns namespaces, stdout, stderr io.Writer) (*supervised, error) {
	o.User = ns == userAndMounts || !wholeSystem()
	line, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	askR, askW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	tellR, tellW, err := os.Pipe()
	if err != nil {
		askR.Close()
		askW.Close()
		return nil, err
	}
	p := &supervised{ask: askW, before: children()}
	adopt(true)
	p.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{os.Args[0], Word}, Dir: "/", Stdout: stdout, Stderr: stderr,
		ExtraFiles: []*os.File{askR, tellW}, SysProcAttr: attributes(ns),
	}
	err = p.cmd.Start()
	askR.Close()
	tellW.Close()
	if err != nil {
		askW.Close()
		tellR.Close()
		adopt(false)
		return nil, err
	}
	p.reports = follow(tellR)
	_, _ = askW.Write(append(line, '\n')) // who is not there reports nothing
	return p, nil
}

// attributes are those of a supervisor with namespaces.
func attributes(ns namespaces) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	switch ns {
	case mountsOnly:
		a.Cloneflags = syscall.CLONE_NEWNS
	case userAndMounts:
		a.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER}
	}
	return a
}

// follow reads reports until there are no more.
func follow(r *os.File) <-chan report {
	out := make(chan report)
	go func() {
		defer close(out)
		defer r.Close()
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var one report
			if json.Unmarshal(lines.Bytes(), &one) == nil {
				out <- one
			}
		}
	}()
	return out
}

// stop has the supervisor end the command.
func (p *supervised) stop() { p.ask.Close() }

// finish waits for the supervisor. If it was killed, this process ends what it had started.
func (p *supervised) finish(killed bool) (left []int) {
	p.ask.Close()
	if killed {
		awaitEnd(p.cmd.Process.Pid)
		p.before[p.cmd.Process.Pid] = true
		left = endBelow(p.before, waitFor)
	}
	_ = p.cmd.Wait() // its reports say all
	adopt(false)
	return left
}

// awaitEnd waits for the end of a child, and leaves it to be waited for. A process closes its files before it gives up
// its children: who only hears that its pipe is closed may find them below it still, and not below this one.
func awaitEnd(id int) {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, id, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
}

// Own reports whether the mounts of a level are a user namespace's, to which other users and groups are not known.
func (l Level) Own() bool { return namespaced(l) == userAndMounts }
