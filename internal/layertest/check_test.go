package layertest

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// pkg is one package of the module: its files that are not tests, for every
// operating system.
type pkg struct {
	path    string              // relative to the module
	imports map[string][]string // import path to the files that name it
	calls   map[string][]string // "os.Exit" to the files that mention it
	inits   []string            // files with a func init
}

// below reports whether p is root or inside of it.
func below(p, root string) bool {
	return root == "" || p == root || strings.HasPrefix(p, root+"/")
}

// checkTable holds packages against the table and returns the breaches.
func checkTable(rows []row, pkgs []pkg, later map[string]bool) []string {
	may, err := allowed(rows)
	if err != nil {
		return []string{"DESIGN.md, the table of packages: " + err.Error()}
	}
	var bad []string
	exists := map[string]bool{}
	for _, p := range pkgs {
		exists[p.path] = true
		host, helper := p.path, false
		for _, h := range testHelpers {
			if h.path == p.path {
				host, helper = h.host, true
			}
		}
		if below(p.path, "bench") {
			host = "bench"
			exists[host] = true
		}
		list, known := may[host]
		if !known && !helper {
			bad = append(bad, fmt.Sprintf("%s: not in the table of packages in DESIGN.md", p.path))
			continue
		}
		for imported, files := range p.imports {
			ours, ok := strings.CutPrefix(imported, module+"/")
			switch {
			case !ok, slices.Contains(list, ours), helper && ours == host, host == "bench":
			case slices.ContainsFunc(testHelpers,
				func(h struct{ path, host, why string }) bool { return h.path == ours }):
				if !helper {
					bad = append(bad, fmt.Sprintf("%s (%s): imports %s, which is for tests", p.path, files[0], ours))
				}
			default:
				bad = append(bad,
					fmt.Sprintf("%s (%s): imports %s; the table in DESIGN.md allows: %s", p.path, files[0], ours,
						listed(list)))
			}
		}
	}
	for _, r := range rows {
		bad = append(bad, presence(r.path, exists[r.path], later, "is in the table of DESIGN.md")...)
	}
	for _, h := range testHelpers {
		bad = append(bad, presence(h.path, exists[h.path], later, "is a test helper")...)
	}
	return sorted(bad)
}

func presence(path string, exists bool, later map[string]bool, what string) []string {
	switch {
	case exists && later[path]:
		return []string{path + ": exists by now: take it out of later"}
	case !exists && !later[path]:
		return []string{path + ": " + what + " and does not exist"}
	}
	return nil
}

// checkImports holds packages against the bans. requires says whether go.mod
// knows an import path; the standard library is always known.
func checkImports(bans []importBan, pkgs []pkg, later map[string]bool, requires func(string) bool) []string {
	var bad []string
	exists := map[string]bool{}
	for _, p := range pkgs {
		exists[p.path] = true
		for imported, files := range p.imports {
			for _, ban := range bans {
				if !below(imported, ban.path) ||
					slices.ContainsFunc(ban.only, func(o string) bool { return below(p.path, o) }) {
					continue
				}
				bad = append(bad, fmt.Sprintf("%s (%s): imports %s: %s", p.path, files[0], imported, ban.why))
			}
			helper := slices.ContainsFunc(testHelpers,
				func(h struct{ path, host, why string }) bool { return h.path == p.path })
			if below(imported, testingPath) && !helper && !below(p.path, "bench") {
				bad = append(bad, fmt.Sprintf("%s (%s): imports %s: %s", p.path, files[0], imported, testingWhy))
			}
		}
	}
	for _, ban := range bans {
		if !requires(ban.path) {
			bad = append(bad, fmt.Sprintf("ban on %s: nothing requires it any more", ban.path))
		}
		for _, o := range ban.only {
			if !exists[o] && !later[o] {
				bad = append(bad, fmt.Sprintf("ban on %s: %s does not exist", ban.path, o))
			}
		}
	}
	return sorted(bad)
}

// checkWalls holds what programs link against the walls.
func checkWalls(walls []wall, pkgs []pkg) []string {
	var bad []string
	imports := map[string]map[string][]string{}
	for _, p := range pkgs {
		imports[p.path] = p.imports
	}
	for _, w := range walls {
		if imports[w.program] == nil {
			bad = append(bad, fmt.Sprintf("wall around %s: it does not exist", w.program))
		}
		for _, n := range w.never {
			if imports[n] == nil {
				bad = append(bad, fmt.Sprintf("wall around %s: %s does not exist", w.program, n))
			}
		}
		way := map[string]string{w.program: w.program} // how a package is reached
		for queue := []string{w.program}; len(queue) > 0; queue = queue[1:] {
			for imported := range imports[queue[0]] {
				ours, ok := strings.CutPrefix(imported, module+"/")
				if !ok || way[ours] != "" {
					continue
				}
				way[ours] = way[queue[0]] + " -> " + ours
				queue = append(queue, ours)
				if slices.ContainsFunc(w.never, func(n string) bool { return below(ours, n) }) {
					bad = append(bad, fmt.Sprintf("%s: %s", way[ours], w.why))
				}
			}
		}
	}
	return sorted(bad)
}

// checkCalls holds packages against the forbidden functions, and against init.
func checkCalls(bans []callBan, pkgs []pkg, later map[string]bool, fileExists func(string) bool) []string {
	var bad []string
	for _, p := range pkgs {
		for _, file := range p.inits {
			bad = append(bad,
				fmt.Sprintf("%s: func init: what a program does at its start is written in main, in order", file))
		}
		for _, ban := range bans {
			if !slices.ContainsFunc(ban.in, func(root string) bool { return below(p.path, root) }) {
				continue
			}
			for _, f := range ban.funcs {
				for _, file := range p.calls[f] {
					if _, ok := ban.but[file]; !ok {
						bad = append(bad, fmt.Sprintf("%s: %s: %s", file, f, ban.replace))
					}
				}
			}
		}
	}
	for _, ban := range bans {
		for file := range ban.but {
			dir := file[:strings.LastIndex(file, "/")]
			if !fileExists(file) && !later[dir] {
				bad = append(bad, fmt.Sprintf("exception for %s: the file does not exist", file))
			}
		}
	}
	return sorted(bad)
}

func listed(list []string) string {
	if len(list) == 0 {
		return "nothing of ours"
	}
	return strings.Join(list, ", ")
}

func sorted(list []string) []string {
	sort.Strings(list)
	return list
}
