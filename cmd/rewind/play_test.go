package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// play is a session of an agent as it happened: records of its session file, and between them what its hooks were told
// and what it changed. It is a file of lines. "#agent", "#id" and "#file" come first; "#turn" begins a turn; "#hook
// <word> <payload>" calls the hook, "#edit <path> <text>" writes a file of the project, "#side <path> <text>" one of
// the home directory; "# " is a comment and every other line a record. @DIR@ is the project, @ID@ the session's id,
// @SHORT@ how it begins, @FILE@ the session file, @SLUG@ and @SHA@ the project's directory as agents write it.
type play struct {
	home, dir       string
	check           func(error)
	send            func(dir, agent, event, payload string) // calls the hook
	agent, id, file string
}

// cmdPlay: play NAME DIR [TURN...] plays a session, of the script or of testdata/play, in a project; all turns, or
// those named. FILE is then its session file and ID its id.
func cmdPlay(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "play NAME DIR [TURN...]")
	path := ts.MkAbs(args[0])
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join("testdata", "play", args[0])
	}
	b, err := os.ReadFile(path)
	ts.Check(err)
	dir, err := filepath.EvalSymlinks(ts.MkAbs(args[1]))
	ts.Check(err)
	p := &play{home: ts.Getenv("HOME"), dir: dir, check: ts.Check}
	p.send = func(dir, agent, event, payload string) {
		path := filepath.Join(ts.Getenv("WORK"), ".payload")
		ts.Check(os.WriteFile(path, []byte(payload), 0o600))
		ts.Check(ts.Exec("sh", "-c", `cd "$0" && exec rewind hook --agent "$1" --event "$2" <"$3"`, dir, agent, event, path))
	}
	p.run(string(b), args[2:]...)
	ts.Setenv("FILE", p.file)
	ts.Setenv("ID", p.id)
}

// run plays what a file says; all turns, or those named.
func (p *play) run(text string, turns ...string) {
	wanted := map[string]bool{}
	for _, t := range turns {
		wanted[t] = true
	}
	turn, on := 0, len(wanted) == 0 || wanted["1"]
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "#turn" {
			turn++
			on = len(wanted) == 0 || wanted[strconv.Itoa(turn)]
		} else if on || turn == 0 && p.header(line) {
			p.line(line)
		}
	}
}

func (p *play) header(line string) bool {
	return strings.HasPrefix(line, "#agent ") || strings.HasPrefix(line, "#id ") || strings.HasPrefix(line, "#file ")
}

func (p *play) line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	rest = p.fill(rest)
	switch word {
	case "#":
	case "#agent":
		p.agent = rest
	case "#id":
		p.id = rest
	case "#file":
		p.file = filepath.Join(p.home, rest)
	case "#hook":
		event, payload, _ := strings.Cut(rest, " ")
		p.send(p.dir, p.agent, event, payload)
	case "#edit":
		path, text, _ := strings.Cut(rest, " ")
		p.check(os.WriteFile(filepath.Join(p.dir, path), []byte(text+"\n"), 0o644))
	case "#side":
		path, text, _ := strings.Cut(rest, " ")
		p.write(filepath.Join(p.home, path), text)
	default:
		p.write(p.file, p.fill(line))
	}
}

// write appends a line to a file that its owner alone reads.
func (p *play) write(path, line string) {
	p.check(os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	p.check(err)
	_, err = f.WriteString(line + "\n")
	p.check(err)
	p.check(f.Close())
}

var noWord = regexp.MustCompile(`[^A-Za-z0-9]`)

func (p *play) fill(text string) string {
	sum := sha256.Sum256([]byte(p.dir))
	return strings.NewReplacer(
		"@DIR@", p.dir, "@ID@", p.id, "@SHORT@", p.id[:min(8, len(p.id))], "@FILE@", p.file,
		"@SLUG@", noWord.ReplaceAllString(p.dir, "-"), "@SHA@", hex.EncodeToString(sum[:]),
	).Replace(text)
}

// cmdRunning: running ID lets Claude Code seem to have a session open, with the process of the tests as its client.
func cmdRunning(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "running ID")
	b, err := json.Marshal(map[string]any{
		"pid": os.Getpid(), "sessionId": args[0], "cwd": ts.MkAbs("."), "status": "idle",
		"kind": "interactive",
	})
	ts.Check(err)
	path := filepath.Join(ts.Getenv("HOME"), ".claude", "sessions", fmt.Sprintf("%d.json", os.Getpid()))
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, b, 0o600))
}
