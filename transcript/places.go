package transcript

import (
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf16"
)

// claudePlace: <root>/projects/<the project's path>/<id>.jsonl.
var claudePlace = folders("projects", "", func(id string) []string { return []string{"claude", "--resume", id} })

// droidPlace: <root>/sessions/<the project's path>/<id>.jsonl, with <id>.settings.json beside it.
var droidPlace = folders("sessions", ".settings.json", func(id string) []string { return []string{"droid", "--resume", id} })

// folders is the place of an agent that has a folder for each project in the folder in, and in that a file <id>.jsonl for each session, with an optional
// <id><side> beside it; "": it has none.
func folders(in, side string, resume func(id string) []string) place {
	p := place{
		file: func(elements []string) (int, string, bool) {
			n := len(elements)
			if n < 4 || elements[n-3] != in {
				return 0, "", false
			}
			id, ok := strings.CutSuffix(elements[n-1], ".jsonl")
			return n - 3, id, ok && ValidID(id)
		},
		fork: func(elements []string, id string, _ time.Time) []string {
			return []string{in, elements[1], id + ".jsonl"}
		},
		find: func(root fs.FS, project string, give func(string, bool) error) error {
			return findInFolders(root, in, project, give)
		},
		resume: resume,
	}
	if side == "" {
		return p
	}
	const lines = ".jsonl"
	p.sides = func(original, fork string) []Side {
		return []Side{{From: strings.TrimSuffix(original, lines) + side, To: strings.TrimSuffix(fork, lines) + side, Optional: true}}
	}
	p.main = func(name string) (string, bool) {
		id, ok := strings.CutSuffix(name, side)
		return id + lines, ok
	}
	return p
}

func findInFolders(root fs.FS, in, project string, give func(string, bool) error) error {
	projects, err := fs.ReadDir(root, in)
	if err != nil {
		return err
	}
	for _, p := range projects {
		if !p.IsDir() || !folderOf(p.Name(), project) {
			continue
		}
		dir := path.Join(in, p.Name())
		files, err := fs.ReadDir(root, dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if id, ok := strings.CutSuffix(f.Name(), ".jsonl"); ok && ValidID(id) {
				if err := give(path.Join(dir, f.Name()), false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maxFolder is the length at which Claude cuts a folder's name, and adds a hash.
const maxFolder = 200

// folderOf says whether a folder of that name may be project's: its path with - for what is neither letter nor digit. Other projects may have
// the same.
func folderOf(name, project string) bool {
	want := dashes(project)
	if len(want) > maxFolder {
		return strings.HasPrefix(dashes(name), want[:maxFolder])
	}
	return dashes(name) == want
}

func dashes(s string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(s)) { // as JavaScript counts
		if c < 0x80 && isAlnum(byte(c)) {
			b.WriteByte(byte(c))
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
