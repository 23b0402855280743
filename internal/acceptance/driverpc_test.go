//go:build acceptance

package acceptance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// rpc is an agent that takes calls on its standard input and answers on its output, a line each: what its own editors
// drive it by.
type rpc struct {
	*world
	in    io.WriteCloser
	lines chan rpcLine
	frame map[string]any // what every call has
	calls int
}

// rpcLine is an answer, or a notice.
type rpcLine struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Params json.RawMessage `json:"params"`
}

// serve starts the agent as such a server; it is gone when the test ends.
func (w *world) serve(frame map[string]any, args ...string) *rpc {
	w.Helper()
	cmd := exec.Command(w.program, args...)
	cmd.Dir, cmd.Env = w.project, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.Fatal(err)
	}
	r := &rpc{world: w, in: in, lines: make(chan rpcLine, 1<<12), frame: frame}
	go func() {
		defer close(r.lines)
		read := bufio.NewReaderSize(out, 1<<20)
		for {
			b, err := read.ReadBytes('\n')
			if err != nil {
				return
			}
			var l rpcLine
			if json.Unmarshal(b, &l) == nil {
				r.lines <- l
			}
		}
	}()
	w.Cleanup(func() {
		_ = in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		go func() {
			for range r.lines { // until the reader has ended
			}
		}()
		_ = cmd.Wait()
	})
	return r
}

func (r *rpc) send(m map[string]any) {
	r.Helper()
	for k, v := range r.frame {
		m[k] = v
	}
	b, err := json.Marshal(m)
	if err == nil {
		_, err = r.in.Write(append(b, '\n'))
	}
	if err != nil {
		r.Fatal(err)
	}
}

// call makes a call and puts its answer into to. Notices that come before it are passed over.
func (r *rpc) call(to any, method string, params any) {
	r.Helper()
	r.calls++
	id := fmt.Sprint(r.calls)
	r.send(map[string]any{"id": id, "method": method, "params": params})
	l := r.next(method, func(l rpcLine) bool { return string(l.ID) == `"`+id+`"` && l.Method == "" })
	if l.Error != nil {
		r.Fatalf("%s: %s %v: %s", r.client, method, params, l.Error)
	}
	if to != nil {
		if err := json.Unmarshal(l.Result, to); err != nil {
			r.Fatalf("%s: %s: %v\n%s", r.client, method, err, l.Result)
		}
	}
}

// next waits for a line.
func (r *rpc) next(what string, is func(rpcLine) bool) rpcLine {
	r.Helper()
	end := time.After(patience)
	for {
		select {
		case l, ok := <-r.lines:
			if !ok {
				r.Fatalf("%s ended before it answered %s", r.client, what)
			}
			if is(l) {
				return l
			}
		case <-end:
			r.Fatalf("%s: nothing came of %s within %v", r.client, what, patience)
		}
	}
}
