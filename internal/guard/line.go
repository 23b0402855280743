package guard

import (
	"strconv"
	"strings"
)

// A line is a command line of rewind, read as the program itself reads it.
type line struct {
	command string            // its path by full names: "stores remove"; "": none
	words   []string          // what stands behind the command and is no flag
	flags   map[string]string // by full name, the last value of each
	broken  bool              // the program refuses it: a flag that the command has not, or one without its value
}

// on reports whether a flag that is true or false is true.
func (l *line) on(flag string) bool {
	on, err := strconv.ParseBool(l.flags[flag])
	return err == nil && on
}

// syntax is what a command takes: a line of the grammar.
type syntax struct {
	path    string
	aliases []string
	flags   []string // full name, then "," and the letter, then "=" if a value has to follow
	first   bool     // behind the first word nothing is a flag
}

// entries are the lines of the grammar, the program's own first.
func entries() []string {
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(grammar, "\n  ", " ")), "\n")
}

// parseSyntax reads "path (alias alias): flags", with "--" as the last flag where first is set.
func parseSyntax(line string) (s syntax) {
	head, flags, _ := strings.Cut(line, ":")
	if i := strings.IndexByte(head, '('); i >= 0 {
		s.aliases = strings.Fields(strings.Trim(head[i:], "()"))
		head = strings.TrimSpace(head[:i])
	}
	s.path, s.flags = head, strings.Fields(flags)
	if n := len(s.flags); n > 0 && s.flags[n-1] == "--" {
		s.first, s.flags = true, s.flags[:n-1]
	}
	return s
}

// below finds the command that a word names below another; the program itself has the path "".
func below(path, word string) (syntax, bool) {
	all := entries()
	every, _, _ := strings.Cut(all[0], "|")
	for _, entry := range all[1:] {
		name := entry
		if path != "" {
			var ok bool
			if name, ok = strings.CutPrefix(entry, path+" "); !ok {
				continue
			}
		}
		if name = name[:strings.IndexAny(name, " :")]; name != word && !strings.Contains(entry, "(") {
			continue
		}
		s := parseSyntax(entry)
		if s.path == strings.TrimSpace(path+" "+name) && (name == word || oneOf(word, s.aliases...)) {
			s.flags = append(s.flags, parseSyntax(every).flags...)
			return s, true
		}
	}
	return syntax{}, false
}

// named gives a flag's full name, and whether a value has to follow. letter: it is named by its letter.
func (s *syntax) named(name string, letter bool) (full string, valued, ok bool) {
	for _, f := range s.flags {
		f, valued = strings.CutSuffix(f, "=")
		long, short, _ := strings.Cut(f, ",")
		called := long
		if letter {
			called = short
		}
		if called == name {
			return long, valued, true
		}
	}
	return "", false, false
}

// takesNext reports whether a word that begins with a dash takes the next one with it, as cobra has it where it looks
// for the command: a flag that the command found so far has not does, too.
func (s *syntax) takesNext(word string) bool {
	if strings.Contains(word, "=") {
		return false
	}
	name, letter := strings.TrimPrefix(word, "--"), false
	if name == word {
		if name, letter = word[1:], true; len(name) != 1 {
			return false
		}
	}
	full, valued, ok := s.named(name, letter)
	return valued || !ok || full == "help" // which cobra adds when it has found the command
}

// read reads the arguments of rewind.
func read(args []string) *line {
	s := parseSyntax(strings.Replace(entries()[0], " |", "", 1))
	for {
		at := s.command(args)
		if at < 0 {
			break
		}
		next, ok := below(s.path, args[at])
		if !ok {
			break
		}
		s, args = next, append(append([]string(nil), args[:at]...), args[at+1:]...)
	}
	l := &line{command: s.path, flags: map[string]string{}}
	l.parse(&s, args)
	return l
}

// command is where the word that could name a command stands; -1: there is none. Cobra leaves out the last word behind
// a flag that wants a value.
func (s *syntax) command(args []string) int {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return -1
		case strings.HasPrefix(a, "-") && a != "-" && s.takesNext(a):
			i++
		case a != "" && a[0] != '-':
			return i
		}
	}
	return -1
}

// parse reads flags and words as pflag does.
func (l *line) parse(s *syntax, args []string) {
	for len(args) > 0 && !l.broken {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
			l.words = append(l.words, args...)
			return
		case len(a) < 2 || a[0] != '-':
			l.words = append(l.words, a)
			if s.first {
				l.words = append(l.words, args...)
				return
			}
		case a[1] == '-':
			args = l.long(s, a[2:], args)
		default:
			args = l.letters(s, a[1:], args)
		}
	}
}

// long reads "--name", "--name=value" or "--name value".
func (l *line) long(s *syntax, a string, args []string) []string {
	name, value, has := strings.Cut(a, "=")
	full, valued, ok := s.named(name, false)
	if !ok {
		l.broken = !unclear(name)
		return args
	}
	if has {
		l.set(full, value, valued)
		return args
	}
	return l.next(full, valued, args)
}

// letters reads "-n", "-nf", "-n=value", "-Cvalue" or "-C value".
func (l *line) letters(s *syntax, a string, args []string) []string {
	if strings.HasPrefix(a, "test.") { // pflag leaves those to package testing
		return args
	}
	for a != "" {
		full, valued, ok := s.named(a[:1], true)
		if !ok {
			l.broken = !unclear(a)
			return args
		}
		rest := a[1:]
		switch {
		case len(rest) > 1 && rest[0] == '=':
			l.set(full, rest[1:], valued)
			return args
		case valued && rest != "":
			l.set(full, rest, true)
			return args
		}
		args = l.next(full, valued, args)
		a = rest
	}
	return args
}

// next sets a flag without a value of its own: it is true, or has the next word.
func (l *line) next(full string, valued bool, args []string) []string {
	switch {
	case !valued:
		l.set(full, "true", false)
	case len(args) == 0:
		l.broken = true
	default:
		l.set(full, args[0], true)
		return args[1:]
	}
	return args
}

func (l *line) set(full, value string, valued bool) {
	if !valued {
		if _, err := strconv.ParseBool(value); err != nil {
			l.broken = !unclear(value)
		}
	}
	l.flags[full] = value
}

// unclear reports whether a shell may make something else of a text.
func unclear(text string) bool { return strings.ContainsAny(text, "$`*?[]{}~\\") }
