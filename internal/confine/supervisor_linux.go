package confine

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Main is a supervisor: it does what it is asked for on descriptor 3, tells of it on descriptor 4, and gives its exit
// code.
func Main() int {
	runtime.LockOSThread() // capabilities, and the parent whose death ends the command, are a thread's
	syscall.CloseOnExec(askFD)
	syscall.CloseOnExec(tellFD)
	// What ends the command is the pipe: a signal to a whole terminal must not end who cleans up. They are caught and
	// not ignored, since the command would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	ask, out := os.NewFile(askFD, "ask"), os.NewFile(tellFD, "tell")
	in := bufio.NewReader(ask)
	line, err := in.ReadBytes('\n')
	o := order{}
	if err != nil || json.Unmarshal(line, &o) != nil {
		return 1
	}
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(gone)
	}()
	s := &supervisor{order: o, out: out}
	tell(out, s.run(gone))
	return 0
}

// supervisor runs one command.
type supervisor struct {
	order
	out *os.File
}

// run makes the view and runs the command until it ends or gone is closed. Then nothing that it started is left.
func (s *supervisor) run(gone <-chan struct{}) report {
	if s.Level != None { // else the mounts are everybody's
		if err := s.show(); err != nil {
			return report{View: err.Error()}
		}
	}
	if s.Probe {
		return report{Ended: &ended{}}
	}
	if fi, err := os.Stat(s.Dir); err != nil || !fi.IsDir() {
		return report{NoDir: true}
	}
	adopt(true)
	program, fell, err := s.program()
	if err != nil {
		return failed(err)
	}
	if err := dropCapabilities(); err != nil {
		return report{View: err.Error()}
	}
	tell(s.out, report{Started: &Started{Fell: fell}})
	id, err := syscall.ForkExec(program, s.Argv, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return failed(err)
	}
	done := make(chan int, 1)
	go func() { done <- await(id) }()
	e := &ended{}
	select {
	case e.Code = <-done:
	case <-gone:
	}
	e.Left = endBelow(nil, waitFor)
	return report{Ended: e}
}

func failed(err error) report {
	var kind syscall.Errno
	errors.As(err, &kind)
	return report{Start: innermost(err).Error(), Kind: int(kind)}
}

// innermost is an error without the words of who met it.
func innermost(err error) error {
	for {
		under := errors.Unwrap(err)
		if under == nil {
			return err
		}
		err = under
	}
}

// program is the path of the command's program; fell: it is that of the fallback.
func (s *supervisor) program() (path string, fell bool, err error) {
	name := s.Argv[0]
	if !strings.Contains(name, "/") {
		path, err = exec.LookPath(name)
		return path, false, err
	}
	if filepath.IsAbs(name) {
		return name, false, nil
	}
	path = filepath.Join(s.Dir, name)
	if _, err := os.Stat(path); err != nil {
		return filepath.Join(s.Fallback, name), true, nil
	}
	return path, false, nil
}

// await waits for a child to end, and meanwhile for all that come to this process.
func await(id int) (code int) {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0
		case got == id && ws.Signaled():
			return 128 + int(ws.Signal())
		case got == id:
			return ws.ExitStatus()
		}
	}
}
