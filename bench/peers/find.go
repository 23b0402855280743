package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"rewind/bench/history"
	"rewind/bench/workload"
	"rewind/engine"
)

// The history that is searched: an agent's edits of single lines all over a tree, a checkpoint each, and the same
// states as commits. One long file is edited again and again. A rare word comes with an edit now and then.
const (
	foundFiles  = 200 // that are edited
	longFile    = "long_and_often_edited.go"
	longLines   = 5000
	longEvery   = 20 // one edit in so many is the long file's
	rareWord    = "zyzzyva_of_the_field"
	rareEvery   = 1000
	grepCommits = 1000 // the part of the commits that git grep is given is one in so many: it would take hours, and is multiplied
)

// A finding is one tree with its history, in rewind and in git.
type finding struct {
	*site
	w        *world
	g        *shadow
	file     string // that a path's history is asked of
	contents *os.File
	sizes    []int // of what is in contents, each a frame
}

// A look is one question, as it is asked of rewind and of git.
type look struct {
	name      string
	args, git []string // none: it is not asked
	right     func(out string) bool
}

// find has the commands that search a long history, each beside what one would ask git.
func (t *table) find(s *site) {
	f := &finding{site: s, w: t.newWorld(filepath.Join(s.dir, "found"), filepath.Join(s.dir, "found", "tree"))}
	defer func() { _ = f.w.stop() }()
	f.fill(t.opt.history)
	f.w.end()
	first, _ := f.w.c.run(t.rewind, "list", "-n", "5", "--", f.file)
	got := series{"first": {first}}
	pid := f.w.pid()
	for _, l := range f.looks() {
		ours := part{l.name, func(int) float64 {
			took, out := f.w.c.run(append([]string{t.rewind}, l.args...)...)
			want(l.right == nil || l.right(out), "%s: %.300q", strings.Join(l.args, " "), out)
			return took
		}}
		if l.args == nil {
			ours = part{}
		}
		theirs := part{}
		if l.git != nil {
			theirs = part{"git " + l.name, func(int) float64 { took, _ := f.w.c.run(l.git...); return took }}
		}
		const turns = 3 // with the other, which takes seconds
		for round := range turns + 1 {
			t.turn(round, got.from(round, 1), ours, theirs)
		}
		for round := range t.opt.reads - turns {
			t.turn(round, got, ours)
		}
	}
	for i := range got["git grep"] {
		got["git grep"][i] *= grepCommits
	}
	for range t.opt.reads {
		got["floor"] = append(got["floor"], f.readAll())
	}
	if _, most := memory(pid); most > 0 {
		got["most"] = []float64{most}
	}
	f.look(got)
	f.hooks(got)
	t.tell("find", fmt.Sprintf("%s, %s checkpoints", s.at(), thousands(t.opt.history)), s.stats.Files, got)
}

// fill makes the history.
func (f *finding) fill(n int) {
	w := f.w
	f.say("find: a history of %s checkpoints", thousands(n))
	must(f.lay(f.ctx, w.tree))
	r := rand.New(rand.NewPCG(1, 'f'))
	must(os.WriteFile(filepath.Join(w.tree, longFile), longText(r), 0o600))
	files := slices.Clone(f.files[:min(len(f.files), foundFiles)])
	f.file = files[0]
	editor := get(workload.NewEditor(w.tree, append(files, longFile), 3))
	w.first()
	var stream *bufio.Writer
	if f.git != nil {
		f.g = &shadow{c: w.c, tree: w.tree, dir: filepath.Join(f.dir, "found.git"), commit: true, conf: tunedGit}
		f.g.first()
		to := get(os.Create(filepath.Join(f.dir, "found.import")))
		defer to.Close()
		stream = bufio.NewWriter(to)
	}
	f.keep(func(keep func([]byte)) {
		for _, file := range get(workload.Files(w.tree)) {
			if !file.Link {
				keep(get(os.ReadFile(filepath.Join(w.tree, filepath.FromSlash(file.Path)))))
			}
		}
		w.watched(func(e *engine.Engine) {
			a := get(history.NewAgent(e, w.tree))
			for i := range n {
				if i%500 == 0 {
					must(a.Begin(f.ctx, fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), i)))
				}
				if i%10 == 0 {
					must(a.Prompt(f.ctx, fmt.Sprintf("change number %d of the many that there are", i)))
				}
				path := files[i%len(files)]
				if i%longEvery == longEvery-1 {
					path = longFile
				}
				var ed workload.Edit
				made := get(a.Edit(f.ctx, []string{path}, func() error {
					ed = get(editor.In(path))
					if i%rareEvery == rareEvery/2 {
						ed.Data = append(ed.Data, "// "+rareWord+"\n"...)
					}
					return workload.Write(w.tree, ed)
				}))
				want(made, "edit %d of %s made no checkpoint", i, path)
				keep(ed.Data)
				if stream != nil {
					commit(stream, i, ed)
				}
				if i%10 == 9 {
					must(a.Stop(f.ctx))
				}
			}
		})
	})
	if stream != nil {
		must(stream.Flush())
		f.imported()
	}
	f.settle()
}

// commit adds an edit to what git imports.
func commit(to io.Writer, i int, ed workload.Edit) {
	message := fmt.Sprintf("change number %d", i)
	get(fmt.Fprintf(to, "commit refs/heads/found\ncommitter A <a@example.org> %d +0000\ndata %d\n%s\n", 1_700_000_000+i, len(message),
		message))
	if i == 0 {
		get(fmt.Fprintln(to, "from HEAD^0"))
	}
	get(fmt.Fprintf(to, "M 100644 inline %s\ndata %d\n%s\n", ed.Path, len(ed.Data), ed.Data))
}

// imported has git read the history, and makes it as fast to read as git can.
func (f *finding) imported() {
	in := get(os.Open(filepath.Join(f.dir, "found.import")))
	defer in.Close()
	cmd := exec.CommandContext(f.ctx, "git", "--git-dir="+f.g.dir, "fast-import", "--quiet", "--force")
	cmd.Env, cmd.Stdin = f.env, in
	out, err := cmd.CombinedOutput()
	want(err == nil, "git fast-import: %v: %.300s", err, out)
	f.g.run("symbolic-ref", "HEAD", "refs/heads/found")
	f.g.run("read-tree", "HEAD")
	f.g.run("gc", "-q")
	f.g.run("commit-graph", "write", "--reachable", "--changed-paths")
	f.g.run("update-index", "-q", "--refresh")
}

// looks are the questions.
func (f *finding) looks() []look {
	git := func(args ...string) []string {
		if f.g == nil {
			return nil
		}
		return f.g.in(f.g.dir, args...)
	}
	rare := func(out string) bool { return strings.Contains(out, "turn") }
	word := func(out string) bool { return strings.Contains(out, rareWord) }
	var some []string
	if f.g != nil {
		_, all := f.g.run("rev-list", "HEAD")
		for i, id := range strings.Fields(all) {
			if i%grepCommits == 0 {
				some = append(some, id)
			}
		}
	}
	list := []look{
		{"list", []string{"list"}, nil, rare},
		{"path", []string{"list", "-n", "0", "--", f.file}, git("log", "--oneline", "--", f.file), rare},
		{"plain", nil, git("-c", "core.commitGraph=false", "log", "--oneline", "--", f.file), nil},
		{"-S", []string{"list", "-S", rareWord}, git("log", "--oneline", "-S"+rareWord), rare},
		{"grep", []string{"grep", rareWord}, git(append([]string{"grep", rareWord}, some...)...), word},
		{"blame", []string{"blame", longFile, "@"}, git("blame", "HEAD", "--", longFile), func(out string) bool {
			return strings.Count(out, "\n") > longLines*9/10
		}},
		{"now", []string{"grep", "--now", rareWord}, nil, word},
	}
	if _, err := exec.LookPath("rg"); err == nil {
		list[len(list)-1].git = []string{"rg", "--hidden", "--no-ignore", rareWord}
	}
	return list
}

// longText is a file of many lines.
func longText(r *rand.Rand) []byte {
	var b bytes.Buffer
	for i := range longLines {
		fmt.Fprintf(&b, "\tcase %d: return %x\n", i, r.Uint64())
	}
	return b.Bytes()
}

// keep takes every distinct content into one file, each compressed by itself: what readAll reads.
func (f *finding) keep(fn func(keep func([]byte))) {
	f.contents = get(os.Create(filepath.Join(f.dir, "found.contents")))
	enc := get(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)))
	defer enc.Close()
	to := bufio.NewWriter(f.contents)
	var frame []byte
	fn(func(raw []byte) {
		frame = enc.EncodeAll(raw, frame[:0])
		get(to.Write(frame))
		f.sizes = append(f.sizes, len(frame))
	})
	must(to.Flush())
}

// readAll is the least that a search of every content can do: read, decompress, look.
func (f *finding) readAll() float64 {
	dec := get(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)))
	defer dec.Close()
	began, found, at := time.Now(), 0, int64(0)
	var raw, frame []byte
	for _, n := range f.sizes {
		frame = slices.Grow(frame[:0], n)[:n]
		get(f.contents.ReadAt(frame, at))
		at += int64(n)
		raw = get(dec.DecodeAll(frame, raw[:0]))
		if bytes.Contains(raw, []byte(rareWord)) {
			found++
		}
	}
	took := ms(time.Since(began))
	want(found > 0, "the rare word is nowhere")
	return took
}

// hooks are an agent's, alone and while searches come one after the other.
func (f *finding) hooks(got series) {
	editor := get(workload.NewEditor(f.w.tree, []string{longFile}, 4))
	some := func(name string) {
		for range f.opt.rounds {
			took, said := f.hook(f.w.c, 0, get(editor.In(longFile)))
			want(said == "", "the hook said %.300q", said)
			got[name] = append(got[name], took)
			f.wait(restTime)
		}
	}
	some("warm")
	some("alone")
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		w := *f.w
		w.c.out += ".beside"
		var err error
		for more := true; more && err == nil; {
			err = caught(func() { w.c.run(f.bench.rewind, "grep", rareWord) })
			select {
			case <-stop:
				more = false
			default:
			}
		}
		ended <- err
	}()
	err := caught(func() { some("beside") })
	close(stop)
	must(errors.Join(<-ended, err))
}
