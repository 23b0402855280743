package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"rewind/internal/osfile"
)

const (
	maxLine   = 1 << 20 // bytes of a line of a session file that an entry is made of; a longer one counts for nothing
	maxPrompt = 200     // characters of the first prompt, as Claude cuts it
)

// sessionFacts are what an entry of the index says of a session file.
type sessionFacts struct {
	prompt, created, modified, branch, cwd string
	messages                               int
}

// sessionLine is what is read of a line.
type sessionLine struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Branch    string `json:"gitBranch"`
	Cwd       string `json:"cwd"`
	Side      bool   `json:"isSidechain"`
	Meta      bool   `json:"isMeta"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// indexFields are the members of an entry, in the order of Claude 2.1.20.
func indexFields(path, id, title string) ([]member, error) {
	f, err := osfile.OpenRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s, err := readSession(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, pathCause(err))
	}
	out := []member{
		{"sessionId", text(id)},
		{"fullPath", text(path)},
		{"fileMtime", json.RawMessage(strconv.FormatInt(fi.ModTime().UnixMilli(), 10))},
		{"firstPrompt", text(s.prompt)},
	}
	if title != "" {
		// which one is shown differs
		out = append(out, member{"customTitle", text(title)}, member{"summary", text(title)})
	}
	out = append(out, member{"messageCount", json.RawMessage(strconv.Itoa(s.messages))}, member{"created", text(s.created)},
		member{"modified", text(s.modified)})
	if s.branch != "" {
		out = append(out, member{"gitBranch", text(s.branch)})
	}
	return append(out, member{"projectPath", text(s.cwd)}, member{"isSidechain", json.RawMessage("false")}), nil
}

// readSession reads a session file line by line, in bounded memory.
func readSession(r io.Reader) (sessionFacts, error) {
	var s sessionFacts
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			for err == bufio.ErrBufferFull {
				_, err = in.ReadSlice('\n')
			}
			line = nil
		}
		s.add(line)
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return s, err
		}
	}
}

func (s *sessionFacts) add(line []byte) {
	var l sessionLine
	if !bytes.Contains(line, []byte(`"timestamp"`)) || json.Unmarshal(line, &l) != nil {
		return
	}
	if message := l.Type == "user" || l.Type == "assistant"; l.Side || !message {
		return
	}
	s.messages++
	if s.created == "" {
		s.created, s.cwd = l.Timestamp, l.Cwd
	}
	s.modified = l.Timestamp
	if l.Branch != "" {
		s.branch = l.Branch
	}
	if s.prompt == "" && l.Type == "user" && !l.Meta {
		s.prompt = promptText(l.Message.Content)
	}
}

// promptText is how a prompt begins, in one line; "" of what is none.
func promptText(content json.RawMessage) string {
	var said string
	if json.Unmarshal(content, &said) != nil {
		var parts []struct{ Type, Text string }
		if json.Unmarshal(content, &parts) != nil {
			return ""
		}
		for _, p := range parts {
			if p.Type == "text" && said == "" {
				said = p.Text
			}
		}
	}
	said = strings.TrimSpace(strings.ReplaceAll(said, "\n", " "))
	if utf8.RuneCountInString(said) > maxPrompt {
		said = strings.TrimSpace(string([]rune(said)[:maxPrompt])) + "…"
	}
	return said
}
