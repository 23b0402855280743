package transcript_test

import (
	"strings"
	"testing"

	"rewind/transcript"
)

// TestRefused: what a session file says of calls that a person did not allow.
func TestRefused(t *testing.T) {
	t.Parallel()
	const (
		asks = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash"}]}}` + "\n"
		no   = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,` +
			`"content":"The user doesn't want to proceed with this tool use. The tool use was rejected (eg. ...)."}]}}` +
			"\n"
		failed = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,` +
			`"content":"no"}]}}` + "\n"
		esc = `{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}` +
			"\n"
		goes  = `{"type":"user","message":{"content":"go on"}}` + "\n"
		noise = "no record\n" + `{"type":"system"}` + "\n"
	)
	cut := strings.Replace(no, `{"type":"user"`, `{"toolDenialKind":"user-rejected","type":"user"`, 1)
	front := strings.Replace(cut, `{"tool`, `{"toolDenialBeforeRun":true,"tool`, 1)
	side := strings.Replace(no, `{"type":"user"`, `{"isSidechain":true,"type":"user"`, 1)
	for what, tt := range map[string]struct {
		agent transcript.Agent
		file  string
		calls string
		over  bool
	}{
		"in the middle":      {transcript.Claude, asks + cut + esc, "", true},
		"in front":           {transcript.Claude, asks + front + esc, "c1", true},
		"asked":              {transcript.Claude, asks, "", false},
		"refused":            {transcript.Claude, asks + no, "c1", false},
		"and stopped":        {transcript.Claude, asks + no + esc + noise, "c1", true},
		"and gone on":        {transcript.Claude, asks + no + esc + goes, "c1", false},
		"it failed":          {transcript.Claude, asks + failed, "", false},
		"a subagent's":       {transcript.Claude, asks + side, "", false},
		"half written":       {transcript.Claude, asks + strings.TrimSuffix(no, "\n"), "", false},
		"cut at the front":   {transcript.Claude, no[20:] + asks, "", false},
		"long before":        {transcript.Claude, no + strings.Repeat(noise, 1<<13), "", false},
		"of another agent's": {transcript.Codex, asks + no, "", false},
		"nothing":            {transcript.Claude, "", "", false},
	} {
		src := transcript.Source{ReaderAt: strings.NewReader(tt.file), Size: int64(len(tt.file))}
		r, err := transcript.Refused(tt.agent, src)
		if err != nil || strings.Join(r.Calls, " ") != tt.calls || r.Over != tt.over {
			t.Errorf("%s: %+v, %v; want %q, %v", what, r, err, tt.calls, tt.over)
		}
	}
}
