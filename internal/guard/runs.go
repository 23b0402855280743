package guard

import "strings"

// A wrapper is a program that runs the command which stands behind its options.
type wrapper struct {
	valued   string // its options that have a value in the next word
	operands int    // words before the command
}

// ofSandboxes are the options with a value of programs that shut others in.
const ofSandboxes = "-u -p -M -H -E --unit --property --machine --setenv"

// wrappers are programs, and words of the shell, that run what stands behind them.
var wrappers = map[string]wrapper{
	"!": {}, "{": {}, "if": {}, "then": {}, "else": {}, "elif": {}, "do": {}, "while": {}, "until": {},
	"command": {}, "builtin": {}, "nohup": {}, "setsid": {}, "coproc": {}, "unbuffer": {},
	"busybox": {}, "toybox": {}, "caffeinate": {},
	"exec": {valued: "-a"},
	"time": {valued: "-f -o --format --output"},
	"env":  {valued: "-u -C --unset --chdir"},
	"sudo": {valued: "-u -g -h -p -C -T -R -D -U -r -t --user --group --host --prompt --close-from --chroot --chdir --role " +
		"--type --command-timeout --other-user"},
	"doas":             {valued: "-u -C"},
	"nice":             {valued: "-n --adjustment"},
	"ionice":           {valued: "-c -n --class --classdata"},
	"stdbuf":           {valued: "-i -o -e --input --output --error"},
	"strace":           {valued: "-e -o -s -u -p -a -E -P -S -X -I -O -b"},
	"ltrace":           {valued: "-e -o -s -u -p -a -E -P -S -X -I -O -b"},
	"xargs":            {valued: "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars"},
	"parallel":         {valued: "-a -j -I -n -N -d --jobs --arg-file --delimiter --colsep --joblog --results"},
	"timeout":          {valued: "-k -s --kill-after --signal", operands: 1},
	"chrt":             {operands: 1},
	"taskset":          {operands: 1},
	"flock":            {valued: "-w -E --timeout --wait --conflict-exit-code", operands: 1},
	"chroot":           {operands: 1},
	"systemd-run":      {valued: ofSandboxes},
	"systemd-inhibit":  {valued: ofSandboxes},
	"dbus-run-session": {valued: ofSandboxes},
	"firejail":         {valued: ofSandboxes},
	"bwrap":            {valued: ofSandboxes},
	"unshare":          {valued: ofSandboxes},
	"nsenter":          {valued: ofSandboxes},
}

// bare takes off what stands before the program: assignments, words of the shell, programs that run another.
func bare(cmd []string) []string {
	for len(cmd) > 0 {
		if isAssignment(cmd[0]) {
			cmd = cmd[1:]
			continue
		}
		w, ok := wrappers[program(cmd[0])]
		if !ok {
			return cmd
		}
		rest := w.behind(cmd[1:])
		if len(scripts(program(cmd[0]), cmd[1:])) > 0 { // what it runs is a text in its options
			return cmd
		}
		cmd = rest
	}
	return nil
}

// behind takes off a wrapper's options, and its operands.
func (w wrapper) behind(cmd []string) []string {
	for len(cmd) > 0 && strings.HasPrefix(cmd[0], "-") { // "-" alone is an option of env
		o := cmd[0]
		if cmd = cmd[1:]; o == "--" {
			break
		}
		if len(cmd) > 0 && oneOf(o, strings.Fields(w.valued)...) {
			cmd = cmd[1:]
		}
	}
	return cmd[min(w.operands, len(cmd)):]
}

// scripts gives the texts among the arguments of a program that a shell, or the program, runs as a command line.
func scripts(name string, args []string) (texts []string) {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish":
		for i, a := range args {
			if isShort(a) && strings.Contains(a, "c") && i+1 < len(args) {
				return []string{args[i+1]}
			}
		}
	case "eval":
		return []string{strings.Join(args, " ")}
	case "watch":
		return []string{strings.Join(wrapper{valued: "-n --interval"}.behind(args), " ")}
	case "trap":
		return args[:min(1, len(args))]
	case "env":
		return valuesOf(args, "S", "split-string")
	case "script", "su", "runuser", "flock":
		return valuesOf(args, "c", "command")
	}
	return nil
}

func isShort(a string) bool { return len(a) > 1 && a[0] == '-' && a[1] != '-' }

// valuesOf gives the values of an option, in the forms "-c x", "-qc x", "-cx", "--command x" and "--command=x".
func valuesOf(args []string, letter, long string) (out []string) {
	for i, a := range args {
		next := args[min(i+1, len(args)):]
		next = next[:min(1, len(next))]
		switch at := strings.Index(a, letter); {
		case a == "--"+long, isShort(a) && at == len(a)-1:
			out = append(out, next...)
		case strings.HasPrefix(a, "--"+long+"="):
			out = append(out, a[len(long)+3:])
		case isShort(a) && at == 1:
			out = append(out, a[2:])
		}
	}
	return out
}
