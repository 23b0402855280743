package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// listing describes everything below root that a restore could touch, one line a path in the order of the paths: type,
// permission bits 07777, a hash of the content or the target of a symlink, and the quoted name. The directories of git
// and of rewind at the top are left out.
func listing(root string) (string, error) {
	return listingOf(root, []string{".git", ".agent"})
}

// listingOf is listing with other names left out at the top.
func listingOf(root string, without []string) (string, error) {
	var lines []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		if slices.Contains(without, rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case fi.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("%x", sha256.Sum256(b))
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("%q", target)
		}
		lines = append(lines, fmt.Sprintf("%q %s %04o %s\n", rel, fi.Mode().Type(), fi.Sys().(*syscall.Stat_t).Mode&0o7777, what))
		return nil
	})
	slices.Sort(lines)
	return strings.Join(lines, ""), err
}

// difference lists the lines that only one of two texts has; empty when they are equal.
func difference(a, b string) string {
	if a == b {
		return ""
	}
	var out strings.Builder
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, l := range la {
		if !slices.Contains(lb, l) {
			out.WriteString("- " + l + "\n")
		}
	}
	for _, l := range lb {
		if !slices.Contains(la, l) {
			out.WriteString("+ " + l + "\n")
		}
	}
	if out.Len() == 0 {
		return "the order of the lines differs\n"
	}
	return out.String()
}
