package transcript

import (
	"bytes"
	"strings"

	"rewind/internal/jsonscan"
)

// command makes the text of a prompt that was given as a command, which Claude writes in tags, what the person typed: "/review 158". Any other text
// stays as it is.
func command(says *jsonscan.Text) {
	if !bytes.HasPrefix(bytes.TrimLeft(says.B, " \t\r\n"), []byte("<command-message>")) {
		return
	}
	name, ok := tagged(says.B, "command-name")
	if !ok || name == "" {
		return
	}
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	if args, ok := tagged(says.B, "command-args"); ok && args != "" {
		name += " " + args
	}
	says.B = append(says.B[:0], name...)
}

// tagged is what stands in a tag, up to the end of the text if that does not close it: it may have been cut.
func tagged(text []byte, tag string) (string, bool) {
	_, rest, ok := bytes.Cut(text, []byte("<"+tag+">"))
	if !ok {
		return "", false
	}
	inner, _, _ := bytes.Cut(rest, []byte("</"+tag+">"))
	return string(bytes.TrimSpace(inner)), true
}
