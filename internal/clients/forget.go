package clients

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"rewind/internal/value"
	"rewind/transcript"
)

// Forget drops what an agent has kept of what a session file said, after the file was cut in place, or put back;
// nothing may have the session open. Only Codex keeps something: what its screen shows of a thread, with offsets into
// the rollout. Without this it shows what was cut off, and never what comes after. It reads the rollout again when the
// thread is resumed.
//
// It has no call that does this: thread/read, thread/resume, thread/turns/list, archive and unarchive of 0.169 all
// leave the rows alone.
func Forget(ctx context.Context, agent transcript.Agent, env value.AgentEnv, root, id string) error {
	if agent != transcript.Codex {
		return nil
	}
	var errs []error
	for _, path := range codexHistories(env, root) {
		if err := forgetThread(ctx, path, id); err != nil {
			errs = append(errs, fmt.Errorf("forget codex session %s: %s: %w", id, path, err))
		}
	}
	return errors.Join(errs...)
}

// codexHistories are Codex's databases of what threads said; the number in the name is of its format.
func codexHistories(env value.AgentEnv, root string) []string {
	var out []string
	for _, dir := range []string{root, env.Var("CODEX_SQLITE_HOME"), sqliteHome(root)} {
		if !filepath.IsAbs(dir) {
			continue
		}
		list, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "thread_history_*.sqlite")) // the pattern is a good one
		for _, path := range list {
			if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(out, real) {
				out = append(out, real)
			}
		}
	}
	return out
}

var sqliteHomeRE = regexp.MustCompile(`(?m)^[ \t]*sqlite_home[ \t]*=[ \t]*(?:"([^"\\\n]*)"|'([^'\n]*)')`)

// sqliteHome is where the configuration of Codex moves its databases; "" for nowhere.
func sqliteHome(root string) string {
	b, err := readSmall(filepath.Join(root, "config.toml"), maxNote)
	if err != nil {
		return ""
	}
	top, _, _ := strings.Cut("\n"+string(b), "\n[")
	m := sqliteHomeRE.FindStringSubmatch(top)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// historyTables are what Codex keeps of a thread, the state of its reading last.
var historyTables = []string{"thread_turns", "thread_items", "thread_realtime_items", "thread_history_projection_state"}

// forgetThread deletes a thread's rows in one transaction. It waits up to 5 s for another program's.
func forgetThread(ctx context.Context, path, id string) error {
	if fi, err := os.Lstat(path); err != nil {
		return pathCause(err)
	} else if !fi.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	db, err := sql.Open("sqlite", databaseURL(path))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, table := range historyTables {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info(?) WHERE name = 'thread_id'`, table).Scan(&n)
		if err == nil && n == 1 {
			_, err = tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE thread_id = ?`, id)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// databaseURL names a database that exists; none is made. The transaction begins as a writer, for which the wait
// counts.
func databaseURL(path string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "mode=rw&_txlock=immediate&_pragma=busy_timeout(5000)"}
	return u.String()
}
