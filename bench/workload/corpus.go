package workload

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A File is a file or symlink of a tree.
type File struct {
	Path string // relative to the root, with slashes
	Size int64  // bytes
	Exec bool   // somebody may execute it
	Link bool
}

// skipped are directories that are no part of a corpus: repositories and rewind's own.
var skipped = map[string]bool{".git": true, ".agent": true}

// Files lists a tree in the order of a walk, without repositories and special files.
func Files(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" || path != root && skipped[d.Name()] {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		link := d.Type()&fs.ModeSymlink != 0
		if !d.Type().IsRegular() && !link {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files = append(files, File{Path: filepath.ToSlash(rel), Size: info.Size(), Exec: !link && info.Mode()&0o111 != 0, Link: link})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("workload: list %s: %w", root, err)
	}
	return files, nil
}

// Copy copies a tree without repositories and special files. Modes and times are kept, so that the copy is as old as
// the original.
func Copy(ctx context.Context, dst, src string) error {
	files, err := Files(src)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err = ctx.Err(); err != nil {
			break
		}
		rel := filepath.FromSlash(f.Path)
		to := filepath.Join(dst, rel)
		if err = os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			break
		}
		if err = copyFile(to, filepath.Join(src, rel), f.Link); err != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("workload: copy %s: %w", src, err)
	}
	return nil
}

func copyFile(to, from string, link bool) error {
	if link {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// GoSource is the directory with the source of the Go distribution in use.
func GoSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("workload: find Go's source: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}

// Digest identifies the content and kind of one file.
type Digest [sha256.Size]byte

// Hash gives the digest of content.
func Hash(f File, content []byte) Digest {
	h := sha256.New()
	fmt.Fprintf(h, "%t %t\n", f.Exec, f.Link)
	h.Write(content)
	return Digest(h.Sum(nil))
}

// HashTree reads a whole tree and gives the digest of every file by its path.
func HashTree(ctx context.Context, root string) (map[string]Digest, error) {
	files, err := Files(root)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]Digest, len(files))
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := content(root, f)
		if err != nil {
			return nil, fmt.Errorf("workload: hash %s: %w", f.Path, err)
		}
		sums[f.Path] = Hash(f, b)
	}
	return sums, nil
}

func content(root string, f File) ([]byte, error) {
	path := filepath.Join(root, filepath.FromSlash(f.Path))
	if f.Link {
		s, err := os.Readlink(path)
		return []byte(s), err
	}
	return os.ReadFile(path)
}

// Stats sizes a corpus.
type Stats struct {
	Files     int   `json:"files"`
	Dirs      int   `json:"folders"`
	Bytes     int64 `json:"bytes"`
	Duplicate int64 `json:"duplicate_bytes"` // of files whose content an earlier file has
}

// Measure reads a tree.
func Measure(ctx context.Context, root string) (Stats, error) {
	files, err := Files(root)
	if err != nil {
		return Stats{}, err
	}
	sums, err := HashTree(ctx, root)
	if err != nil {
		return Stats{}, err
	}
	var s Stats
	seen, dirs := map[Digest]bool{}, map[string]bool{}
	for _, f := range files {
		s.Files++
		s.Bytes += f.Size
		if seen[sums[f.Path]] {
			s.Duplicate += f.Size
		}
		seen[sums[f.Path]] = true
		for d := f.Path; ; {
			i := strings.LastIndexByte(d, '/')
			if i < 0 || dirs[d[:i]] {
				break
			}
			d = d[:i]
			dirs[d] = true
		}
	}
	s.Dirs = len(dirs)
	return s, nil
}

func (s Stats) String() string {
	return fmt.Sprintf("%d files in %d folders, %.1f MB, %.1f %% of the bytes in whole copies", s.Files, s.Dirs, float64(s.Bytes)/1e6,
		100*float64(s.Duplicate)/float64(max(s.Bytes, 1)))
}
