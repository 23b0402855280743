package layertest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func report(t *testing.T, bad []string) {
	t.Helper()
	for _, b := range bad {
		t.Error(b)
	}
}

func TestLayers(t *testing.T) {
	dir := root(t)
	design, err := os.ReadFile(filepath.Join(dir, "DESIGN.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parseTable(string(design))
	if err != nil {
		t.Fatalf("DESIGN.md: %v", err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	pkgs := load(t, dir)
	if len(pkgs) < 5 {
		t.Fatalf("go list knows %d packages", len(pkgs))
	}
	t.Run("table", func(t *testing.T) { report(t, checkTable(rows, pkgs, later)) })
	t.Run("imports", func(t *testing.T) {
		report(t, checkImports(importBans, pkgs, later, func(path string) bool {
			return !strings.Contains(path, ".") || strings.Contains(string(mod), "\t"+path)
		}))
	})
	t.Run("walls", func(t *testing.T) { report(t, checkWalls(append(slices.Clone(walls), rooms...), pkgs)) })
	t.Run("calls", func(t *testing.T) {
		report(t, checkCalls(callBans, pkgs, later, func(file string) bool {
			_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file)))
			return err == nil
		}))
	})
}

// The tests below feed breaches to the checks: a check that cannot fail holds
// nothing.

const sampleTable = "text\n| floor | package | one sentence | imports (ours) |\n|--|--|--|--|\n" +
	"| 0 | `internal/kv` | x | - |\n| 0 | `internal/term` | x | - |\n| 1 | `objstore` | x | kv |\n" +
	"| 3 | `engine` | x | floors 0-1 but term |\n| 4 | `api` | x | engine's value types |\n| 5 | `bench` | x | anything |\n\n" +
	"| floor | package | no | more |\n"

// file makes a package of one file.
func file(t *testing.T, path, name, source string) pkg {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p := pkg{path: path, imports: map[string][]string{}, calls: map[string][]string{}}
	p.read(path+"/"+name, f)
	return p
}

func TestParseTable(t *testing.T) {
	rows, err := parseTable(sampleTable)
	if err != nil {
		t.Fatal(err)
	}
	got, err := allowed(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"internal/kv": nil, "internal/term": nil, "objstore": {"internal/kv"},
		"engine": {"internal/kv", "objstore"}, "api": {"engine"},
		"bench": {"internal/kv", "internal/term", "objstore", "engine", "api"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, bad := range []string{
		"", "no table",
		strings.Replace(sampleTable, "| kv |", "| vk |", 1),
		strings.Replace(sampleTable, "| kv |", "| engine |", 1), // upwards
		strings.Replace(sampleTable, "| kv |", "| objstore |", 1),
		strings.Replace(sampleTable, "| 1 |", "| one |", 1),
		strings.Replace(sampleTable, "`objstore`", "objstore", 1),
		strings.Replace(sampleTable, "`objstore`", "`engine`", 1),
	} {
		rows, err := parseTable(bad)
		if err == nil {
			_, err = allowed(rows)
		}
		if err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

func TestChecksFindBreaches(t *testing.T) {
	rows, err := parseTable(sampleTable)
	if err != nil {
		t.Fatal(err)
	}
	absent := map[string]bool{}
	for _, r := range rows {
		absent[r.path] = true
	}
	for _, h := range testHelpers {
		absent[h.path] = true
	}
	for _, b := range importBans {
		for _, o := range b.only {
			absent[o] = true
		}
	}
	for _, b := range callBans {
		for f := range b.but {
			absent[f[:strings.LastIndex(f, "/")]] = true
		}
	}
	imports := func(paths ...string) string {
		return "package p\nimport (\n\"" + strings.Join(paths, "\"\n\"") + "\"\n)\n"
	}
	for _, c := range []struct {
		name string
		pkg  pkg
		want string // part of the one breach; "" for none
	}{
		{"downwards", file(t, "objstore", "a.go", imports("rewind/internal/kv")), ""},
		{
			"upwards", file(t, "objstore", "a.go", imports("rewind/engine")),
			"imports engine; the table in DESIGN.md allows: internal/kv",
		},
		{"excepted", file(t, "engine", "a.go", imports("rewind/internal/term")), "imports internal/term"},
		{"sideways", file(t, "internal/kv", "a.go", imports("rewind/internal/term")), "allows: nothing of ours"},
		{"unknown package", file(t, "internal/util", "a.go", "package p"), "internal/util: not in the table"},
		{
			"helper in production", file(t, "objstore", "a.go", imports("rewind/internal/kv/kvtest")),
			"which is for tests",
		},
		{"helper", file(t, "internal/kv/kvtest", "a.go",
			imports("rewind/internal/kv", "testing", "github.com/cockroachdb/pebble/v2/vfs")), ""},
		{
			"pebble outside", file(t, "objstore", "a.go", imports("github.com/cockroachdb/pebble/v2/vfs")),
			"use internal/kv",
		},
		{"pebble inside", file(t, "internal/kv", "a.go", imports("github.com/cockroachdb/pebble/v2")), ""},
		{"a name that only begins alike", file(t, "engine", "a.go", imports("net/httpx", "testingx")), ""},
		{"http", file(t, "engine", "a.go", imports("net/http/httptest")), "nothing speaks HTTP"},
		{"testing", file(t, "engine", "a.go", imports("testing")), "adds its flags"},
		{"testing/fstest", file(t, "engine", "a.go", imports("testing/fstest")), "adds its flags"},
		{"exit", file(t, "api", "a.go", "package p\nimport \"os\"\nfunc f() { os.Exit(1) }"), "deferred work"},
		{
			"exit, renamed import", file(t, "api", "a.go", "package p\nimport sys \"os\"\nvar f = sys.Exit"),
			"deferred work",
		},
		{"log.Fatal", file(t, "api", "a.go", "package p\nimport \"log\"\nfunc f() { log.Fatal() }"), "deferred work"},
		{
			"exit where it belongs",
			file(t, "internal/kv", "poison.go", "package p\nimport \"os\"\nfunc f() { os.Exit(1) }"), "",
		},
		{
			"removal around worktreefs",
			file(t, "engine", "a.go", "package p\nimport \"os\"\nfunc f() { os.RemoveAll(\"x\") }"),
			"worktreefs only",
		},
		{
			"removal elsewhere",
			file(t, "objstore", "a.go", "package p\nimport \"os\"\nfunc f() { os.RemoveAll(\"x\") }"), "",
		},
		{
			"removal in an excepted file",
			file(t, "engine", "remove.go", "package p\nimport \"os\"\nfunc f() { os.Remove(\"x\") }"), "",
		},
		{
			"a field of that name",
			file(t, "engine", "a.go", "package p\nfunc f() { x.Exit(1) }\nvar x struct{ Exit func(int) }"), "",
		},
		{
			"an operation by another way",
			file(t, "engine", "a.go", "package p\nfunc f() { g.log.Refs.Commit(1) }"), "use oplog.Change",
		},
		{"of a value", file(t, "engine", "a.go", "package p\nfunc f() { g.log.Change.Commit(1) }"), ""},
		{"init", file(t, "engine", "a.go", "package p\nfunc init() {}"), "func init"},
	} {
		none := map[string]bool{}
		for p := range absent {
			none[p] = p != c.pkg.path
		}
		pkgs := []pkg{c.pkg}
		bad := checkTable(rows, pkgs, none)
		bad = append(bad, checkImports(importBans, pkgs, none, func(string) bool { return true })...)
		bad = append(bad,
			checkCalls(callBans, pkgs, none, func(f string) bool { return strings.HasPrefix(f, c.pkg.path+"/") })...)
		switch {
		case c.want == "" && len(bad) == 0:
		case c.want != "" && len(bad) == 1 && strings.Contains(bad[0], c.want):
		default:
			t.Errorf("%s: %q, want %q", c.name, bad, c.want)
		}
	}
}

func TestWallsFindBreaches(t *testing.T) {
	imports := func(path string, ours ...string) pkg {
		p := pkg{path: path, imports: map[string][]string{}}
		for _, o := range ours {
			p.imports[module+"/"+o] = []string{path + "/a.go"}
		}
		return p
	}
	rule := []wall{{"cmd/x", []string{"engine", "internal/kv"}, "why"}}
	for _, c := range []struct {
		name string
		pkgs []pkg
		want string // the one breach; "" for none
	}{
		{
			"none", []pkg{
				imports("cmd/x", "api"), imports("api"), imports("engine", "internal/kv"),
				imports("internal/kv"),
			}, "",
		},
		{
			"direct",
			[]pkg{imports("cmd/x", "engine"), imports("engine"), imports("internal/kv")},
			"cmd/x -> engine: why",
		},
		{"on a way", []pkg{
			imports("cmd/x", "api"), imports("api", "internal/kv/beneath"), imports("internal/kv/beneath"),
			imports("engine"), imports("internal/kv"),
		}, "cmd/x -> api -> internal/kv/beneath: why"},
		{"stale", []pkg{imports("cmd/x"), imports("engine")}, "wall around cmd/x: internal/kv does not exist"},
	} {
		if bad := strings.Join(checkWalls(rule, c.pkgs), "; "); bad != c.want {
			t.Errorf("%s: %q, want %q", c.name, bad, c.want)
		}
	}
}

func TestStaleRulesAreBreaches(t *testing.T) {
	rows := []row{{0, "internal/kv", "-"}}
	kv := pkg{path: "internal/kv"}
	helpersLater := map[string]bool{}
	for _, h := range testHelpers {
		helpersLater[h.path] = true
	}
	with := func(path string) map[string]bool {
		m := map[string]bool{path: true}
		for p := range helpersLater {
			m[p] = true
		}
		return m
	}
	ban := []importBan{{"example.com/x", []string{"gone"}, "why"}}
	call := []callBan{{funcs: []string{"os.Exit"}, in: []string{""}, but: map[string]string{"gone/a.go": "why"}}}
	no := func(string) bool { return false }
	for name, c := range map[string]struct {
		got  []string
		want int
	}{
		"row without package":      {checkTable(rows, nil, helpersLater), 1},
		"row for later":            {checkTable(rows, nil, with("internal/kv")), 0},
		"later exists":             {checkTable(rows, []pkg{kv}, with("internal/kv")), 1},
		"nothing stale":            {checkTable(rows, []pkg{kv}, helpersLater), 0},
		"ban on nothing, for none": {checkImports(ban, nil, nil, no), 2},
		"exception for no file":    {checkCalls(call, nil, nil, no), 1},
		"exception for later":      {checkCalls(call, nil, with("gone"), no), 0},
	} {
		if len(c.got) != c.want {
			t.Errorf("%s: %q, want %d", name, c.got, c.want)
		}
	}
}
