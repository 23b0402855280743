// Command ignore measures our matcher of ignore rules (tree/ignore) beside the library that was weighed against it,
// github.com/sabhiram/go-gitignore: how many random rule sets each decides otherwise than git check-ignore, and what a
// usual rules file and a name cost. It is a module of its own, so that the library is in nobody's build. `make
// bench-ignore` runs it; it needs git.
//
// The library takes one rules file and whole paths. So the sets that both are asked about have one .gitignore each, at
// their top, and nothing else says anything: no excludes file, no rules further down, no folding of case. That is the
// library's best case.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	library "github.com/sabhiram/go-gitignore"

	"rewind/internal/ignoretest"
	"rewind/tree/ignore"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ignore:", err)
		os.Exit(1)
	}
}

// perRepo is how many rule sets git is asked about at once.
const perRepo = 150

func run() error {
	sets := flag.Int("sets", 3000, "how many random rule sets")
	seed := flag.Uint64("seed", 20, "seed of the rule sets")
	flag.Parse()
	version, err := exec.Command("git", "version").Output()
	if err != nil {
		return fmt.Errorf("git: %w", err)
	}
	fmt.Printf("%s, %s %s/%s, %d rule sets, seed %d\n\n", strings.TrimSpace(string(version)), runtime.Version(),
		runtime.GOOS, runtime.GOARCH, *sets, *seed)
	ours, theirs := tally{name: "tree/ignore", ask: askOurs, in: inOurs},
		tally{name: "go-gitignore", ask: askLibrary, in: inLibrary}
	asked := 0
	for i := 0; asked < *sets; i++ {
		repo := ignoretest.Random(rand.New(rand.NewPCG(*seed, uint64(i))), string(version),
			min(perRepo, *sets-asked), false)
		repo.Excludes, repo.Info, repo.Root, repo.Fold = "", "", "", false
		for j := range repo.Sets {
			repo.Sets[j].Files = map[string]string{"": repo.Sets[j].Files[""]}
		}
		answers, err := repo.Ask()
		if err != nil {
			return err
		}
		for _, set := range repo.Sets {
			for _, t := range []*tally{&ours, &theirs} {
				t.hold(set, answers[:len(set.Paths)])
			}
			answers = answers[len(set.Paths):]
		}
		asked += len(repo.Sets)
	}
	fmt.Printf("| | sets decided otherwise than git | paths | ignored, git does not | not ignored, git does | a usual file of %d rules "+
		"is read in |"+
		" a name four directories below it takes |\n", strings.Count(usual, "\n")-strings.Count(usual, "#"))
	fmt.Println("|--|--|--|--|--|--|--|")
	for _, t := range []*tally{&ours, &theirs} {
		read, match := t.time()
		fmt.Printf("| %s | %d of %d | %d of %d | %d | %d | %s | %s |\n", t.name, t.wrong, t.sets, t.over+t.under,
			t.paths, t.over, t.under, read, match)
	}
	if theirs.example != "" {
		fmt.Printf("\nfor example: %s\n", theirs.example)
	}
	if ours.wrong > 0 {
		return fmt.Errorf("our own matcher is wrong: %s", ours.example)
	}
	return nil
}

// asker reads a rules file and says what it decides about a path.
type asker func(rules string) func(path string, dir bool) bool

func askOurs(rules string) func(path string, dir bool) bool {
	top := ignore.New(ignore.Options{}).WithFiles(ignore.File{Path: ".gitignore", Data: []byte(rules)}, ignore.File{})
	return func(path string, dir bool) bool {
		d := top
		for { // as a scan goes: an ignored directory is not entered
			name, rest, more := strings.Cut(path, "/")
			ignored, _ := d.Match(name, more || dir)
			if ignored || !more {
				return ignored
			}
			d, path = d.Child(name), rest
		}
	}
}

func askLibrary(rules string) func(path string, dir bool) bool {
	g := library.CompileIgnoreLines(strings.Split(strings.TrimPrefix(rules, "\xef\xbb\xbf"), "\n")...)
	return func(path string, dir bool) bool {
		return g.MatchesPath(path) || dir && g.MatchesPath(path+"/")
	}
}

// inOurs decides about the names of one directory, as a scan does.
func inOurs(rules, dir string) func(name string) bool {
	d := ignore.New(ignore.Options{}).WithFiles(ignore.File{Path: ".gitignore", Data: []byte(rules)}, ignore.File{})
	for part := range strings.SplitSeq(dir, "/") {
		d = d.Child(part)
	}
	return func(name string) bool {
		ignored, _ := d.Match(name, false)
		return ignored
	}
}

func inLibrary(rules, dir string) func(name string) bool {
	decide := askLibrary(rules)
	return func(name string) bool { return decide(dir+"/"+name, false) }
}

type tally struct {
	name                            string
	ask                             asker
	in                              func(rules, dir string) func(name string) bool
	sets, wrong, paths, over, under int
	example                         string
	shortest                        int // bytes of rules and path of the example
}

// hold compares with git's answers for one set.
func (t *tally) hold(set ignoretest.Set, git []ignoretest.Answer) {
	rules := set.Files[""]
	decide := t.ask(rules)
	dirs := map[string]bool{}
	for _, d := range set.Dirs {
		dirs[d] = true
	}
	t.sets++
	wrong := false
	for i, p := range set.Paths {
		t.paths++
		got, want := decide(p, dirs[p]), git[i].Ignored()
		switch {
		case got && !want:
			t.over++
		case !got && want:
			t.under++
		default:
			continue
		}
		if n := len(rules) + len(p); !wrong && (t.example == "" || n < t.shortest) {
			t.shortest, t.example = n,
				fmt.Sprintf("rules %q, path %q: git says ignored %v, %s %v", rules, p, want, t.name, got)
		}
		wrong = true
	}
	if wrong {
		t.wrong++
	}
}

// usual is a rules file of the size and kind that projects have.
const usual = "# deps\n/node_modules\n/.pnp\n.pnp.js\n/coverage\n/build\n/dist\n*.log\nnpm-debug.log*\nyarn-error.log*\n.env.local\n" +
	".env.*.local\n*.py[cod]\n*$py.class\n*.so\n*.egg-info/\n.eggs/\nlib64/\nsdist/\nwheels/\n*.manifest\n*.spec\npip-log.txt\n" +
	"htmlcov/\n.coverage\n.coverage.*\nnosetests.xml\n*.cover\n.hypothesis/\ndocs/_build/\n**/tmp/**\n!important.log\ntarget/\n" +
	"**/*.rs.bk\n*.swp\n.idea/\n*.iml\n.vscode/*\n!.vscode/settings.json\nsrc/generated/**/*.pb.go\nout/\n*.class\n*.jar\n"

// time gives what reading a usual file costs, and a decision about a name four directories below it.
func (t *tally) time() (read, match string) {
	per := func(r testing.BenchmarkResult) string {
		ns := float64(r.T.Nanoseconds()) / float64(r.N)
		if ns < 1e5 {
			return fmt.Sprintf("%.2f us", ns/1e3)
		}
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
	read = per(testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			t.ask(usual)
		}
	}))
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("component_%d.%s", i, []string{"go", "tsx", "py", "log"}[i%4]))
	}
	decide := t.in(usual, "src/generated/a/b")
	match = per(testing.Benchmark(func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			decide(names[i%len(names)])
		}
	}))
	return read, match
}
