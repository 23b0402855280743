package term

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// ColorMode is the value of the flag --color.
type ColorMode string

// The values of --color.
const (
	colorAuto   ColorMode = "auto"
	colorAlways ColorMode = "always"
	colorNever  ColorMode = "never"
)

// ParseColorMode reads the value of --color.
func ParseColorMode(s string) (ColorMode, error) {
	switch m := ColorMode(s); m {
	case colorAuto, colorAlways, colorNever:
		return m, nil
	}
	return "", fmt.Errorf("term: color %q: want auto, always or never", s)
}

// SetColor decides about colour, for Out and Err apart. The flag wins; then a
// non-empty NO_COLOR turns it off, CLICOLOR_FORCE (neither empty nor 0) turns it
// on, TERM=dumb turns it off, and otherwise a stream has colour when it is a
// terminal.
func (s *Streams) SetColor(m ColorMode) {
	force := s.getenv("CLICOLOR_FORCE")
	switch {
	case m == colorAlways:
		s.colorOut, s.colorErr = true, true
	case m == colorNever, s.getenv("NO_COLOR") != "":
		s.colorOut, s.colorErr = false, false
	case force != "" && force != "0":
		s.colorOut, s.colorErr = true, true
	case s.getenv("TERM") == "dumb":
		s.colorOut, s.colorErr = false, false
	default:
		s.colorOut, s.colorErr = s.OutTTY, s.ErrTTY
	}
}

// ColorOut reports whether Out has colour.
func (s *Streams) ColorOut() bool { return s.colorOut }

// Style is a meaning that has a look. Colour never carries meaning alone: the
// text reads the same without it.
type Style byte

// The styles. Plain is the zero value and changes nothing.
const (
	Plain Style = iota
	Added
	Removed
	AddedSpan   // the part of an added line that differs
	RemovedSpan // the part of a removed line that differs
	Hunk
	ID
	Dim
	Warn
	Error
	Bold
	Selected // what a key acts on, on a screen
	hues     // the first of those that Hue gives; each but tells names apart
)

// hueColors are those that are no other style's.
var hueColors = [...]string{"34", "35", "94", "95", "96"}

// Hue is a style for a name: the same one everywhere, and mostly another one for another name.
func Hue(name string) Style {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return hues + Style(h.Sum32()%uint32(len(hueColors)))
}

// sgr holds the parameters of the escape sequence that turns a style on.
var sgr = [...]string{
	Plain:       "",
	Added:       "32",
	Removed:     "31",
	AddedSpan:   "7;32",
	RemovedSpan: "7;31",
	Hunk:        "36",
	ID:          "33",
	Dim:         "2",
	Warn:        "1;33",
	Error:       "1;31",
	Bold:        "1",
	Selected:    "7",
}

// Styled returns text as Out shows it in style st.
func (s *Streams) Styled(st Style, text string) string { return paint(s.colorOut, st, text) }

// StyledErr returns text as Err shows it in style st.
func (s *Streams) StyledErr(st Style, text string) string { return paint(s.colorErr, st, text) }

// paint styles every line by itself: a pager that shows a middle part of the
// text, or a line that is cut, then never leaves a style turned on.
func paint(on bool, st Style, text string) string {
	code := ""
	switch {
	case int(st) < len(sgr):
		code = sgr[st]
	case int(st-hues) < len(hueColors):
		code = hueColors[st-hues]
	}
	if !on || code == "" || text == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, hadEOL := strings.CutSuffix(line, "\n")
		if body != "" {
			b.WriteString("\x1b[" + code + "m" + body + "\x1b[0m")
		}
		if hadEOL {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
