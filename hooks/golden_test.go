package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sample is a payload that a real agent sent; only its paths are others.
type sample struct {
	name  string // relative to testdata/payloads
	agent Agent
	data  []byte
}

func samples(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("payloads: %d files, %v", len(files), err)
	}
	var all []sample
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Base(filepath.Dir(f))
		agent, _, _ := strings.Cut(dir, "-")
		all = append(all, sample{dir + "/" + filepath.Base(f), Agent(agent), data})
	}
	return all
}

// show is an Event with a line for each field that says something.
func show(prefix string, v reflect.Value) string {
	var b strings.Builder
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		switch {
		case f.Kind() == reflect.Struct:
			b.WriteString(show(prefix+name+".", f))
		case !f.IsZero():
			fmt.Fprintf(&b, "  %s%s %q\n", prefix, name, fmt.Sprint(f.Interface()))
		}
	}
	return b.String()
}

func (k Kind) String() string {
	return [...]string{
		"Other", "SessionStart", "Prompt", "BeforeTool", "AfterTool", "Stop", "SubagentStart", "SubagentStop", "Compact",
		"SessionEnd",
	}[k]
}

func (c Class) String() string { return [...]string{"Changer", "Editor", "Reader"}[c] }

// TestPayloads holds what is understood of each payload against testdata/events.golden; UPDATE_GOLDEN=1 writes it anew.
func TestPayloads(t *testing.T) {
	var b strings.Builder
	for _, s := range samples(t) {
		ev, err := Parse(s.agent, "no-word", strings.NewReader(string(s.data)))
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		fmt.Fprintf(&b, "%s\n%s", s.name, show("", reflect.ValueOf(ev)))
	}
	const golden = "testdata/events.golden"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("line %d: got %q, want %q", i+1, got[min(i, len(got)-1)], wanted[min(i, len(wanted)-1)])
		}
	}
}

// TestCallsPair holds that the event after a call has the id of the one before it, and that two calls have two ids.
func TestCallsPair(t *testing.T) {
	before, after := map[string]string{}, map[string]string{}
	for _, s := range samples(t) {
		ev, err := Parse(s.agent, "", strings.NewReader(string(s.data)))
		if err != nil {
			t.Fatal(err)
		}
		dir, file, _ := strings.Cut(s.name, "/")
		_, variant, _ := strings.Cut(file, ".")
		switch {
		case ev.Kind == BeforeTool:
			before[dir+" "+variant] = ev.Tool.Call
		case ev.Kind == AfterTool && !ev.Failed: // the failed call is of another session
			after[dir+" "+variant] = ev.Tool.Call
		}
	}
	pairs := 0
	var ids []string
	for name, id := range before {
		dir, _, _ := strings.Cut(name, " ")
		if id == "" {
			t.Errorf("%s: no id of the call", name)
		}
		if slices.Contains(ids, dir+id) {
			t.Errorf("%s: id %s for two calls", name, id)
		}
		ids = append(ids, dir+id)
		if other, ok := after[name]; ok {
			pairs++
			if other != id {
				t.Errorf("%s: %s before, %s after", name, id, other)
			}
		}
	}
	if pairs < 15 {
		t.Errorf("%d pairs, want at least 15", pairs)
	}
}
