package fakemodel

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestScripts: those of the acceptance tests can be read, and have steps.
func TestScripts(t *testing.T) {
	list, err := filepath.Glob(filepath.Join("..", "testdata", "scripts", "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range list {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, turn := range s.Turns {
			if len(turn.Steps) == 0 {
				t.Errorf("%s: turn %s has no steps", name, turn.Match)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{``, `[]`, `{"turns":[{"match":"("}]}`} {
		if _, err := Parse([]byte(s)); err == nil || !strings.HasPrefix(err.Error(), "fakemodel: parse script: ") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestGroups: what the pattern of a turn has caught is in its steps, and the first word names the turn.
func TestGroups(t *testing.T) {
	s, err := Parse([]byte(`{"turns":[{"match":"W(\\d+)-MOVE (\\S+) (\\S+)","steps":[{"text":"W${1} done",
		"tools":[{"do":"bash","command":"mv ${2} ${3}"}]}]},{"match":"PLAIN","steps":[{"text":"${1}"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	said := "W1-MOVE a b, no: W22-MOVE c d please"
	for range 2 { // the script stays as it is
		h, ok := s.pick([]Message{{User, said}}, true)
		if !ok || h.turn.Match != "W22-MOVE" || *h.step.Text != "W22 done" || h.step.Tools[0].Command != "mv c d" {
			t.Errorf("%v, %+v", ok, h)
		}
	}
	if h, ok := s.pick([]Message{{User, "PLAIN"}}, true); !ok || *h.step.Text != "${1}" {
		t.Errorf("%v, %+v", ok, h)
	}
}

func TestConcrete(t *testing.T) {
	write := Tool{Do: "write", Path: "a/b.txt", Content: "x\n"}
	edit := Tool{Do: "edit", Path: "/abs.txt", Old: "x\ny", New: "z"}
	shell := Tool{Do: "bash", Command: `echo "hi"`}
	for _, c := range []struct {
		name string
		tool Tool
		list []toolDecl
		want call
	}{
		{
			"claude write", write, named("Write", "Edit"),
			call{name: "Write", input: object{"file_path": "/proj/a/b.txt", "content": "x\n"}},
		},
		{
			"claude edit", edit, named("Write", "Edit"),
			call{name: "Edit", input: object{"file_path": "/abs.txt", "old_string": "x\ny", "new_string": "z"}},
		},
		{
			"droid edit", edit, named("Create", "Edit"),
			call{name: "Edit", input: object{"file_path": "/abs.txt", "old_str": "x\ny", "new_str": "z"}},
		},
		{"codex shell", shell, named("exec_command"), call{name: "exec_command", input: object{"cmd": `echo "hi"`}}},
		{
			"patch of a write", write,
			[]toolDecl{{Type: "custom", Name: "apply_patch"}},
			call{
				name: "apply_patch", input: "*** Begin Patch\n*** Add File: a/b.txt\n+x\n*** End Patch\n",
				custom: true,
			},
		},
		{
			"patch of an edit", edit, named("apply_patch"),
			call{
				name: "apply_patch",
				input: object{"input": "*** Begin Patch\n*** Update File: /abs.txt\n@@\n-x\n-y\n" +
					"+z\n*** End Patch\n"},
			},
		},
		{
			"code mode", shell,
			[]toolDecl{{Type: "namespace", Tools: []toolDecl{{Type: "custom", Name: "exec"}}}},
			call{name: "exec", input: `const r = await tools.exec_command({cmd: "echo \"hi\""}); text(r.output ?? r);`, custom: true},
		},
		{"raw", Tool{Raw: &RawCall{Name: "X", Input: []byte(`{"a":1}`)}}, nil, call{name: "X", input: map[string]any{"a": 1.0}}},
		{"no tool for it", shell, named("Read"), call{name: "bash", input: object{}}},
	} {
		var o offer
		o.add(c.list)
		if got := c.tool.concrete(o, "/proj"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, want %#v", c.name, got, c.want)
		}
	}
}

func named(names ...string) []toolDecl {
	var list []toolDecl
	for _, n := range names {
		list = append(list, toolDecl{Name: n})
	}
	return list
}

// FuzzRequest: no body of any protocol brings the model down, or takes it to a reply that is none.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"TURN-1"}],"tools":[{"name":"Write"}]}`,
		`{"input":[{"type":"function_call","name":"x"},{"type":"message","role":"user","content":[{"text":"TURN-1"}]}]}`,
		`{"contents":[{"parts":[{"functionResponse":{"response":{}}}]}]}`, `null`, `[]`, `{"input":7}`, `{"messages":[null]}`,
	} {
		f.Add(body)
	}
	s, err := Parse([]byte(script))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{
			"/v1/messages", "/v1/responses", "/v1/chat/completions",
			"/m:streamGenerateContent",
		} {
			x, ok, err := read(path, []byte(body))
			if !ok {
				t.Fatal(path)
			}
			if h, found := s.pick(x.talk, true); err == nil && found && h.index < 0 {
				t.Errorf("%s: step %d", path, h.index)
			}
		}
	})
}
