package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recordTo has TestRecording write what it sees, for make pictures.
var recordTo = flag.Bool("record", false, "write the recording of README.md")

// recording is the file that README.md shows.
const recording = "../../docs/pictures/undo.svg"

// recorded are the commands of the recording, and for how long what they print stays.
var recorded = []struct {
	command string
	stays   time.Duration
}{
	{"claude -c -p 'now tidy up'", 2 * time.Second},
	{"ls docs src", 3 * time.Second},
	{"rewind list", 4 * time.Second},
	{"rewind undo --turn", 6 * time.Second},
	{"ls docs src", 3 * time.Second},
}

// typedFor is how long a command stands there before it runs.
const typedFor = 700 * time.Millisecond

// The size of the terminal.
const recordedRows, recordedColumns = 24, 80

// TestRecording runs the session of the recording in README.md in a real shell on a real terminal: what the recording
// shows is what happens, but for ids, times and places.
func TestRecording(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("missing tool: tmux")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	s := openRecorded(t, dir)
	var frames []frame
	for _, r := range recorded {
		s.tmux("send-keys", "-t", "x", "-l", r.command)
		s.await(func(screen string) bool { return strings.HasSuffix(screen, r.command) })
		frames = append(frames, frame{s.screen(), typedFor})
		s.tmux("send-keys", "-t", "x", "Enter")
		s.await(func(screen string) bool { return strings.HasSuffix(screen, "\n$") })
		frames = append(frames, frame{s.screen(), r.stays})
	}
	picture := svg(frames)
	if *recordTo {
		must(t, os.WriteFile(recording, []byte(picture), 0o644))
	}
	kept, err := os.ReadFile(recording)
	must(t, err)
	is, was := plain(said(t, picture)), plain(said(t, string(kept)))
	if is != was {
		t.Errorf("the recording of README.md is not what happens (-recording +now); make pictures:\n%s",
			difference(was, is))
	}
}

// recordedTerminal is a terminal in which the session runs.
type recordedTerminal struct {
	t      *testing.T
	socket string
	env    []string
}

func openRecorded(t *testing.T, dir string) *recordedTerminal {
	t.Helper()
	home, project := filepath.Join(dir, "home/you"), filepath.Join(dir, "home/you/project")
	layOutProject(t, project)
	layOutAgent(t, home)
	path := filepath.Join(home, ".rewind/system") + ":" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH")
	s := &recordedTerminal{t: t, socket: filepath.Join(dir, "tmux"), env: append(os.Environ(),
		"HOME="+home, "PATH="+path, "REWIND_HOME=", "PAGER=cat", "LC_ALL=C.UTF-8", "NO_COLOR=")}
	before := exec.Command("bash", "-euc", "rewind init && claude -p 'make the parser faster'")
	before.Dir, before.Env = project, s.env
	if out, err := before.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-s", "x", "-x", strconv.Itoa(recordedColumns), "-y",
		strconv.Itoa(recordedRows), "-c", project, "PS1='$ ' exec bash --norc --noprofile")
	t.Cleanup(func() {
		s.tmux("kill-server")
		stop := exec.Command("bash", "-c", "rewind daemon stop")
		stop.Env = s.env
		must(t, stop.Run())
	})
	s.await(func(screen string) bool { return screen == "$" })
	return s
}

func (s *recordedTerminal) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// screen is what stands on the terminal, with its colours.
func (s *recordedTerminal) screen() []string {
	return strings.Split(strings.TrimRight(s.tmux("capture-pane", "-t", "x", "-e", "-p"), "\n"), "\n")
}

// await waits until the text on the terminal, without what is empty at its end, is as it is to be.
func (s *recordedTerminal) await(is func(screen string) bool) {
	s.t.Helper()
	screen := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if screen = strings.TrimRight(s.tmux("capture-pane", "-t", "x", "-p"), " \n"); is(screen) {
			return
		}
	}
	s.t.Fatalf("the terminal shows:\n%s", screen)
}

// frame is what the terminal shows for a while.
type frame struct {
	lines []string
	stays time.Duration
}

// sgrRE is a sequence that sets how text looks (ECMA-48, SGR).
var sgrRE = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// looks are the classes of a picture's text, by the parameter that sets them; a colour takes another one's place.
var looks = map[string]string{
	"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "34": "l", "35": "m", "36": "c",
	"91": "r", "92": "g", "93": "y", "94": "l", "95": "m", "96": "c",
}

// The size of a character, and the room around the text, in the picture's units.
const characterWidth, lineHeight, margin = 8.43, 18, 14

// pictureHead begins a picture: its size, twice, and the style of its text.
const pictureHead = `<svg xmlns="http://www.w3.org/2000/svg" role="img"
viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d">
<title>An agent removes too much; rewind list shows the turns, rewind undo --turn takes the last one back</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d8dee9;white-space:pre}
.b{font-weight:bold}.d{fill:#8a94a6}.r{fill:#ff8b8b}.g{fill:#9fd68c}.y{fill:#f2cc8f}
.l{fill:#8ab4f8}.m{fill:#d7a6ff}.c{fill:#7fd6d6}.f{visibility:hidden}
`

// A frame's time: its number, how long all last, and when it comes and goes. Who wants no motion sees the last one.
const (
	pictureTime = "#f%[1]d{animation:k%[1]d %[2]gs step-end infinite}" +
		"@keyframes k%[1]d{0%%{visibility:hidden}%[3]s{visibility:visible}%[4]s{visibility:hidden}}\n"
	pictureStill = "@media (prefers-reduced-motion:reduce)" +
		"{.f{animation:none!important}#f%d{visibility:visible}}\n</style>\n"
)

// svg is an animated picture of a terminal: each frame is shown in its time, and all begins anew.
func svg(frames []frame) string {
	whole := time.Duration(0)
	for _, f := range frames {
		whole += f.stays
	}
	width := int(math.Ceil(recordedColumns*characterWidth)) + 2*margin
	height := recordedRows*lineHeight + 2*margin
	var b strings.Builder
	fmt.Fprintf(&b, pictureHead, width, height)
	at := time.Duration(0)
	for i, f := range frames {
		fmt.Fprintf(&b, pictureTime, i, whole.Seconds(), percent(at, whole), percent(at+f.stays, whole))
		at += f.stays
	}
	fmt.Fprintf(&b, pictureStill, len(frames)-1)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#1d2129"/>`+"\n", width, height)
	for i, f := range frames {
		fmt.Fprintf(&b, `<g class="f" id="f%d">`+"\n", i)
		for row, line := range f.lines {
			if text := spans(line); text != "" {
				fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+row*lineHeight+13, text)
			}
		}
		b.WriteString("</g>\n")
	}
	return b.String() + "</svg>\n"
}

func percent(at, of time.Duration) string {
	if at == 0 {
		return "0.01%"
	}
	return fmt.Sprintf("%.2f%%", 100*at.Seconds()/of.Seconds())
}

// spans is a line of a terminal as the text of a picture.
func spans(line string) string {
	var b strings.Builder
	weight, colour := "", ""
	put := func(text string) {
		switch class := strings.TrimSpace(weight + " " + colour); {
		case text == "":
		case class == "":
			b.WriteString(html.EscapeString(text))
		default:
			fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, class, html.EscapeString(text))
		}
	}
	at := 0
	for _, m := range sgrRE.FindAllStringSubmatchIndex(line, -1) {
		put(line[at:m[0]])
		at = m[1]
		for _, p := range strings.Split(line[m[2]:m[3]], ";") {
			switch look := looks[p]; {
			case p == "" || p == "0":
				weight, colour = "", ""
			case p == "22":
				weight = ""
			case p == "39":
				colour = ""
			case look == "b" || look == "d":
				weight = look
			case look != "":
				colour = look
			}
		}
	}
	put(strings.TrimRight(line[at:], " "))
	return b.String()
}

// said is the text of a picture, a line each.
func said(t *testing.T, picture string) string {
	t.Helper()
	var b strings.Builder
	within := 0
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		must(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "text" || within > 0 {
				within++
			}
		case xml.CharData:
			if within > 0 {
				b.Write(token)
			}
		case xml.EndElement:
			if within > 0 {
				within--
			}
			if token.Name.Local == "text" {
				b.WriteByte('\n')
			}
		}
	}
}
