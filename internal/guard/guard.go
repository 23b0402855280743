// Package guard judges a tool call of an agent: would it run a command of rewind that a person should run, or write
// into a store?
//
// It is a guard rail and no sandbox. It reads a command line as it is written: what a variable, an alias, a script or
// an encoding hides goes by. What it cannot read it lets pass. Pure over bytes, but for links that are followed. It
// links next to nothing: the hook client has it.
package guard

import "strings"

// A Context is what the judgement depends on besides the payload.
type Context struct {
	Home  string                   // rewind's own directory, absolute
	User  string                   // the user's home directory; "": unknown
	Cwd   string                   // of the process, where the payload has none
	Links func(path string) string // follows links of what is there of a path; nil: none are followed
}

// MaxPayload is how many bytes of a payload are read; a longer one is let pass.
const MaxPayload = 4 << 20

// Check gives the reason why a tool call is to be refused; "": it is not.
func Check(payload []byte, p Context) string {
	c, ok := parseCall(payload)
	if !ok {
		return ""
	}
	if c.cwd == "" {
		c.cwd = p.Cwd
	}
	j := judge{Context: p, cwd: c.cwd}
	if isEditor(c.tool) {
		for _, path := range c.paths {
			if j.inStore(path) {
				return "it would write into rewind's store (" + path + "), which only rewind may"
			}
		}
		for _, text := range c.commands { // patches
			for _, path := range patched(text) {
				if j.inStore(path) {
					return "it would write into rewind's store (" + path + "), which only rewind may"
				}
			}
		}
		return ""
	}
	if len(c.words) > 0 {
		if why := j.words(c.words, 0); why != "" {
			return why
		}
	}
	for _, text := range c.commands {
		if why := j.script(text, 0); why != "" {
			return why
		}
	}
	return ""
}

// isEditor tells whether a tool writes the files that its input names. A tool that only reads them may read a store.
func isEditor(tool string) bool {
	switch tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit", "Create", "ApplyPatch", "apply_patch", "write_file", "replace":
		return true
	}
	return false
}

// patched gives the files that a patch of Codex's form names.
func patched(text string) (paths []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if path, ok := strings.CutPrefix(line, head); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}
