package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// serverName is what rewind's MCP server is called in an agent's list of servers, and its program.
const serverName = "rewind"

// serverArgs are the arguments of the program.
var serverArgs = []string{"mcp"}

// ErrForeignServer is returned where the agent's list has a server of that name which is none of ours.
var ErrForeignServer = errors.New(`another MCP server has the name "` + serverName + `" there`)

// ServerFile returns the file at user level in which the agent lists its MCP servers; "" for an agent that is not
// known.
//
//	Claude  $CLAUDE_CONFIG_DIR/.claude.json or ~/.claude.json   mcpServers
//	Codex   $CODEX_HOME or ~/.codex, config.toml                [mcp_servers.<name>]
//	Gemini  as its hooks: settings.json                         mcpServers
//	Droid   as its hooks: mcp.json                              mcpServers
func ServerFile(agent Agent, env func(string) string, home string) string {
	files := SettingsFiles(agent, env, home)
	if len(files) == 0 {
		return ""
	}
	dir := filepath.Dir(files[0])
	switch agent {
	case Claude:
		if env("CLAUDE_CONFIG_DIR") == "" {
			dir = home
		}
		return filepath.Join(dir, ".claude.json")
	case Codex:
		return filepath.Join(dir, "config.toml")
	case Droid:
		return filepath.Join(dir, "mcp.json")
	}
	return files[0]
}

// RegisterServer returns the file with rewind's MCP server in it, started as program. As with Register nothing else
// changes by a byte, and what a person added to the entry stays.
func RegisterServer(agent Agent, file []byte, program string) ([]byte, error) {
	if !utf8.ValidString(program) {
		return nil, fmt.Errorf("hooks: register %q: not UTF-8, a settings file cannot hold it", program)
	}
	if agent == Codex {
		return registerTOML(file, program)
	}
	s, servers, entry, err := parseServers(agent, file)
	if err != nil {
		return nil, err
	}
	st := styleOf(s)
	if entry != nil {
		v, err := s.member(entry, "command")
		if err != nil || v.Value.(hujson.Literal).String() == program {
			return file, err
		}
		v.Value = hujson.String(program)
		return s.pack(), nil
	}
	root := s.root.Value.(*hujson.Object)
	if servers == nil {
		servers = &hujson.Object{}
		st.add(root, indentation{}, "mcpServers", func(indentation) hujson.ValueTrimmed { return servers })
	}
	st.add(servers, indentation{}.of(root, "mcpServers"), serverName, func(p indentation) hujson.ValueTrimmed {
		entry := &hujson.Object{}
		if agent != Gemini {
			st.set(entry, p, "type", hujson.String("stdio"))
		}
		st.set(entry, p, "command", hujson.String(program))
		st.add(entry, p, "args", func(p indentation) hujson.ValueTrimmed {
			args := &hujson.Array{}
			for _, a := range serverArgs {
				st.push(args, p, func(indentation) hujson.ValueTrimmed { return hujson.String(a) })
			}
			return args
		})
		return entry
	})
	return s.pack(), nil
}

// UnregisterServer returns the file without rewind's MCP server. Backup and the result are as of Unregister.
func UnregisterServer(agent Agent, file, backup []byte) ([]byte, error) {
	program, err := RegisteredServer(agent, file)
	if err != nil || program == "" {
		return file, err
	}
	if ours, err := RegisteredServer(agent, backup); err == nil && ours == "" {
		if again, err := RegisterServer(agent, backup, program); err == nil && bytes.Equal(again, file) {
			return backup, nil
		}
	}
	if agent == Codex {
		return unregisterTOML(file)
	}
	s, servers, entry, err := parseServers(agent, file)
	if err != nil {
		return nil, err
	}
	st := styleOf(s)
	if !st.dropMember(servers, entry) {
		return nil, s.errorf(s.root.StartOffset, "a comment stands in the entry of %q, take it out by hand", serverName)
	}
	_, had, _, err := parseServers(agent, backup)
	empty := len(servers.Members) == 0 && isSpace(servers.AfterExtra)
	if empty && (err != nil || had == nil) {
		st.dropMember(s.root.Value.(*hujson.Object), servers)
	}
	return s.pack(), nil
}

// RegisteredServer returns the program of rewind's MCP server, "" where the file has none.
func RegisteredServer(agent Agent, file []byte) (program string, err error) {
	if agent == Codex {
		return registeredTOML(file)
	}
	s, _, entry, err := parseServers(agent, file)
	if err != nil || entry == nil {
		return "", err
	}
	v, err := s.member(entry, "command")
	if err != nil {
		return "", err
	}
	return v.Value.(hujson.Literal).String(), nil
}

// MentionsServer reports whether a file may have our server: what does not is not looked at any closer.
func MentionsServer(file []byte) bool {
	return bytes.Contains(file, []byte("mcp")) && bytes.Contains(file, []byte(serverName))
}

// parseServers finds the list of servers and our entry in it, nil where they are not.
func parseServers(agent Agent, file []byte) (s *settings, servers, entry *hujson.Object, err error) {
	if s, err = parseSettings(agent, file); err != nil {
		return nil, nil, nil, err
	}
	list, err := s.member(s.root.Value.(*hujson.Object), "mcpServers")
	if err != nil || list == nil {
		return s, nil, nil, err
	}
	servers, ok := list.Value.(*hujson.Object)
	if !ok {
		return s, nil, nil, s.wants(list, `"mcpServers"`, "an object")
	}
	v, err := s.member(servers, serverName)
	if err != nil || v == nil {
		return s, servers, nil, err
	}
	if entry, ok = v.Value.(*hujson.Object); !ok || !s.ourServer(entry) {
		return s, servers, nil, fmt.Errorf("%v%w", s.errorf(v.StartOffset, ""), ErrForeignServer)
	}
	return s, servers, entry, nil
}

// ourServer reports whether an entry starts a program of our name as the server.
func (s *settings) ourServer(entry *hujson.Object) bool {
	command, err := s.member(entry, "command")
	args, argsErr := s.member(entry, "args")
	bad := err != nil || argsErr != nil || command == nil
	if bad || args == nil || command.Value.Kind() != '"' {
		return false
	}
	list, ok := args.Value.(*hujson.Array)
	var got []string
	for i := 0; ok && i < len(list.Elements); i++ {
		if lit, is := list.Elements[i].Value.(hujson.Literal); is && lit.Kind() == '"' {
			got = append(got, lit.String())
		}
	}
	return isServer(command.Value.(hujson.Literal).String(), got)
}

func isServer(command string, args []string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.TrimSuffix(name, ".exe") == serverName && slices.Equal(args, serverArgs)
}
