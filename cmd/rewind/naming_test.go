package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/kv"
	"rewind/objstore"
)

// TestAmbiguousPrefix makes two checkpoint objects whose ids begin alike, which would take hundreds of real ones.
func TestAmbiguousPrefix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "a\n"})
	mustHere(t, dir, "init", "--mode", "project")
	id := checkpoints(t, dir)[0]
	twin(t, filepath.Join(dir, ".agent/rewind/store"), id[:4])

	code, out, errs := here(dir, "checkout", id[:4])
	if code != 13 || out != "" {
		t.Errorf("checkout %s: exit code %d, want 13\n%s", id[:4], code, out)
	}
	for _, want := range []string{
		"rewind: error: checkpoint \"" + id[:4] + "\": ", "ambiguous", "\n  " + id[:40] + "\n",
		"\nrewind: hint: give more digits\n",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in\n%s", want, errs)
		}
	}
	code, _, errs = here(dir, "show", id[:4], "--json")
	var v struct{ Error api.Error }
	if err := json.Unmarshal([]byte(errs), &v); err != nil || code != 13 || v.Error.Word != "ambiguous" || len(v.Error.Candidates) != 2 {
		t.Errorf("show --json: exit code %d, %v\n%s", code, err, errs)
	}
	mustHere(t, dir, "checkout", id)
	var list struct{ Checkpoints []struct{ Short string } }
	if err := json.Unmarshal([]byte(mustHere(t, dir, "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	mustHere(t, dir, "show", list.Checkpoints[0].Short)
}

// twin puts another object of the kind of checkpoints into a store; its id begins with the digits given.
func twin(t *testing.T, store, digits string) {
	t.Helper()
	db, err := kv.Open(context.Background(), store, kv.Options{LockWait: 5 * time.Second})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	raw := make([]byte, 8)
	for i := uint64(0); ; i++ {
		binary.BigEndian.PutUint64(raw, i)
		if strings.HasPrefix(objstore.Sum(objstore.Checkpoint, raw).String(), digits) {
			break
		}
	}
	tx := objstore.New(db).Begin()
	_, err = tx.Put(objstore.Checkpoint, raw, objstore.Zero)
	must(t, err, tx.Commit(context.Background(), kv.Durable))
}
