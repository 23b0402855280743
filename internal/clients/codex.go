package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"rewind/internal/value"
)

const (
	codexWait  = 10 * time.Second       // for everything that Codex is asked
	codexLeave = 300 * time.Millisecond // for it to end by itself: 0.169 takes 20 ms, 0.125 waits for a signal
	codexLine  = 4 << 20                // bytes of a message of its
	codexTitle = 1 << 10                // bytes of a title
)

// registerCodex has Codex put a thread into its list: `codex app-server`, JSON-RPC on its standard input and output, a
// message a line. thread/name/set reads the rollout of the id, makes the row that the picker goes by, and sets the
// title; the rollout stays as it is. It works beside a daemon or another Codex that runs, without network and without a
// login. For a thread without a title thread/read does it.
func registerCodex(ctx context.Context, env value.AgentEnv, root, id, title string) error {
	fail := func(err error) error { return fmt.Errorf("list codex session %s: %w", id, err) }
	program := program(env, "codex")
	if program == "" {
		return fail(fmt.Errorf("%w: codex", errNoProgram))
	}
	ctx, cancel := context.WithTimeout(ctx, codexWait)
	defer cancel()
	s, err := startCodex(program, env, root)
	if err != nil {
		return fail(err)
	}
	defer s.end()
	if err := s.ask(ctx, "initialize", map[string]any{"clientInfo": map[string]string{"name": "rewind", "version": "1"}}); err != nil {
		return fail(err)
	}
	if err := s.send(map[string]any{"method": "initialized"}); err != nil {
		return fail(err)
	}
	if title = cut(strings.TrimSpace(title), codexTitle); title == "" {
		err = s.ask(ctx, "thread/read", map[string]any{"threadId": id})
	} else {
		err = s.ask(ctx, "thread/name/set", map[string]any{"threadId": id, "name": title})
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// cut shortens s to at most n bytes of whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// codexServer is a `codex app-server` that was started to be asked something.
type codexServer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan codexAnswer // closed when it says nothing more
	stop    chan struct{}    // closed when nobody listens any more
	last    int              // id of the newest question
}

type codexAnswer struct {
	ID     *int    `json:"id"`
	Method *string `json:"method"` // then it is no answer, but a question or a message
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// startCodex starts it in its own folder, so that no project's configuration counts. What it has to complain about goes
// nowhere.
func startCodex(program string, env value.AgentEnv, root string) (*codexServer, error) {
	cmd := exec.Command(program, "app-server")
	cmd.Dir = root
	cmd.Env = environ(env, "CODEX_HOME="+root)
	alone(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	s := &codexServer{cmd: cmd, in: in, answers: make(chan codexAnswer), stop: make(chan struct{})}
	go s.listen(out)
	return s, nil
}

func (s *codexServer) listen(out io.Reader) {
	defer close(s.answers)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, codexLine)
	for lines.Scan() {
		var a codexAnswer
		if json.Unmarshal(lines.Bytes(), &a) != nil || a.ID == nil || a.Method != nil {
			continue
		}
		select {
		case s.answers <- a:
		case <-s.stop:
			return
		}
	}
}

func (s *codexServer) send(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	// It is far less than a pipe holds, so this waits for nobody.
	if _, err := s.in.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}

// ask sends a question and waits for the answer to it, of which only counts whether it is an error.
func (s *codexServer) ask(ctx context.Context, method string, params any) error {
	s.last++
	if err := s.send(map[string]any{"id": s.last, "method": method, "params": params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		select {
		case a, ok := <-s.answers:
			switch {
			case !ok:
				return fmt.Errorf("%s: codex ended without an answer", method)
			case *a.ID != s.last:
			case a.Error != nil:
				return fmt.Errorf("%s: codex says: %q", method, cut(a.Error.Message, 300))
			default:
				return nil
			}
		case <-ctx.Done():
			err := ctx.Err()
			if errors.Is(err, context.DeadlineExceeded) {
				err = errors.New("no answer from codex in time")
			}
			return fmt.Errorf("%s: %w", method, err)
		}
	}
}

// end lets the program end, or ends it with all that it has started.
func (s *codexServer) end() {
	_ = s.in.Close()
	close(s.stop)
	ended := make(chan struct{})
	go func() {
		_ = s.cmd.Wait()
		close(ended)
	}()
	for _, kill := range []func(*exec.Cmd){terminate, destroy} {
		select {
		case <-ended:
			return
		case <-time.After(codexLeave):
			kill(s.cmd)
		}
	}
	<-ended
}

// alone gives a program a process group of its own: what npm installs is a script that starts the program proper.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the program, and all that is in its group, to end.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// destroy ends them.
func destroy(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Process.Kill()
}
