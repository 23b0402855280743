package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/bench/workload"
)

// A stage measures the rows that can be told from one run of it, on each of its trees.
type stage struct {
	rows []string // of -rows; it runs if one of them is asked for
	on   func(*table) []*site
	run  func(*table, *site)
}

// stages are all there are, in the order in which they are measured.
var stages = []stage{
	{[]string{"hook", "unchanged", "scan", "memory", "daemon"}, nil, (*table).hooks},
	{[]string{"checkout"}, (*table).big, (*table).checkout},
	{[]string{"tree"}, (*table).middle, (*table).wholeTree},
	{[]string{"start"}, (*table).middle, (*table).start},
	{[]string{"read"}, (*table).middle, (*table).read},
	// After the checkouts: with a second session at work they would have to say which one goes back.
	{[]string{"prompt"}, (*table).middle, (*table).prompt},
	{[]string{"first", "packed", "memory"}, (*table).big, (*table).first},
	{[]string{"edits"}, nil, (*table).oneLine},
	{[]string{"commands"}, (*table).middle, (*table).commands},
	{[]string{"large"}, nil, (*table).limits},
	{[]string{"gc"}, nil, (*table).collect},
	{[]string{"find"}, (*table).big, (*table).find},
	{[]string{"sessions"}, nil, (*table).sessions},
}

// asked are the rows that are measured only when they are asked for.
var asked = []string{"daemon", "commands", "large", "gc", "find", "sessions"}

// A claim is one line of the table: a series, what stands beside it, and what it has to reach.
type claim struct {
	row, what string
	of        string // the series
	unit      unit
	peer, by  string // what stands beside it, in words, and its series; "": nothing
	reach     reach
}

const (
	emptyHook = "F: the same hook, a daemon that does nothing"
	shadowGit = "git add -A; git write-tree"

	countLines  = "wc -l of the same files"
	firstAnswer = "status, a daemon's first answer"

	scanCost      = 1.3e-3 // ms that a file may cost a hook that looks at all
	maxResident   = 60e6   // bytes that the daemon may have in memory
	largeResident = 1e9    // with a million files
	gcResident    = 300 << 20
	findResident  = 200e6
)

// claims are the lines of the table, by what a stage tells when it has measured.
var claims = map[string][]claim{
	"hook": {
		{"hook", "hook, one file edited", "rewind", inMillis, emptyHook, "floor", within(1.5)},
		{"hook", "hook, one file edited", "rewind", inMillis, shadowGit, "git", nothing},
		{"unchanged", "hook, nothing changed", "unchanged", inMillis, emptyHook, "floor", within(1.2)},
	},
	"scan": {
		{"scan", "hook, watcher off", "scan", inMillis, emptyHook, "floor", perFile(scanCost, "<= F + 1.3 us a file")},
		{"scan", "hook, watcher off", "scan", inMillis, "lstat of every known file, 2 threads", "stat", nothing},
		{"scan", "hook, watcher off", "scan", inMillis, "git status", "status", nothing},
	},
	"daemon": {
		{"daemon", "64 hooks at once", "rewind", inMillis, emptyHook, "floor", nothing},
		{"daemon", "64 hooks at once, watcher off", "scan", inMillis, emptyHook, "floor", nothing},
		{"daemon", "64 hooks at once, the 99th of 100", "rewind 99", inMillis, emptyHook, "floor 99", nothing},
		{"daemon", "a hook that starts the daemon", "cold", inMillis, "", "", nothing},
		{"daemon", "processor at rest", "idle", inMillis, "", "", nothing},
		{"daemon", "memory at most", "most", inBytes, "", "", nothing},
	},
	"memory": {{"memory", "memory after hooks", "rest", inBytes, "", "", under(maxResident, inBytes, "")}},
	"first memory": {{
		"memory", "memory after a first snapshot", "rest", inBytes, "", "",
		under(maxResident, inBytes, ""),
	}},
	"checkout": {
		{"checkout", "checkout of some files", "rewind", inMillis, "", "", under(25, inMillis, "")},
		{"checkout", "checkout of some files", "rewind", inMillis, "git read-tree -u --reset", "git", lessBy(10)},
	},
	"tree": {{
		"tree", "checkout of a whole tree", "rewind", inMillis, "git checkout-index -a; sync -f", "git",
		within(1),
	}},
	"start":   {{"start", "a cold daemon's first answer", "rewind", inMillis, "", "", under(30, inMillis, "")}},
	"objects": {{"start", "a cold daemon's first answer", "rewind", inMillis, "", "", under(150, inMillis, "")}},
	"read": {
		{"read", "diff", "diff", inMillis, "", "", under(50, inMillis, "")},
		{"read", "diff", "diff", inMillis, "git diff", "git diff", nothing},
		{"read", "list", "list", inMillis, "", "", under(50, inMillis, "")},
		{"read", "show", "show", inMillis, "", "", under(50, inMillis, "")},
		{"read", "status", "status", inMillis, "", "", under(50, inMillis, "")},
		{"read", "status", "status", inMillis, "git status", "git status", nothing},
	},
	"prompt": {{"prompt", "prompt hook, 10 KB said since", "rewind", inMillis, emptyHook, "floor", within(1.5)}},
	"first": {
		{"first", "first snapshot", "rewind", inMillis, "floor: read, BLAKE3, zstd, no sync", "floor", within(1.3)},
		{"first", "first snapshot", "rewind", inMillis, "git init; " + shadowGit, "git", lessBy(6)},
	},
	"packed": {
		{"packed", "disk, first snapshot", "rewind", inBytes, "shadow git after git gc", "git gc", within(1.3)},
		{"packed", "disk, first snapshot", "rewind", inBytes, "shadow git as it lies", "git", nothing},
		{
			"packed", "disk, first snapshot, compacted", "rewind gc", inBytes, "shadow git after git gc", "git gc",
			nothing,
		},
	},
	"edits": {
		{"edits", "disk, a one-line edit", "rewind gc", inBytes, "", "", under(600, inBytes, "")},
		{"edits", "disk, a one-line edit", "rewind gc", inBytes, "shadow git as it lies", "git", lessBy(30)},
		{"edits", "disk, a one-line edit", "rewind gc", inBytes, "shadow git after git gc", "git gc", within(1)},
		{"edits", "disk, an edit, as it lies", "rewind", inBytes, "", "", nothing},
	},
	"large":          {{"large", "hook, one file edited", "rewind", inMillis, emptyHook, "floor", within(3)}},
	"large memory":   {{"large", "memory after hooks", "rest", inBytes, "", "", under(largeResident, inBytes, "")}},
	"large checkout": {{"large", "checkout of some files", "checkout", inMillis, "", "", nothing}},
	"large works": {
		{"large", "diff", "diff", inMillis, "", "", nothing},
		{"large", "list", "list", inMillis, "", "", nothing},
		{"large", "show", "show", inMillis, "", "", nothing},
		{"large", "status", "status", inMillis, "", "", nothing},
		{"large", "undo", "undo", inMillis, "", "", nothing},
		{"large", "redo", "redo", inMillis, "", "", nothing},
	},
	"gc": {
		{"gc", "gc alone", "took", inMillis, "", "", under(30e3, inMillis, "")},
		{"gc", "gc alone, processor", "processor", inMillis, "", "", nothing},
		{"gc", "gc alone, memory at most", "most", inBytes, "", "", under(gcResident, inBytes, "")},
		{
			"gc", "gc alone, disk that comes back", "back", inBytes, "what was removed had there", "garbage",
			atLeast(0.95),
		},
	},
	"gc beside": {
		{"gc", "gc beside hooks", "took", inMillis, "", "", under(30e3, inMillis, "")},
		{"gc", "gc beside hooks, processor", "processor", inMillis, "", "", nothing},
		{"gc", "gc beside hooks, memory at most", "most", inBytes, "", "", under(gcResident, inBytes, "")},
		{
			"gc", "gc beside hooks, disk that comes back", "back", inBytes, "what was removed had there", "garbage",
			atLeast(0.95),
		},
	},
	"find": {
		{"find", "list", "list", inMillis, "", "", under(30, inMillis, "")},
		{"find", "rewind alone: rows on the screen", "picker", inMillis, "", "", under(40, inMillis, "")},
		{"find", "rewind alone: rows on the screen", "picker", inMillis, "list -n 30, into a file", "thirty", nothing},
		{"find", "rewind alone: a key", "key", inMillis, "", "", under(16, inMillis, "")},
		{"find", "list -- <file>", "path", inMillis, "", "", under(50, inMillis, "")},
		{"find", "list -- <file>", "path", inMillis, "git log -- <file>", "git path", lessBy(20)},
		{
			"find", "list -- <file>", "path", inMillis, "the same without git's index of changed paths", "git plain",
			lessBy(20),
		},
		{"find", "list -- <file>, the first question to a daemon", "first", inMillis, "", "", nothing},
		{"find", "list -S <word>", "-S", inMillis, "git log -S<word>", "git -S", lessBy(10)},
		{
			"find", "grep <word>", "grep", inMillis, "floor: read, zstd, look, every distinct content", "floor",
			within(1.5),
		},
		{"find", "grep <word>", "grep", inMillis, "git grep <word>, every commit (counted up)", "git grep", lessBy(20)},
		{"find", "grep --now <word>", "now", inMillis, "rg <word>", "git now", nothing},
		{"find", "blame, 5,000 lines", "blame", inMillis, "", "", under(100, inMillis, "")},
		{"find", "blame, 5,000 lines", "blame", inMillis, "git blame", "git blame", within(1)},
		{"find", "hook beside grep", "beside", inMillis, "the same hook alone", "alone", within(2)},
		{"find", "memory at most", "most", inBytes, "", "", under(findResident, inBytes, "")},
	},
	"sessions": {
		{"sessions", "sessions, of 1,000", "sessions", inMillis, countLines, "sessions lines", nothing},
		{"sessions", "sessions, of 1,000", "sessions", inMillis, "", "", under(40, inMillis, "")},
		{"sessions", "sessions, a daemon's first answer", "sessions first", inMillis, firstAnswer, "start", nothing},
		{"sessions", "sessions, a daemon's first answer", "sessions first", inMillis, "", "", under(150, inMillis, "")},
		{"sessions", "sessions -n 0, all 1,000", "all sessions", inMillis, countLines, "all sessions lines", nothing},
		{
			"sessions", "sessions -n 0, a daemon's first answer", "all sessions first", inMillis, firstAnswer, "start",
			nothing,
		},
		{
			"sessions", "sessions -n 0, a daemon's first answer", "all sessions first", inMillis, "", "",
			under(150, inMillis, ""),
		},
		{"sessions", "turns, of 50,000", "turns", inMillis, countLines, "turns lines", nothing},
		{"sessions", "turns, of 50,000", "turns", inMillis, "", "", under(100, inMillis, "")},
		{"sessions", "turns, a daemon's first answer", "turns first", inMillis, firstAnswer, "start", nothing},
		{"sessions", "turns, a daemon's first answer", "turns first", inMillis, "", "", under(100, inMillis, "")},
		{"sessions", "turns -n 0, all 50,000", "all turns", inMillis, countLines, "all turns lines", nothing},
		{"sessions", "turns -n 0, a daemon's first answer", "all turns first", inMillis, firstAnswer, "start", nothing},
		{"sessions", "show --messages 30, of 240 MB", "show", inMillis, countLines, "show lines", nothing},
		{"sessions", "show --messages 30, of 240 MB", "show", inMillis, "", "", under(50, inMillis, "")},
		{"sessions", "show, a daemon's first answer", "show first", inMillis, firstAnswer, "start", nothing},
		{"sessions", "show, a daemon's first answer", "show first", inMillis, "", "", under(50, inMillis, "")},
		{"sessions", "hook that first hears of 300 MB", "heard", inMillis, emptyHook, "heard floor", nothing},
		{"sessions", "hook that first hears of 300 MB", "heard", inMillis, "", "", under(10, inMillis, "")},
	},
	"gc hooks": {
		{"gc", "hook beside gc", "during", inMillis, "the same hook before", "before", within(2)},
		{"gc", "hook after gc", "after", inMillis, "the same hook before", "before", nothing},
		{"gc", "list before gc", "list before", inMillis, "", "", under(50, inMillis, "")},
		{"gc", "show before gc", "show before", inMillis, "", "", under(50, inMillis, "")},
		{"gc", "status before gc", "status before", inMillis, "", "", under(50, inMillis, "")},
		{"gc", "list after gc", "list after", inMillis, "", "", under(50, inMillis, "")},
		{"gc", "show after gc", "show after", inMillis, "", "", under(50, inMillis, "")},
		{"gc", "status after gc", "status after", inMillis, "", "", under(50, inMillis, "")},
	},
}

// rowNames are all that -rows can name, each once.
func rowNames() (list []string) {
	for _, s := range stages {
		for _, r := range s.rows {
			if !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// wants reports whether a row is to be measured.
func (b *bench) wants(row string) bool {
	if row == "large" {
		return b.opt.large
	}
	return slices.Contains(b.opt.rows, row) || len(b.opt.rows) == 0 && !slices.Contains(asked, row)
}

// A table is the run that holds the program against what it has to reach: a line for each claim, whole processes, on
// trees of real files.
type table struct {
	*bench
	corpus *workload.Corpus // nil: generated
	sites  []*site          // by size
	lines  []line
	notes  []string // what the reader has to know besides
}

// measure measures all rows that were asked for, and prints them.
func (t *table) measure() (err error) {
	defer func() { err = errors.Join(err, t.stop()) }()
	if err := caught(t.assemble); err != nil {
		return err
	}
	if !t.hasGit() {
		t.note("git is not here: what is beside it is skipped")
	}
	for _, st := range stages {
		if !slices.ContainsFunc(st.rows, t.wants) {
			continue
		}
		began := time.Now()
		if err := caught(func() { t.step(st) }); err != nil {
			if t.ctx.Err() != nil {
				return errors.New("interrupted")
			}
			t.say("%s: %v", st.rows[0], err)
			t.lines = append(t.lines, line{Row: st.rows[0], What: st.rows[0], Failure: err.Error()})
			// What has failed leaves trees behind that are nobody's: those that come get new ones.
			if err := t.stop(); err != nil {
				return err
			}
			for i, s := range t.sites {
				t.sites[i] = t.newSite(s.n)
			}
		}
		t.say("%s took %v", st.rows[0], time.Since(began).Round(time.Second))
	}
	t.report(t.out)
	return nil
}

// step runs a stage on its trees; once where it has none.
func (t *table) step(st stage) {
	if st.on == nil {
		st.run(t, nil)
		return
	}
	for _, s := range st.on(t) {
		s.begin()
		t.say("%s: %s", st.rows[0], s.at())
		st.run(t, s)
	}
}

// tell makes the lines of a claim from what was measured, on a tree of so many files.
func (t *table) tell(name, at string, files int, got series) {
	for _, c := range claims[name] {
		if t.wants(c.row) {
			r := c.reach
			if r.each > 0 {
				r = under(median(got[c.by])+r.each*float64(files), c.unit, r.text)
			}
			t.add(c.row, c.what, at, c.unit, got[c.of], c.peer, got[c.by], r)
		}
	}
}

func (t *table) note(format string, a ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, a...))
	t.say(format, a...)
}

// assemble chooses the files of all trees.
func (t *table) assemble() {
	most := slices.Max(t.opt.files)
	if t.opt.corpus != "generated" {
		roots := filepath.SplitList(t.opt.corpus)
		if len(roots) == 0 {
			roots = get(workload.DefaultCorpus(t.ctx))
		}
		t.say("reading the corpus")
		t.corpus = get(workload.Assemble(t.ctx, roots, most))
		t.note("corpus: %s", t.corpus)
		most = min(most, t.corpus.Len())
		want(most > 0, "the corpus has no files")
	}
	for _, n := range slices.Sorted(slices.Values(t.opt.files)) {
		if n > most {
			t.note("the corpus has no %s distinct files: %s instead", thousands(n), thousands(most))
			n = most
		}
		if len(t.sites) == 0 || t.sites[len(t.sites)-1].n != n {
			t.sites = append(t.sites, t.newSite(n))
		}
	}
}

// newSite is a tree of the corpus, with all that the rows need beside it.
func (t *table) newSite(n int) *site {
	s := t.generated("site", n)
	if t.corpus != nil {
		s.lay = func(ctx context.Context, dir string) error { return t.corpus.Lay(ctx, dir, n) }
	}
	if t.hasGit() {
		s.git = s.shadow("git", tunedGit)
	}
	if t.wants("scan") && n >= bigTree || t.wants("daemon") {
		s.scan = t.newWorld(filepath.Join(s.dir, "rewind-scan"), filepath.Join(s.dir, "rewind-scan", "tree"), noWatcher)
	}
	return s
}

const (
	bigTree   = 10_000 // files; looking at every one would be felt
	usualTree = 30_000
)

// big are the large trees; the largest where there is none.
func (t *table) big() []*site {
	i := slices.IndexFunc(t.sites, func(s *site) bool { return s.n >= bigTree })
	if i < 0 {
		i = len(t.sites) - 1
	}
	return t.sites[i:]
}

// middle is the tree for rows that are measured on one: the largest that is no more than usual.
func (t *table) middle() []*site {
	s := t.sites[:1]
	for i, other := range t.sites {
		if other.n <= usualTree {
			s = t.sites[i : i+1]
		}
	}
	return s
}

// last is the largest tree.
func (t *table) last() *site { return t.sites[len(t.sites)-1] }

func (b *bench) hasGit() bool {
	_, err := exec.LookPath("git")
	return err == nil
}

// stop ends everything that runs.
func (t *table) stop() error {
	var errs []error
	for _, s := range t.sites {
		errs = append(errs, s.stop(), os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// failed tells what makes the run a failure: a result that is not right. What is right and slow is none.
func (t *table) failed() error {
	var errs []error
	for _, l := range t.lines {
		if l.Failure != "" {
			errs = append(errs, fmt.Errorf("%s: %s", strings.TrimSpace(l.What+" "+l.At), l.Failure))
		}
	}
	return errors.Join(errs...)
}
