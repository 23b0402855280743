package clients

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"rewind/internal/osfile"
)

// maxFirst is how long the first line of a session file may be, in bytes: it holds the instructions of the model, 30 KB
// and more.
const maxFirst = 4 << 20

// Dependents returns the rollouts of Codex below root that begin with more than cut bytes of the rollout with that id
// (transcript.CodexBaseID). Such a rollout is a fork by Codex, or the continuation after the person went back. With a
// cut before that Codex refuses to open them. It reads first lines only. The rollout that is cut may be among them,
// when it continues another one of its thread. A line that cannot be read says nothing.
func Dependents(root, fileID string, cut int64) ([]string, error) {
	var out []string
	for _, dir := range []string{"sessions", "archived_sessions"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("forks of codex session %s: %s: %w", fileID, path, pathCause(err))
			}
			named := strings.HasPrefix(e.Name(), "rollout-") && strings.HasSuffix(e.Name(), ".jsonl")
			if named && e.Type().IsRegular() && beginsWith(path, fileID, cut) {
				out = append(out, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// beginsWith reports whether a rollout needs more than cut bytes of the one with the id.
func beginsWith(path, fileID string, cut int64) bool {
	var head struct {
		Payload struct {
			Base *struct {
				Thread string `json:"thread_id"`
				End    int64  `json:"end_byte_offset"`
			} `json:"history_base"`
		} `json:"payload"`
	}
	b, err := firstLine(path)
	if err != nil || json.Unmarshal(b, &head) != nil || head.Payload.Base == nil {
		return false
	}
	return head.Payload.Base.Thread == fileID && head.Payload.Base.End > cut
}

// firstLine reads the first line of a file, without its end.
func firstLine(path string) ([]byte, error) {
	f, err := osfile.OpenRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(io.LimitReader(f, maxFirst), 64<<10).ReadBytes('\n')
	if err == io.EOF && len(line) < maxFirst {
		err = nil
	}
	return line, err
}
