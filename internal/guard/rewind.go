package guard

import "strings"

// harmless are the commands of rewind that take nothing back and remove nothing, whatever stands behind them but what
// destroys names. Any other word is refused, for it may be an alias of the user's.
var harmless = []string{
	"save", "list", "show", "diff", "compare", "cat", "tag", "grep", "blame", "bisect", "ops", "events", "fork", "clone",
	"turns", "sessions", "forks", "tree", "future", "init", "stores", "status", "validate", "doctor", "verify", "config", "daemon",
	"man", "mcp", "hook", "version", "help",
	"worktrees", "completion", "agents", "checkpoints", "environment", "exit-codes",
}

// rewind judges the arguments of rewind. What only looks, or is only tried, passes.
func (j *judge) rewind(args []string, depth int) string {
	word, ok := commandWord(args)
	if !ok {
		return ""
	}
	asks := word == "" || word == "help" || strings.HasPrefix(word, "__complete")
	if _, known := below("", word); !known && !asks {
		return refusal(word) // an alias, whatever stands behind it
	}
	l := read(args)
	if l.command == "" || l.broken || l.on("help") {
		return ""
	}
	if oneOf(l.command, "bisect run", "bisect last-good") { // a command that it runs
		return j.words(l.words, depth+1)
	}
	if l.on("dry-run") || !destroys(l) {
		return ""
	}
	return refusal(l.command)
}

func refusal(command string) string {
	return "it would run 'rewind " + command + "', which is the user's to run: ask for it"
}

// destroys reports whether a command takes something back or removes something.
func destroys(l *line) bool {
	first, _, _ := strings.Cut(l.command, " ")
	switch l.command {
	case "init":
		return l.on("remove") || l.on("adopt")
	case "fork":
		return l.on("checkout")
	case "verify":
		return l.on("repair")
	case "config":
		sets := len(l.words) > 1 || l.on("unset")
		return sets || l.on("unregister-hooks") || l.flags["tier"] != ""
	case "stores join", "stores remove", "worktrees remove", "forks delete", "forks prune", "daemon stop":
		return true
	}
	return !oneOf(first, harmless...)
}

// commandWord is the word in which rewind looks for a command, or else for an alias of the user's; not ok: there is
// none.
func commandWord(args []string) (word string, ok bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return "", false
		case oneOf(a, "-C", "--directory", "--color"): // with a value
			i++
		case !strings.HasPrefix(a, "-"):
			return a, true
		}
	}
	return "", false
}
