package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdMCP: [!] mcp DIR TOOL JSON starts 'rewind mcp' as an agent does, calls a tool and writes its text to $WORK/answer;
// with !, the tool must say that it failed. mcp DIR tools writes a line for each tool that there is.
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 && (len(args) != 2 || args[1] != "tools" || neg) {
		ts.Fatalf("usage: [!] mcp DIR TOOL JSON | mcp DIR tools")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	program, err := exec.LookPath("rewind")
	ts.Check(err)
	cmd := exec.Command(program, "mcp")
	cmd.Dir = ts.MkAbs(args[0])
	cmd.Env = scriptEnv(ts)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	var text string
	if len(args) == 2 {
		list, err := session.ListTools(ctx, nil)
		ts.Check(err)
		for _, t := range list.Tools {
			text += fmt.Sprintf("%s read-only=%v: %s\n", t.Name, t.Annotations.ReadOnlyHint, t.Description)
		}
	} else {
		r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: args[1], Arguments: jsonText(args[2])})
		ts.Check(err)
		for _, c := range r.Content {
			text += c.(*mcp.TextContent).Text
		}
		if r.IsError != neg {
			ts.Fatalf("mcp %s: failed is %v:\n%s", args[1], r.IsError, text)
		}
	}
	ts.Logf("%.2000s", text)
	ts.Check(session.Close())
	if state := cmd.ProcessState; state == nil || !state.Success() {
		ts.Fatalf("mcp: the server ends with %v", state)
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "answer"), []byte(text), 0o644))
}

// jsonText is JSON as it is.
type jsonText string

func (j jsonText) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// scriptEnv is what a script's commands have in their environment and scripts set.
func scriptEnv(ts *testscript.TestScript) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "REWIND_") })
	for _, name := range []string{"HOME", "REWIND_HOME", "REWIND_DAEMON", "REWIND_IDLE", "TZ", "GIT_CONFIG_GLOBAL", "CLICOLOR_FORCE"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}
