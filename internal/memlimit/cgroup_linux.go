package memlimit

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const (
	membership = "proc/self/cgroup"
	mounts     = "proc/self/mountinfo"
	// maxFile bounds each file that is read; /proc/self/mountinfo of a machine with many containers is the longest.
	maxFile = 4 << 20
	// unbounded is from where on a number of the first version stands for no bound: it has one always, of 2^63 less a
	// page.
	unbounded = 1 << 60
)

// A hierarchy is one way by which the kernel bounds memory: the second version of cgroups, or the first.
type hierarchy struct {
	bounds []string // files of a group's that have its bounds in bytes
	kills  string   // the file that counts kills, in a line "oom_kill <n>"
}

var (
	version2 = hierarchy{[]string{"memory.max", "memory.high"}, "memory.events"}
	version1 = hierarchy{[]string{"memory.limit_in_bytes"}, "memory.oom_control"}
)

// at reads the bounds on a file system, whose root is that of the machine.
func at(root fs.FS) Limit {
	var out Limit
	groups, where := read(root, membership), read(root, mounts)
	for line := range strings.Lines(groups) { // hierarchy:controllers:path
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			out.add(version2.look(root, mounted(where, "cgroup2", ""), parts[2]))
		case contains(parts[1], "memory"):
			out.add(version1.look(root, mounted(where, "cgroup", "memory"), parts[2]))
		}
	}
	return out
}

// add takes in what another hierarchy says: a machine may have both, of which one has the memory.
func (l *Limit) add(more Limit) {
	if more.Bytes > 0 && (l.Bytes == 0 || more.Bytes < l.Bytes) {
		l.Bytes = more.Bytes
	}
	l.Kills = max(l.Kills, more.Kills)
}

// A mount is where a hierarchy is seen, and which of its groups that is: in a container often not the topmost.
type mount struct{ point, root string }

// mounted are the mounts of a type with a controller among their options, "" for any.
func mounted(info, kind, controller string) []mount {
	var out []mount
	for line := range strings.Lines(info) { // id parent major:minor root point options [tags] - type source options
		before, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(head) < 5 || len(tail) < 3 {
			continue
		}
		if tail[0] == kind && (controller == "" || contains(tail[2], controller)) {
			out = append(out, mount{point: unescape(head[4]), root: unescape(head[3])})
		}
	}
	return out
}

// look reads a group and every one above it that can be seen: each bounds all below it.
func (h hierarchy) look(root fs.FS, list []mount, group string) Limit {
	var out Limit
	for _, m := range list {
		below, ok := within(m.root, group)
		if !ok {
			continue
		}
		for first := true; ; first = false {
			dir := strings.TrimPrefix(path.Join(m.point, below), "/")
			for _, name := range h.bounds {
				out.add(Limit{Bytes: bound(read(root, path.Join(dir, name)))})
			}
			if first {
				out.Kills = max(out.Kills, counted(read(root, path.Join(dir, h.kills))))
			}
			if below == "/" {
				break
			}
			below = path.Dir(below)
		}
	}
	return out
}

// within is a group as it is named below the one that a mount shows. A name that leads upwards is of a process outside
// of this container, whose group cannot be seen: then the one that is shown counts.
func within(top, group string) (below string, ok bool) {
	group = path.Clean("/" + group)
	switch {
	case strings.HasPrefix(top, "/.."):
		return "/", true
	case top == "/" || top == group:
		return path.Clean("/" + strings.TrimPrefix(group, top)), true
	case strings.HasPrefix(group, top+"/"):
		return strings.TrimPrefix(group, top), true
	case group == "/": // a namespace of groups: its own is the topmost
		return "/", true
	}
	return "", false
}

// bound is a number of bytes; 0 for "max", for what stands for no bound, and for what is none.
func bound(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || n >= unbounded {
		return 0
	}
	return n
}

func counted(text string) int64 {
	for line := range strings.Lines(text) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			v, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
			return v
		}
	}
	return 0
}

func contains(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// unescape puts back the characters that mountinfo writes as octal numbers.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

func read(root fs.FS, name string) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	var b strings.Builder
	buf := make([]byte, 4096)
	for b.Len() < maxFile {
		n, err := f.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			break
		}
	}
	return b.String()
}
