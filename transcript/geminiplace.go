package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"rewind/internal/jsonscan"
)

// geminiPlace: tmp/<folder>/chats/session-YYYY-MM-DDTHH-MM-<first 8 of the id>.jsonl, by the minute in UTC at which the
// session began; .json is the document of 0.26, which a later client goes on with in lines. The folder is the project's
// name as projects.json has it (0.61) or the SHA-256 of its path (0.26). Subagents have folders of their own below
// chats.
var geminiPlace = place{
	file:   geminiFile,
	fork:   geminiForkPath,
	find:   geminiFind,
	folder: geminiFolder,
	resume: func(id string) []string { return []string{"gemini", "--resume", id} },
}

const geminiStamp = "2006-01-02T15-04"

func geminiName(name string) bool {
	name, ok := strings.CutPrefix(name, "session-")
	if !ok {
		return false
	}
	name, lines := strings.CutSuffix(name, ".jsonl")
	if !lines {
		name, ok = strings.CutSuffix(name, ".json")
	}
	n := len(geminiStamp)
	short := !ok || len(name) != n+9
	if short || name[n] != '-' || strings.Trim(name[n+1:], "0123456789abcdef") != "" {
		return false
	}
	_, err := time.Parse(geminiStamp, name[:n])
	return err == nil
}

func geminiFile(elements []string) (root int, id string, ok bool) {
	n := len(elements)
	elsewhere := n < 4 || elements[n-4] != "tmp"
	if elsewhere || elements[n-2] != "chats" || !geminiName(elements[n-1]) {
		return 0, "", false
	}
	return n - 4, "", true
}

func geminiForkPath(in []string, id string, t time.Time) []string {
	name := "session-" + t.UTC().Format(geminiStamp) + "-" + id[:min(8, len(id))] + path.Ext(in[len(in)-1])
	return append(slices.Clone(in[:len(in)-1]), name)
}

func geminiFind(root fs.FS, project string, give func(path string, sure bool) error) error {
	for _, folder := range geminiFolders(root, project) {
		chats := path.Join("tmp", folder, "chats")
		list, err := fs.ReadDir(root, chats)
		if err != nil {
			continue
		}
		have := map[string]bool{}
		for _, entry := range slices.Backward(list) {
			have[entry.Name()] = true
			if have[entry.Name()+"l"] {
				continue // a document that the client has gone on with in lines
			}
			file := path.Join(chats, entry.Name())
			if !entry.Type().IsRegular() || !geminiName(entry.Name()) || geminiSubagent(root, file) {
				continue
			}
			if err := give(file, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// geminiSubagent says whether a file's metadata says that it is a subagent's, which has not always had a folder of its
// own.
func geminiSubagent(root fs.FS, file string) bool {
	head, err := readHead(root, file, 4<<10)
	if err != nil {
		return false
	}
	s, kind := jsonscan.New(bytes.NewReader(head), len(head), 0), newLine(0, false)
	found := ""
	_ = s.Object(func(key []byte) error { // what is cut off is not metadata any more
		switch string(key) {
		case "kind":
			return kind.str(s, &found, maxWord)
		case "messages":
			return errEnough
		}
		return s.Skip()
	})
	return found == "subagent"
}

// geminiFolder is the folder of a project that the client knows, else the one that it takes over when it is run there
// first.
func geminiFolder(root fs.FS, project, _, _ string) (string, error) {
	return geminiFolders(root, project)[0], nil
}

// geminiFolders are the folders in tmp that are project's: by projects.json, by the mark that each has, by the hash.
func geminiFolders(root fs.FS, project string) []string {
	var out []string
	add := func(folder string) {
		one := fs.ValidPath(folder) && !strings.Contains(folder, "/")
		if one && folder != "." && !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	var known struct{ Projects map[string]string }
	if data, err := readHead(root, "projects.json", maxHead); err == nil && json.Unmarshal(data, &known) == nil {
		for path, folder := range known.Projects {
			if path == project {
				add(folder)
			}
		}
	}
	marks, _ := fs.Glob(root, "tmp/*/.project_root") // only a bad pattern fails
	for _, mark := range marks {
		if data, err := readHead(root, mark, maxPath); err == nil && strings.TrimSpace(string(data)) == project {
			add(path.Base(path.Dir(mark)))
		}
	}
	add(geminiHash(project))
	return out
}

// geminiHash is what Gemini calls a project's directory by, in its sessions and, before it had names, on disk.
func geminiHash(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:])
}

// readHead reads the first bytes of a file, at most limit.
func readHead(root fs.FS, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, limit))
}
