package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rewind/tree/ignore"
)

// A Corpus is a choice of real files, no two of them alike, from which trees of any size are laid out: whoever stores
// equal files once gains nothing by them.
type Corpus struct {
	files []chosen // in the order of a walk
	Seen  int      // files that were looked at and could have been chosen
	// Of these, the copies of an earlier one.
	Copies      int
	SeenBytes   int64
	CopiedBytes int64
	LeftOut     int // files that git or rewind would treat in a way of its own, links, and what cannot be read
}

type chosen struct {
	from string // absolute
	to   string // from the tree's root, with slashes
}

// Len is the number of files.
func (c *Corpus) Len() int { return len(c.files) }

func (c *Corpus) String() string {
	return fmt.Sprintf("%d distinct files; skipped %d copies of them (%.1f %% of the files, %.1f %% of the bytes) and %d links, secrets, "+
		"git's own and such", len(c.files), c.Copies,
		100*float64(c.Copies)/float64(max(c.Seen, 1)), 100*float64(c.CopiedBytes)/float64(max(c.SeenBytes, 1)), c.LeftOut)
}

// DefaultCorpus is what is on every machine with Go: its source, and the modules that were ever downloaded.
func DefaultCorpus(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("workload: find Go's source: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	roots := []string{filepath.Join(strings.TrimSpace(lines[0]), "src")}
	for _, dir := range lines[1:] {
		if dir = strings.TrimSpace(dir); dir != "" {
			if _, err := os.Stat(dir); err == nil {
				roots = append(roots, dir)
			}
		}
	}
	return roots, nil
}

// special are names that change what git stores of other files, or gives back.
var special = []string{".gitignore", ".gitattributes", ".gitmodules", ".git"}

// Assemble chooses at most limit files below roots, one after the other. Several roots get a folder of their own each,
// named as they are.
func Assemble(ctx context.Context, roots []string, limit int) (*Corpus, error) {
	hidden := ignore.Secrets(slices.Concat(ignore.Globs(ignore.Exclusions()), ignore.Globs(ignore.SecretPatterns())))
	c := &Corpus{}
	seen := map[Digest]bool{}
	taken := map[string]bool{}
	for _, root := range roots {
		abs, err := filepath.Abs(root)
		if err != nil {
			return nil, fmt.Errorf("workload: assemble %s: %w", root, err)
		}
		files, err := Files(abs)
		if err != nil {
			return nil, err
		}
		prefix := ""
		if len(roots) > 1 {
			prefix = folder(filepath.Base(abs), taken) + "/"
		}
		plain := files[:0]
		for _, f := range files {
			switch to := prefix + f.Path; {
			case downloads(abs, f.Path):
			case f.Link, slices.Contains(special, path.Base(f.Path)), hidden(to):
				c.LeftOut++
			default:
				plain = append(plain, f)
			}
		}
		for part := range slices.Chunk(plain, 1024) {
			if len(c.files) == limit {
				break
			}
			if err := c.choose(ctx, abs, prefix, part, seen, limit); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// folder gives a name that is not taken yet.
func folder(base string, taken map[string]bool) string {
	name := base
	for i := 2; taken[name]; i++ {
		name = base + "-" + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}

// downloads are the archives that a module cache keeps of the same files.
func downloads(root, file string) bool {
	return filepath.Base(root) == "mod" && strings.HasPrefix(file, "cache/")
}

// choose reads files and keeps those that are new.
func (c *Corpus) choose(ctx context.Context, root, prefix string, files []File, seen map[Digest]bool, limit int) error {
	sums, errs := make([]Digest, len(files)), make([]error, len(files))
	each(len(files), func(i int) {
		var b []byte
		if b, errs[i] = content(root, files[i]); errs[i] == nil {
			sums[i] = Hash(File{}, b)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, f := range files {
		if errs[i] != nil {
			c.LeftOut++
			continue
		}
		c.Seen++
		c.SeenBytes += f.Size
		if seen[sums[i]] {
			c.Copies++
			c.CopiedBytes += f.Size
			continue
		}
		seen[sums[i]] = true
		if c.files = append(c.files, chosen{filepath.Join(root, filepath.FromSlash(f.Path)), prefix + f.Path}); len(c.files) == limit {
			break
		}
	}
	return nil
}

// Lay writes the first n files into dir, which it makes, in the folders that they had. Modes and times stay.
func (c *Corpus) Lay(ctx context.Context, dir string, n int) error {
	if n > len(c.files) {
		return fmt.Errorf("workload: lay out %s: %d files wanted, the corpus has %d", dir, n, len(c.files))
	}
	made := map[string]bool{}
	for _, f := range c.files[:n] {
		d := filepath.Join(dir, filepath.FromSlash(path.Dir(f.to)))
		if made[d] {
			continue
		}
		made[d] = true
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("workload: lay out %s: %w", dir, err)
		}
	}
	errs := make([]error, n)
	each(n, func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = copyFile(filepath.Join(dir, filepath.FromSlash(c.files[i].to)), c.files[i].from, false)
		}
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return fmt.Errorf("workload: lay out %s: %w", dir, errs[i])
	}
	return nil
}

// each calls fn for 0 to n-1, some at a time.
func each(n int, fn func(int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				fn(i)
			}
		})
	}
	wg.Wait()
}

// SameTree tells what is wrong with a tree that should have these digests; nil: nothing.
func SameTree(ctx context.Context, root string, want map[string]Digest) error {
	got, err := HashTree(ctx, root)
	if err != nil {
		return err
	}
	for p, sum := range want {
		if have, ok := got[p]; !ok {
			return fmt.Errorf("workload: compare %s: %q is missing", root, p)
		} else if have != sum {
			return fmt.Errorf("workload: compare %s: %q is another file", root, p)
		}
	}
	if len(got) > len(want) {
		return errors.New("workload: compare " + root + ": there are more files than there should be")
	}
	return nil
}
