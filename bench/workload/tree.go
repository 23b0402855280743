package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
)

// A Spec describes a generated tree.
type Spec struct {
	Files int
	Seed  uint64
}

// Sizes of generated files, in bytes: log-normal, clipped at both ends. The mean is near 4 KiB.
const (
	medianSize = 2500
	sigma      = 1.0 // of the logarithm
	minSize    = 64
	maxSize    = 256 << 10
)

// copies is how many of a hundred files are byte for byte the copy of another: vendored files, fixtures, licences.
const copies = 3

// perDir is the mean number of files of a directory that holds files.
const perDir = 12

// A planned file: what it holds follows from text alone.
type planned struct {
	path string
	text int // whose text: its own index, or for a copy that of an earlier file
	lang int
	size int
}

// plan lays out the tree. Every file lies in 3 to 5 folders.
func (s Spec) plan(words []string) []planned {
	r := rand.New(rand.NewPCG(s.Seed, 't'))
	name := func() string { return words[r.IntN(len(words))] }
	// Directories grow as a forest: a new one joins an earlier one that is not deep yet.
	type dir struct {
		path  string
		depth int
	}
	var shallow, deep []dir
	used := map[string]bool{}
	add := func(parent dir) dir {
		for {
			d := dir{name(), parent.depth + 1}
			if parent.path != "" {
				d.path = parent.path + "/" + d.path
			}
			if !used[d.path] {
				used[d.path] = true
				return d
			}
		}
	}
	for len(deep) < max(1, s.Files/perDir) {
		var d dir
		if len(shallow) == 0 || r.IntN(len(shallow)) == 0 {
			d = add(dir{})
		} else {
			d = add(shallow[r.IntN(len(shallow))])
		}
		if d.depth < 5 {
			shallow = append(shallow, d)
		}
		if d.depth >= 3 {
			deep = append(deep, d)
		}
	}
	files := make([]planned, s.Files)
	for i := range files {
		f := planned{text: i, lang: r.IntN(len(languages))}
		size := medianSize * math.Exp(sigma*r.NormFloat64())
		f.size = int(min(max(size, minSize), maxSize))
		if i > 0 && r.IntN(100) < copies {
			j := r.IntN(i)
			f.text, f.lang, f.size = files[j].text, files[j].lang, files[j].size
		}
		d := deep[r.IntN(len(deep))]
		for {
			f.path = d.path + "/" + name() + languages[f.lang].ext
			if used[f.path] {
				f.path = d.path + "/" + name() + "_" + strconv.Itoa(i) + languages[f.lang].ext
			}
			if !used[f.path] {
				used[f.path] = true
				break
			}
		}
		files[i] = f
	}
	return files
}

// Generate writes the tree into dir, which it makes.
func Generate(ctx context.Context, dir string, s Spec) error {
	words := vocabulary(s.Seed)
	files := s.plan(words)
	made := map[string]bool{}
	for _, f := range files {
		d := filepath.Join(dir, filepath.Dir(filepath.FromSlash(f.path)))
		if made[d] {
			continue
		}
		made[d] = true
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("workload: generate %s: %w", dir, err)
		}
	}
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(files) && errs[w] == nil; i += workers {
				f := files[i]
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				errs[w] = os.WriteFile(filepath.Join(dir, filepath.FromSlash(f.path)), s.content(words, f), 0o644)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("workload: generate %s: %w", dir, err)
	}
	return nil
}

func (s Spec) content(words []string, f planned) []byte {
	r := rand.New(rand.NewPCG(s.Seed, uint64(f.text)+1<<32))
	return newWriter(r, words).text(languages[f.lang], f.size)
}

// bigFile is 3 folders deep; bigSize is its length in bytes.
const (
	bigFile = "src/app/core/engine.go"
	bigSize = 100 << 10
)

// BigFile makes a small project in dir around one file of 100 KiB that lies 3 folders deep, each folder with some
// neighbours, and returns the file's path.
func BigFile(dir string, seed uint64) (string, error) {
	words := vocabulary(seed)
	write := func(path string, i, size int) error {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		return os.WriteFile(full, newWriter(r, words).text(languages[0], size), 0o644)
	}
	err := write(bigFile, 0, bigSize)
	i := 0
	for d := filepath.Dir(bigFile); ; d = filepath.Dir(d) {
		for range 9 {
			i++
			err = errors.Join(err, write(d+"/"+words[i]+".go", i, 1000+100*i))
		}
		if d == "." {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("workload: make %s: %w", dir, err)
	}
	return bigFile, nil
}
