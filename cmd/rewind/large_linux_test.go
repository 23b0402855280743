package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/torture"
)

const (
	mostOfOne  = 256 << 20 // bytes of memory in which a huge file is saved
	mostOfMany = 1 << 30   // bytes of memory in which a million files are
)

// savedIn runs the real program in a project and returns the most memory that it had, in bytes.
func savedIn(t *testing.T, dir string, args ...string) int64 {
	t.Helper()
	program, err := realProgram()
	must(t, err)
	cmd := exec.Command(program, append([]string{"-C", dir}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	most, ended := make(chan int64), make(chan struct{})
	go func() { most <- peak(cmd.Process.Pid, ended) }()
	err = cmd.Wait()
	if close(ended); err != nil {
		t.Fatalf("rewind %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return <-most
}

// TestT13Promise13ManyFiles saves what is large, each in bounded memory: a sparse file (10 KiB for each file that the
// test is asked for), so many files, a fifth of them in one directory.
func TestT13Promise13ManyFiles(t *testing.T) {
	m := torture.Begin(t)
	base := memoryDir(t)
	if torture.Full() {
		base = t.TempDir() // a million files want more than memory
	}
	dir := filepath.Join(base, "p")
	write(t, dir, map[string]string{"a": "one\n"})
	mustHere(t, dir, "init", "--mode", "project")
	mustHere(t, dir, "config", "limits.file_size", "100GiB")

	size := int64(m.Points) * 10 << 10
	f, err := os.Create(filepath.Join(dir, "sparse"))
	must(t, err)
	must(t, f.Truncate(size), f.Close())
	one := savedIn(t, dir, "save", "sparse")
	if one > mostOfOne {
		t.Errorf("a file of %d bytes took %d bytes of memory", size, one)
	}
	wide := m.Points / 5
	fill(t, dir, "many", m.Points-wide, 500, m.Point)
	fill(t, dir, "wide", wide, wide, m.Point)
	many := savedIn(t, dir, "save", "many")
	if many > mostOfMany {
		t.Errorf("%d files took %d bytes of memory", m.Points, many)
	}
	t.Logf("%d MiB of memory for %d MiB in one file, %d MiB for %d files", one>>20, size>>20, many>>20, m.Points)
	if out := mustHere(t, dir, "diff", "--name-only"); out != "" {
		t.Errorf("left out: %.1000s", out)
	}
	m.Acked(m.Points)
	var v struct{ Checkpoint struct{ Files int } }
	must(t, json.Unmarshal([]byte(mustHere(t, dir, "show", "@", "--json")), &v))
	if want := 2 + m.Points; v.Checkpoint.Files != want {
		m.Lost(want - v.Checkpoint.Files)
		t.Errorf("%d files are stored, want %d", v.Checkpoint.Files, want)
	}
}

// fill makes n files below top, so many in each directory; one in ten has something in it.
func fill(t *testing.T, dir, top string, n, each int, made func()) {
	t.Helper()
	for i := range n {
		sub := filepath.Join(dir, top, fmt.Sprint(i/each))
		if i%each == 0 {
			must(t, os.MkdirAll(sub, 0o755))
		}
		text := ""
		if i%10 == 0 {
			text = fmt.Sprint(i)
		}
		must(t, os.WriteFile(filepath.Join(sub, fmt.Sprintf("file-%d", i)), []byte(text), 0o644))
		made()
	}
}
