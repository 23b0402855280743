package gitinfo

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxHeadLog is how large HEAD's log may be, in bytes: about 100,000 moves.
const maxHeadLog = 16 << 20

// HeadAt is the commit that HEAD stood on at a time, as HEAD's log tells; "": it does not reach back so far, or there
// is none. The commit itself is not looked for.
func (r *Repo) HeadAt(t time.Time) (string, error) {
	data, err := readFile(filepath.Join(r.gitDir, "logs", "HEAD"), maxHeadLog)
	if absent(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return headIn(data, t), nil
}

// headIn is HeadAt of a log's lines: old id, new id, who, seconds since 1970, zone, tab, message.
func headIn(log []byte, t time.Time) (commit string) {
	for line := range bytes.Lines(log) {
		head, _, _ := bytes.Cut(line, []byte{'\t'})
		f := strings.Fields(string(head))
		if len(f) < 4 || !isHash(f[1]) {
			continue
		}
		at, err := strconv.ParseInt(f[len(f)-2], 10, 64)
		if err == nil && at <= t.Unix() {
			commit = f[1]
		}
	}
	return commit
}

// CommitBefore is the newest commit of a branch that is no younger than a time, by its committer's clock; "": there is
// none, or no such branch. The name may be anybody's: it is read as a ref's, so that git is not asked to understand it.
func (r *Repo) CommitBefore(branch string, t time.Time) (string, error) {
	tip, err := r.readRef("refs/heads/" + branch)
	if err != nil || !isHash(tip) {
		return "", err
	}
	out, err := r.once("rev-list", "-1", "--before="+strconv.FormatInt(t.Unix(), 10), tip, "--")
	if err != nil {
		return "", err
	}
	if id := strings.TrimSpace(string(out)); isHash(id) {
		return id, nil
	}
	return "", nil
}
