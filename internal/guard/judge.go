package guard

import (
	"path/filepath"
	"slices"
	"strings"
)

// A judge looks at the commands of one tool call.
type judge struct {
	Context
	cwd string
}

const maxNested = 8 // scripts in scripts

// script judges a shell's script.
func (j *judge) script(text string, depth int) string {
	if depth > maxNested {
		return ""
	}
	var cmd []string
	words := split(text)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !w.op {
			cmd = append(cmd, w.text)
			continue
		}
		if is, into := isRedirection(w.text); is {
			if i+1 < len(words) && !words[i+1].op {
				i++
				toFile := !strings.HasSuffix(w.text, "&") || !isDigits(words[i].text) // else to an open one
				if into && toFile && j.inStore(words[i].text) {
					return "it would write into rewind's store (" + words[i].text + "), which only rewind may"
				}
			}
			continue
		}
		if why := j.words(cmd, depth); why != "" {
			return why
		}
		cmd = nil
	}
	return j.words(cmd, depth)
}

// words judges one command.
func (j *judge) words(cmd []string, depth int) string {
	cmd = bare(cmd)
	if len(cmd) == 0 {
		return ""
	}
	name, args := program(cmd[0]), cmd[1:]
	for _, text := range scripts(name, args) {
		if why := j.script(text, depth+1); why != "" {
			return why
		}
	}
	switch name {
	case "cd", "pushd":
		if len(args) > 0 {
			j.cwd = j.resolve(args[len(args)-1])
		}
		return ""
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish":
		return ""
	case "rewind":
		return j.rewind(args, depth)
	case "rewindd": // it takes any request on its standard input
		if len(args) > 0 && args[0] == "serve" {
			return "it would run 'rewindd serve', which is rewind's own to run"
		}
		return ""
	case "find":
		for i, a := range args {
			if oneOf(a, "-exec", "-execdir", "-ok", "-okdir") {
				if why := j.words(args[i+1:], depth+1); why != "" {
					return why
				}
			}
		}
	}
	return j.written(name, args)
}

// written judges what a command writes.
func (j *judge) written(name string, args []string) string {
	for _, a := range writes(name, args) {
		if j.inStore(a) || removes(name) && j.holdsStore(a) {
			return "it would write into rewind's store (" + a + "), which only rewind may"
		}
	}
	return ""
}

func program(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	return strings.TrimSuffix(word, ".exe")
}

func isAssignment(w string) bool {
	i := strings.IndexByte(w, '=')
	return i > 0 && strings.Trim(w[:i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func oneOf(s string, list ...string) bool {
	for _, l := range list {
		if s == l {
			return true
		}
	}
	return false
}

// inPlace reports whether a word has sed, perl or awk change their files.
func inPlace(a string) bool {
	return strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in-place") || strings.HasPrefix(a, "-pi")
}

// writes gives the words of a command that it may write to; nil: it is not known to write.
func writes(name string, args []string) []string {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "mv", "cp", "ln", "touch", "truncate", "mkdir", "chmod", "chown", "chgrp", "tee", "install",
		"rsync", "dd", "tar",
		"unzip", "patch", "vi", "vim", "nano", "ed", "ex", "trash", "sqlite3":
	case "sed", "perl", "awk", "gawk":
		if !slices.ContainsFunc(args, inPlace) {
			return nil
		}
	case "find":
		deletes := func(a string) bool { return oneOf(a, "-delete", "-exec", "-execdir", "-ok") }
		if !slices.ContainsFunc(args, deletes) {
			return nil
		}
	default:
		return nil
	}
	if name == "cp" || name == "rsync" || name == "install" { // the last word is written
		return args[max(0, len(args)-1):]
	}
	out := make([]string, 0, len(args))
	for _, a := range args {
		if i := strings.IndexByte(a, '='); i > 0 && !strings.Contains(a[:i], "/") { // of=..., --file=...
			a = a[i+1:]
		}
		if a != "" && a[0] != '-' {
			out = append(out, a)
		}
	}
	return out
}

// removes tells whether a command takes a directory away with all in it.
func removes(name string) bool { return oneOf(name, "rm", "mv", "shred", "trash", "find") }

// expand resolves the variables and the tilde that a shell would.
func (j *judge) expand(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = j.User + path[1:]
	}
	for _, v := range []struct{ name, value string }{{"REWIND_HOME", j.Home}, {"HOME", j.User}, {"PWD", j.cwd}} {
		for _, form := range []string{"${" + v.name + "}", "$" + v.name} {
			if strings.HasPrefix(path, form) && v.value != "" {
				path = v.value + path[len(form):]
			}
		}
	}
	return path
}

func (j *judge) resolve(path string) string {
	if path = j.expand(path); path == "" {
		return j.cwd
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(j.cwd, path)
	}
	return filepath.Clean(path)
}

// marker is the directory of a project's own, and of its store in project mode.
const marker = "/.agent/rewind"

// inStore tells whether a path is rewind's own directory, the marker of a project, or in one of these.
func (j *judge) inStore(path string) bool {
	path = j.resolve(strings.TrimRight(path, "*"))
	for range 2 {
		slashed := strings.ToLower(filepath.ToSlash(path)) + "/"
		if within(path, j.Home) || strings.Contains(slashed, marker+"/") {
			return true
		}
		if j.Links == nil {
			return false
		}
		path = j.Links(path)
	}
	return false
}

// holdsStore tells whether a directory has rewind's own in it, or is a project's .agent.
func (j *judge) holdsStore(path string) bool {
	path = j.resolve(strings.TrimRight(path, "*"))
	return within(j.Home, path) || strings.HasSuffix(strings.ToLower(filepath.ToSlash(path)), "/.agent")
}

func within(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path,
		strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator)))
}
