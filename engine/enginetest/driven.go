package enginetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Driven is session files that a released agent was driven to write, with what is true of them: the test that drove it
// says so (TestDriven of internal/acceptance).
type Driven struct {
	Project  string          `json:"project"`
	Sessions []DrivenSession `json:"sessions"`
	files    map[string][]byte
}

// DrivenSession is one of them.
type DrivenSession struct {
	File   string `json:"file"` // below the home directory
	ID     string `json:"id"`
	Kind   string `json:"kind"`             // what was done
	Parent string `json:"parent,omitempty"` // the agent's id of the session that it was made of; "": of none
	Turn   int    `json:"turn,omitempty"`   // the last turn that both have, as the parent counts
	// The ways that were left within it, by their first turns; nil: what came of them is not told. Turns count from 1,
	// those left too.
	Left []DrivenWay `json:"left"`
}

// DrivenWay is a way that was left: the turn that it parted behind, 0 for none, and its own.
type DrivenWay struct {
	After int   `json:"after"`
	Turns []int `json:"turns"`
}

// Name is what the project calls the session.
func (s DrivenSession) Name() string { return s.name(s.ID) }

// Of is what the project calls the session that it was made of; "": it was made of none.
func (s DrivenSession) Of() string {
	if s.Parent == "" || s.Parent == s.ID {
		return ""
	}
	return s.name(s.Parent)
}

func (s DrivenSession) name(id string) string {
	agent := map[string]string{".claude": "claude", ".codex": "codex", ".gemini": "gemini", ".factory": "droid"}
	first, _, _ := strings.Cut(s.File, "/")
	return agent[first] + "/" + id
}

// ReadDriven reads what is kept below a directory.
func ReadDriven(dir string) (*Driven, error) {
	d := &Driven{files: map[string][]byte{}}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if rel == "truth.json" {
			return json.Unmarshal(b, d)
		}
		d.files[filepath.ToSlash(rel)] = b
		return err
	})
	return d, err
}

// ReadDrivenSets reads an archive of several, by the names of their directories: a tar that is packed with gzip.
func ReadDrivenSets(path string) (map[string]*Driven, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	sets := map[string]*Driven{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return sets, nil
		}
		if err != nil {
			return nil, err
		}
		dir, name, ok := strings.Cut(strings.TrimPrefix(h.Name, "./"), "/")
		if h.Typeflag != tar.TypeReg || !ok {
			continue
		}
		if sets[dir] == nil {
			sets[dir] = &Driven{files: map[string][]byte{}}
		}
		b, err := io.ReadAll(r)
		if err == nil && name == "truth.json" {
			err = json.Unmarshal(b, sets[dir])
		} else {
			sets[dir].files[name] = b
		}
		if err != nil {
			return nil, err
		}
	}
}

// Write lays all of it out below a directory.
func (d *Driven) Write(dir string) error {
	truth, err := json.MarshalIndent(d, "", " ")
	if err == nil {
		err = write(filepath.Join(dir, "truth.json"), append(truth, '\n'))
	}
	for name, b := range d.files {
		if err == nil {
			err = write(filepath.Join(dir, filepath.FromSlash(name)), b)
		}
	}
	return err
}

// Put lays one session's file out below a home directory.
func (d *Driven) Put(home string, s DrivenSession) error {
	return write(filepath.Join(home, filepath.FromSlash(s.File)), d.files[s.File])
}

// Aside lays out below a home directory what is no session's.
func (d *Driven) Aside(home string) error {
	for name, b := range d.files {
		if !slices.ContainsFunc(d.Sessions, func(s DrivenSession) bool { return s.File == name }) {
			if err := write(filepath.Join(home, filepath.FromSlash(name)), b); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

var (
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.){240,}"`)
	quotedList = regexp.MustCompile(`\[(?:"(?:[^"\\]|\\.)*",?){8,}\]`)
)

// Shorten cuts the long texts and lists of the sessions: what a model is told of itself and of its tools, and pictures.
func (d *Driven) Shorten() {
	d.edit(func(line []byte) []byte {
		line = withoutTools(line)
		line = quotedList.ReplaceAllFunc(line, func([]byte) []byte { return []byte("[]") })
		return quotedText.ReplaceAllFunc(line, func(text []byte) []byte {
			cut := 120
			if i := bytes.LastIndexByte(text[:cut], '\\'); i >= 0 {
				cut = i
			}
			for cut > 1 && text[cut]&0xC0 == 0x80 {
				cut--
			}
			return append(bytes.Clone(text[:cut]), '"')
		})
	})
}

// withoutTools empties a list of tools, which is mostly schemas.
func withoutTools(line []byte) []byte {
	before, rest, ok := bytes.Cut(line, []byte(`"tools":[{`))
	if !ok {
		return line
	}
	dec := json.NewDecoder(bytes.NewReader(append([]byte("[{"), rest...)))
	var list json.RawMessage
	if dec.Decode(&list) != nil || len(list) < 1<<10 {
		return line
	}
	return slices.Concat(before, []byte(`"tools":[]`), rest[dec.InputOffset()-2:])
}

// Move makes another directory that in which the sessions were held.
func (d *Driven) Move(project string) {
	d.rename(func(s string) string {
		for _, as := range []func(string) string{dashed, hashed} {
			s = strings.ReplaceAll(s, as(d.Project), as(project))
		}
		return s
	})
	d.edit(func(line []byte) []byte {
		for _, as := range []func(string) string{func(s string) string { return s }, dashed, hashed} {
			line = bytes.ReplaceAll(line, []byte(as(d.Project)), []byte(as(project)))
		}
		return line
	})
	d.Project = project
}

func dashed(dir string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, dir)
}

func hashed(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

func (d *Driven) rename(to func(string) string) {
	files := map[string][]byte{}
	for name, b := range d.files {
		files[to(name)] = b
	}
	d.files = files
	for i := range d.Sessions {
		d.Sessions[i].File = to(d.Sessions[i].File)
	}
}

var (
	baseThread = regexp.MustCompile(`"history_base":\{"thread_id":"([^"]+)"`)
	baseEnd    = regexp.MustCompile(`"end_byte_offset":(\d+)`)
)

// edit changes the lines of all files. Where a file names a byte of another one, it names the same place after it.
func (d *Driven) edit(line func([]byte) []byte) {
	moved := map[string]map[int64]int64{}
	names := make([]string, 0, len(d.files))
	for name := range d.files {
		names = append(names, name)
	}
	slices.Sort(names) // a file comes behind those that it goes on from: names begin with the time
	for _, name := range names {
		at, to := int64(0), []byte(nil)
		ends := map[int64]int64{}
		for l := range bytes.Lines(d.files[name]) {
			at += int64(len(l))
			l = line(bytes.Clone(l))
			if m := baseThread.FindSubmatch(l); m != nil {
				l = baseEnd.ReplaceAllFunc(l, func(text []byte) []byte {
					n, _ := strconv.ParseInt(string(baseEnd.FindSubmatch(text)[1]), 10, 64)
					for of, ends := range moved {
						if end, ok := ends[n]; ok && strings.Contains(of, string(m[1])) {
							return []byte(`"end_byte_offset":` + strconv.FormatInt(end, 10))
						}
					}
					return text
				})
			}
			to = append(to, l...)
			ends[at] = int64(len(to))
		}
		d.files[name], moved[name] = to, ends
	}
}
