package layertest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// row is one line of the table of packages in DESIGN.md, under "The house".
type row struct {
	floor   int
	path    string
	imports string // the last column as it is written
}

// parseTable reads the table whose heading begins with "floor" and "package".
func parseTable(design string) ([]row, error) {
	var rows []row
	in := false
	for line := range strings.Lines(design) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if in {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !in {
			in = len(cells) == 4 && cells[0] == "floor" && cells[1] == "package"
			continue
		}
		if strings.HasPrefix(cells[0], "--") {
			continue
		}
		if len(cells) != 4 {
			return nil, fmt.Errorf("%d cells in %q", len(cells), line)
		}
		floor, err := strconv.Atoi(cells[0])
		if err != nil {
			return nil, fmt.Errorf("floor of %q: %w", line, err)
		}
		name := strings.Trim(cells[1], "`")
		if "`"+name+"`" != cells[1] {
			return nil, fmt.Errorf("the package in %q is not in backticks", line)
		}
		rows = append(rows, row{floor, name, cells[3]})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no table of floors")
	}
	return rows, nil
}

var floorsRE = regexp.MustCompile(`^floors (\d+)-(\d+)(?: but (.+))?$`)

// allowed returns the packages that each row may import.
func allowed(rows []row) (map[string][]string, error) {
	out := map[string][]string{}
	for _, r := range rows {
		list, err := r.allowed(rows)
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", r.path, err)
		}
		for _, p := range list {
			i := slices.IndexFunc(rows, func(o row) bool { return o.path == p })
			if rows[i].floor > r.floor || p == r.path {
				return nil, fmt.Errorf("row %s: %s is on floor %d", r.path, p, rows[i].floor)
			}
		}
		if _, twice := out[r.path]; twice {
			return nil, fmt.Errorf("row %s: twice", r.path)
		}
		out[r.path] = list
	}
	return out, nil
}

func (r row) allowed(rows []row) ([]string, error) {
	if r.imports == "-" {
		return nil, nil
	}
	if m := floorsRE.FindStringSubmatch(r.imports); m != nil {
		low, _ := strconv.Atoi(m[1])
		high, _ := strconv.Atoi(m[2])
		but := ""
		if m[3] != "" {
			var err error
			if but, err = resolve(rows, m[3]); err != nil {
				return nil, err
			}
		}
		return pathsWhere(rows, func(o row) bool {
			return low <= o.floor && o.floor <= high && o.path != but && o.path != r.path
		}), nil
	}
	if r.imports == "anything" {
		return pathsWhere(rows, func(o row) bool { return o.path != r.path }), nil
	}
	var list []string
	for name := range strings.SplitSeq(r.imports, ",") {
		// "engine's value types" is a promise about what is used of it.
		name, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(name), "`"), "'s ")
		p, err := resolve(rows, name)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func pathsWhere(rows []row, ok func(row) bool) []string {
	var list []string
	for _, r := range rows {
		if ok(r) {
			list = append(list, r.path)
		}
	}
	return list
}

// resolve finds a package by its path or by the last part of it.
func resolve(rows []row, name string) (string, error) {
	for _, r := range rows {
		if r.path == name || path.Base(r.path) == name {
			return r.path, nil
		}
	}
	return "", fmt.Errorf("no package %q in the table", name)
}
