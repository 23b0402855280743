package clients

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDependents(t *testing.T) {
	root := t.TempDir()
	day := filepath.Join(root, "sessions", "2026", "11", "20")
	rollout := func(dir, id, base string) string {
		line := fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q,"base_instructions":{"text":%q}%s}}`, id,
			strings.Repeat("x", 40<<10), base)
		return put(t, filepath.Join(dir, "rollout-2026-11-20T10-00-00-"+id+".jsonl"), line+"\n{\"type\":\"other\"}\n")
	}
	on := func(id string, end int) string {
		return fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":3,"end_byte_offset":%d}`, id, end)
	}
	rollout(day, session, "")
	rollout(day, "of-another", on("another", 5000))
	rollout(day, "up-to-the-cut", on(session, 1000))
	want := []string{
		rollout(filepath.Join(root, "archived_sessions"), "archived", on(session, 9000)),
		rollout(day, "beyond", on(session, 1001)),
		rollout(filepath.Join(root, "sessions", "2026", "12", "01"), session+"_segment", on(session, 5000)),
	}
	put(t, filepath.Join(day, "rollout-no-json.jsonl"), "{\"payload\":{\"history_base\":\n")
	put(t, filepath.Join(day, "rollout-empty.jsonl"), "")
	put(t, filepath.Join(day, "rollout-endless.jsonl"), strings.Repeat("[", maxFirst+10))
	put(t, filepath.Join(day, "note.txt"), get(t, want[1]))
	got, err := Dependents(root, session, 1000)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, err := Dependents(root, session, 9000); err != nil || len(got) != 0 {
		t.Errorf("behind all: %q, %v", got, err)
	}
	if got, err := Dependents(filepath.Join(root, "none"), session, 0); err != nil || len(got) != 0 {
		t.Errorf("without sessions: %q, %v", got, err)
	}
}
