package workload

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// An Edit is one change of one line, carried out.
type Edit struct {
	Path string // relative to the root, with slashes
	Data []byte // the file's content since
}

// An Editor edits a tree as an agent does: it comes back to the same few files, works near the place where it worked
// last, and now and then turns to another file. A line is replaced, inserted or, less often, deleted. It is the only
// writer of the files that it edits.
type Editor struct {
	root  string
	r     *rand.Rand
	words []string
	lines []string // templates
	all   []string
	few   []*open
}

// open is a file that is worked on.
type open struct {
	path  string
	lines [][]byte // each with its newline
	at    int      // where the last edit was
}

// lines are what is written: about 50 bytes on average. (A line of Go's own source that is not empty has 33.)
var lines = []string{
	"\t$n := $w.$W($w, $i)\n",
	"\t\treturn $n, fmt.Errorf(\"$w $w: %w\", $w)\n",
	"\tif $n.$w != $i {\n",
	"\t\tx.$n = append(x.$n, $w)\n",
	"\t$w, $w := x.$W[$n]\n",
	"// $s.\n",
	"const $n$W = 0x$h\n",
}

// wide are lines of about 116 bytes on average: prose in one line, calls with all their arguments.
var wide = []string{
	"\t\treturn nil, fmt.Errorf(\"$w: $s: %w\", $n)\n",
	"\tif $n, err := x.$W(ctx, $W$W{$W: $n, $W: \"$w\"}); err != nil {\n",
	"\t\tx.$n = append(x.$n, &$W{$W: $w.$W, $n: $n($w, 0x$h)})\n",
	"\t$w, $w := x.$W[$n].$n$W(ctx, $w.$W(), $w, \"$n\")\n",
	"// $s, $s.\n",
	"\tcase $n$W: log.Printf(\"$s: %v\", $n)\n",
}

const (
	workingSet = 5  // files that are worked on at a time
	turnTo     = 20 // one edit in so many turns to another file
)

// NewEditor edits files, given by their paths below root. The same root content, files and seed give the same edits.
func NewEditor(root string, files []string, seed uint64) (*Editor, error) {
	if len(files) == 0 {
		return nil, errors.New("workload: edit: no files that can be edited")
	}
	return &Editor{root: root, r: rand.New(rand.NewPCG(seed, 'e')), words: vocabulary(seed), lines: lines, all: files}, nil
}

// Wide makes the lines that are written from now on about 116 bytes long instead of 50.
func (e *Editor) Wide() { e.lines = wide }

// Next makes one edit on disk. The file is written in place, as an editor without ceremony does.
func (e *Editor) Next() (Edit, error) {
	f, err := e.choose()
	if err != nil {
		return Edit{}, err
	}
	return e.edit(f)
}

// In makes one edit in a file of the caller's choice, which is read again each time.
func (e *Editor) In(path string) (Edit, error) {
	f, err := e.open(path)
	if err != nil {
		return Edit{}, err
	}
	return e.edit(f)
}

func (e *Editor) edit(f *open) (Edit, error) {
	f.change(e.r, newWriter(e.r, e.words), e.lines)
	ed := Edit{Path: f.path, Data: bytes.Join(f.lines, nil)}
	return ed, Write(e.root, ed)
}

// Write gives a file the content that it has after an edit.
func Write(root string, ed Edit) error {
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(ed.Path)), ed.Data, 0o644); err != nil {
		return fmt.Errorf("workload: edit %s: %w", ed.Path, err)
	}
	return nil
}

func (e *Editor) choose() (*open, error) {
	set := min(workingSet, len(e.all))
	if len(e.few) == set && (set == len(e.all) || e.r.IntN(turnTo) > 0) {
		return e.few[e.r.IntN(set)], nil
	}
	for {
		path := e.all[e.r.IntN(len(e.all))]
		if e.isOpen(path) {
			continue
		}
		f, err := e.open(path)
		if err != nil {
			return nil, err
		}
		if len(e.few) < set {
			e.few = append(e.few, f)
		} else {
			e.few[e.r.IntN(set)] = f
		}
		return f, nil
	}
}

func (e *Editor) open(path string) (*open, error) {
	b, err := os.ReadFile(filepath.Join(e.root, filepath.FromSlash(path)))
	if err != nil {
		return nil, fmt.Errorf("workload: edit %s: %w", path, err)
	}
	f := &open{path: path, lines: bytes.SplitAfter(b, []byte{'\n'})}
	f.at = e.r.IntN(len(f.lines))
	return f, nil
}

func (e *Editor) isOpen(path string) bool {
	for _, f := range e.few {
		if f.path == path {
			return true
		}
	}
	return false
}

// change edits one line not far from the last one.
func (f *open) change(r *rand.Rand, w *writer, lines []string) {
	f.at = min(max(f.at+r.IntN(61)-30, 0), len(f.lines)-1)
	for len(w.b) == 0 || bytes.Equal(w.b, f.lines[f.at]) {
		w.b = w.b[:0]
		w.expand(lines[r.IntN(len(lines))])
	}
	switch n := r.IntN(10); {
	case n < 6 && len(f.lines[f.at]) > 0:
		f.lines[f.at] = w.b
	case n == 9 && len(f.lines) > 20 && len(f.lines[f.at]) > 0:
		f.lines = append(f.lines[:f.at], f.lines[f.at+1:]...)
	default:
		f.lines = append(f.lines[:f.at], append([][]byte{w.b}, f.lines[f.at:]...)...)
	}
}

// Editable picks the files that an agent would edit: source text of ordinary size.
func Editable(files []File) []string {
	var list []string
	for _, f := range files {
		if f.Link || f.Size < 200 || f.Size > 200<<10 {
			continue
		}
		switch strings.ToLower(filepath.Ext(f.Path)) {
		case ".go", ".ts", ".tsx", ".js", ".py", ".c", ".h", ".cpp", ".rs", ".java", ".rb", ".md", ".json", ".css", ".html":
			list = append(list, f.Path)
		}
	}
	return list
}
