package transcript

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"rewind/internal/jsonscan"
)

// codexPlace: sessions/YYYY/MM/DD/rollout-YYYY-MM-DDTHH-MM-SS-<thread>.jsonl, by the local time at which the thread
// began. Going back in the terminal goes on in a segment, ...-<thread>_<segment>.jsonl. Old files may be compressed
// (.jsonl.zst) or in archived_sessions.
var codexPlace = place{
	file:   codexFile,
	fork:   codexForkPath,
	find:   codexFind,
	id:     codexNewID,
	resume: func(id string) []string { return []string{"codex", "resume", id} },
}

const codexStamp = "2006-01-02T15-04-05"

// codexName takes a session file's name apart; segment is "" of a thread's first file.
func codexName(name string) (thread, segment string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSuffix(name, ".zst"), "rollout-")
	if !ok {
		return "", "", false
	}
	name, ok = strings.CutSuffix(name, ".jsonl")
	if !ok || len(name) <= len(codexStamp) || name[len(codexStamp)] != '-' {
		return "", "", false
	}
	if _, err := time.Parse(codexStamp, name[:len(codexStamp)]); err != nil {
		return "", "", false
	}
	thread, segment, joined := strings.Cut(name[len(codexStamp)+1:], "_")
	return thread, segment, ValidID(thread) && (!joined || ValidID(segment))
}

func codexFile(elements []string) (root int, id string, ok bool) {
	n := len(elements)
	if n == 0 {
		return 0, "", false
	}
	id, _, ok = codexName(elements[n-1])
	switch {
	case !ok:
		return 0, "", false
	case n >= 5 && elements[n-5] == "sessions" && isDay(elements[n-4:n-1]):
		return n - 5, id, true
	case n >= 2 && elements[n-2] == "archived_sessions":
		return n - 2, id, true
	}
	return 0, "", false
}

func isDay(elements []string) bool {
	_, err := time.Parse("2006/01/02", strings.Join(elements, "/"))
	return err == nil
}

func codexForkPath(_ []string, id string, t time.Time) []string {
	t = t.Local()
	return []string{"sessions", t.Format("2006"), t.Format("01"), t.Format("02"), "rollout-" + t.Format(codexStamp) + "-" + id + ".jsonl"}
}

func codexNewID(t time.Time, random [16]byte) string {
	ms := uint64(t.UnixMilli())
	for i := range 6 {
		random[i] = byte(ms >> (40 - 8*i))
	}
	return uuid(random, 7)
}

// codexFind gives the newest file of every thread: that is where the client goes on.
func codexFind(root fs.FS, _ string, give func(path string, sure bool) error) error {
	seen := map[string]bool{}
	for _, pattern := range []string{"sessions/*/*/*", "archived_sessions"} {
		dirs, err := fs.Glob(root, pattern)
		if err != nil {
			return err
		}
		for _, dir := range slices.Backward(dirs) {
			list, err := fs.ReadDir(root, dir)
			if err != nil {
				continue // a file, or gone
			}
			for _, entry := range slices.Backward(list) {
				thread, _, ok := codexName(entry.Name())
				if !ok || seen[thread] {
					continue
				}
				seen[thread] = entry.Type().IsRegular()
				if err := give(path.Join(dir, entry.Name()), false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// CodexBaseFits says whether src, a file of Codex, is the one that base is a part of: it is of that thread, and the
// record with the ordinal before base.EndOrdinal ends at base.EndOffset. The error says why not. Segments of a thread
// have the same id, so that only this tells them.
func CodexBaseFits(src Source, base Base) error {
	fail := func(why string) error { return &Error{Name: src.Name, Cause: errors.New("is not the base: " + why)} }
	if base.EndOffset <= 0 || base.EndOffset > src.Size {
		return fail("it ends before")
	}
	start, err := lineStart(src, base.EndOffset)
	if err != nil {
		return err
	}
	if start < 0 {
		return fail("no record ends there")
	}
	s := jsonscan.New(io.NewSectionReader(src, start, base.EndOffset-start), bufferSize, start)
	ordinal, found := int64(0), false
	err = s.Object(func(key []byte) error {
		if string(key) == "ordinal" {
			found = true
			return number(s, &ordinal)
		}
		return s.Skip()
	})
	if err != nil || !found || ordinal != base.EndOrdinal-1 {
		return fail("another record ends there")
	}
	thread := ""
	err = codexDialect.lines(src, 0, newLine(maxText, false), func(l *line) error {
		thread = l.Session
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if thread != base.Session && CodexBaseID(src.Name) != base.Session {
		return fail("it is another thread's")
	}
	return nil
}

// lineStart is where the line begins whose newline is the byte before end; -1: that is no newline. It reads backwards
// in pieces.
func lineStart(src Source, end int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for at, last := end, true; at > 0; {
		n := min(int64(len(buf)), at)
		if _, err := src.ReadAt(buf[:n], at-n); err != nil && err != io.EOF {
			return 0, &Error{Name: src.Name, Cause: err}
		}
		p := buf[:n]
		if last {
			if p[n-1] != '\n' {
				return -1, nil
			}
			p, last = p[:n-1], false
		}
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
	}
	return 0, nil
}
