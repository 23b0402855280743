package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rewind/internal/programs"
)

// maxRequest bounds a request in bytes: patterns and names are short.
const maxRequest = 1 << 20

// server is a server for one agent.
type server struct {
	program string        // the path of rewind
	dir     string        // a directory of the project
	busy    chan struct{} // holds one while a command runs: an agent that asks for ten things at once gets one after the other
}

// serve answers until in ends or ctx does, whatever comes in. A command that runs then is interrupted, and waited for.
func (s *server) serve(ctx context.Context, version string, in io.ReadCloser, out io.WriteCloser) error {
	m := mcp.NewServer(&mcp.Implementation{Name: "rewind", Title: "rewind", Version: version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	add[listArgs](s, m, "list",
		"List the turns of this project's sessions, newest first: checkpoint, time, prompt, what changed. "+
			"With paths, text or regexp: the checkpoints that changed them, with the history of a file followed through renames.")
	add[showArgs](s, m, "show",
		"Show one checkpoint, or with turn:N a whole turn: who, when, the prompt, the files that changed, what "+
			"was answered; with patch, how they changed.")
	add[diffArgs](s, m, "diff",
		"Show what differs between two checkpoints, or between one and the files as they are now, as a "+
			"unified diff.")
	add[catArgs](s, m, "cat",
		"Print a file as a checkpoint holds it, also one that is deleted now. Control bytes and what is not UTF-8 "+
			"are shown escaped.")
	add[grepArgs](s, m, "grep",
		"Search the files of all checkpoints: each distinct line once, with since when and until when it was "+
			"there. Or search what was said in the conversations.")
	add[blameArgs](s, m, "blame",
		"For each line of a file: which checkpoint, turn and prompt wrote it, or that it came from outside.")
	add[turnsArgs](s, m, "turns", "List the turns of a session: number, time, prompt.")
	w := &oneWriter{WriteCloser: out}
	err := m.Run(ctx, &mcp.IOTransport{Reader: newLines(in, w), Writer: w, MaxLineLength: 2 * maxRequest})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil // the agent has gone, or wants us gone
	}
	return err
}

// add makes a command a tool. T is its arguments.
func add[T any, P interface {
	*T
	tool
}](s *server, m *mcp.Server, name, does string) {
	no := false
	t := &mcp.Tool{
		Name: name, Description: does + " " + isData,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no,
			DestructiveHint: &no,
		},
	}
	mcp.AddTool(m, t, func(ctx context.Context, _ *mcp.CallToolRequest, in T) (*mcp.CallToolResult, any, error) {
		command, err := P(&in).command()
		if err != nil {
			return nil, nil, err
		}
		text, failed, err := s.answer(ctx, command, P(&in).part())
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{IsError: failed, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// Main serves an agent on standard input and output, in a project, and returns the exit code. Commands are those of the
// rewind beside this program, whatever has been installed there meanwhile.
func Main(dir, version string) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(os.Stderr, "rewind: error: mcp: %v\n", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s := server{program: programs.Path(filepath.Dir(self), programs.Rewind), dir: dir, busy: make(chan struct{}, 1)}
	if err := s.serve(ctx, version, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "rewind: error: mcp: %v\n", err)
		return 1
	}
	return 0
}
