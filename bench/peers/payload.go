package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	"rewind/bench/workload"
)

// payload is what Claude Code writes to a PostToolUse hook after a call of its tool Edit in the tree at root. The real
// one quotes the whole file as it was; this one, as it is, which is as long.
func payload(root string, ed workload.Edit) []byte {
	file := filepath.Join(root, filepath.FromSlash(ed.Path))
	line, _, _ := bytes.Cut(ed.Data, []byte{'\n'})
	was, is := string(line), string(line)+" "
	type object = map[string]any
	return get(json.Marshal(object{
		"session_id":      "c9455afc-4741-4ac5-9e9b-ead6c3afbe0a",
		"transcript_path": filepath.Join(filepath.Dir(root), "transcript.jsonl"), // it is not there
		"cwd":             root,
		"prompt_id":       "33311054-b639-426a-8ede-15a9964e66a9",
		"permission_mode": "acceptEdits",
		"effort":          object{"level": "medium"},
		"hook_event_name": "PostToolUse",
		"tool_name":       "Edit",
		"tool_input":      object{"file_path": file, "old_string": was, "new_string": is, "replace_all": false},
		"tool_response": object{
			"filePath": file, "oldString": was, "newString": is, "originalFile": string(ed.Data),
			"structuredPatch": []object{{
				"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
				"lines": []string{"-" + was, "+" + is},
			}},
			"userModified": false, "replaceAll": false,
		},
		"tool_use_id": "toolu_3d83dd91472828e095dc7d7d",
		"duration_ms": 6,
	}))
}
