package hooks

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// serverTable is a line that begins our table in Codex's configuration, or one below it; tableLine one that begins any.
var (
	serverTable = pattern(`^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*"?` + serverName + `"?[ \t]*(\.[^\]]*)?\][ \t]*(#.*)?\r?\n?$`)
	tableLine   = pattern(`^[ \t]*\[`)
	// inlineTable is one that a later table cannot add to. The library reads that all the same; Codex does not.
	inlineTable = pattern(`(?m)^[ \t]*["']?mcp_servers["']?[ \t]*[=.]`)
)

// pattern is an expression that few processes need.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// registerTOML appends the table, or corrects its program. What comes out is read again: it must say what the file
// said, and that.
func registerTOML(file []byte, program string) ([]byte, error) {
	before, err := parseTOML(file)
	if err != nil {
		return nil, err
	}
	was, err := before.server()
	if err != nil || was == program {
		return file, err
	}
	command := "command = " + tomlString(program)
	var out []byte
	if was != "" {
		line := regexp.MustCompile(`(?m)^command[ \t]*=[ \t]*` + regexp.QuoteMeta(tomlString(was)))
		if out = line.ReplaceAllLiteral(file, []byte(command)); bytes.Equal(out, file) {
			return nil,
				fmt.Errorf("hooks: settings: mcp_servers.%s is not as rewind writes it; correct its command by hand",
					serverName)
		}
	} else if inlineTable().Match(file) {
		return nil, fmt.Errorf("hooks: settings: mcp_servers is written in one line, add %s by hand", serverName)
	} else {
		nl := newlineOf(file)
		out = bytes.Clone(file)
		if len(bytes.TrimSpace(file)) > 0 {
			if !bytes.HasSuffix(out, []byte("\n")) {
				out = append(out, nl...)
			}
			out = append(out, nl...)
		}
		out = fmt.Appendf(out, "[mcp_servers.%s]%s%s%sargs = [\"%s\"]%s", serverName, nl, command, nl,
			serverArgs[0], nl)
	}
	after, err := parseTOML(out)
	if err != nil {
		return nil, fmt.Errorf("hooks: settings: mcp_servers is no table that can be added to: %w", err)
	}
	if now, err := after.server(); err != nil || now != program ||
		!reflect.DeepEqual(before.without(), after.without()) {
		return nil, fmt.Errorf("hooks: settings: mcp_servers.%s cannot be added without another change", serverName)
	}
	return out, nil
}

// saysNothing reports whether a line is blank or a comment.
func saysNothing(line []byte) bool {
	text := bytes.TrimSpace(line)
	return len(text) == 0 || text[0] == '#'
}

// unregisterTOML cuts our table out, and those below it, with the blank line in front.
func unregisterTOML(file []byte) ([]byte, error) {
	before, err := parseTOML(file)
	if err != nil {
		return nil, err
	}
	var out, pending []byte // pending may be of the table that follows
	in := false
	for line := range bytes.Lines(file) {
		switch {
		case serverTable().Match(line):
			if !in {
				out = dropBlankLine(out)
			}
			in, pending = true, nil
		case in && saysNothing(line):
			pending = append(pending, line...)
		case in && !tableLine().Match(line):
			pending = nil
		default:
			if in && len(bytes.TrimSpace(out)) == 0 {
				pending = bytes.TrimLeft(pending, "\r\n")
			}
			out, pending, in = append(append(out, pending...), line...), nil, false
		}
	}
	out = append(out, pending...)
	after, err := parseTOML(out)
	if err != nil || !reflect.DeepEqual(after.without(), before.without()) || reflect.DeepEqual(after, before) {
		return nil,
			fmt.Errorf("hooks: settings: mcp_servers.%s cannot be taken out without another change; do it by hand",
				serverName)
	}
	return out, nil
}

func registeredTOML(file []byte) (string, error) {
	t, err := parseTOML(file)
	if err != nil {
		return "", err
	}
	return t.server()
}

// tomlTables is a file as it is read.
type tomlTables map[string]any

func parseTOML(file []byte) (tomlTables, error) {
	t := tomlTables{}
	if err := toml.Unmarshal(bytes.TrimPrefix(file, byteOrderMark), &t); err != nil {
		line := 0
		text := strings.TrimPrefix(err.Error(), "toml: ")
		if n, _ := fmt.Sscanf(text, "line %d", &line); n == 1 {
			_, text, _ = strings.Cut(text, ": ")
			return nil, fmt.Errorf("hooks: settings: line %d, column 1: %s", line, text)
		}
		return nil, fmt.Errorf("hooks: settings: %s", text)
	}
	return t, nil
}

// server is the program of our server, "" where there is none.
func (t tomlTables) server() (string, error) {
	servers, _ := t["mcp_servers"].(map[string]any)
	v, ok := servers[serverName]
	if !ok {
		return "", nil
	}
	entry, _ := v.(map[string]any)
	command, _ := entry["command"].(string)
	var args []string
	list, _ := entry["args"].([]any)
	for _, a := range list {
		s, _ := a.(string)
		args = append(args, s)
	}
	if !isServer(command, args) {
		return "", fmt.Errorf("hooks: settings: %w", ErrForeignServer)
	}
	return command, nil
}

// without is everything but our server; no servers and an empty table of them are the same.
func (t tomlTables) without() tomlTables {
	out := tomlTables{}
	for k, v := range t {
		servers, ok := v.(map[string]any)
		if k != "mcp_servers" || !ok {
			out[k] = v
			continue
		}
		rest := map[string]any{}
		for name, s := range servers {
			if name != serverName {
				rest[name] = s
			}
		}
		if len(rest) > 0 {
			out[k] = rest
		}
	}
	return out
}

// tomlString is a basic string: JSON's escapes are TOML's.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func newlineOf(file []byte) string {
	if i := bytes.IndexByte(file, '\n'); i > 0 && file[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// dropBlankLine takes a blank line off the end.
func dropBlankLine(b []byte) []byte {
	for _, nl := range []string{"\r\n", "\n"} {
		if rest, ok := bytes.CutSuffix(b, []byte(nl)); ok && (len(rest) == 0 || bytes.HasSuffix(rest, []byte("\n"))) {
			return rest
		}
	}
	return b
}
