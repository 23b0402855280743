package transcript

import (
	"errors"
	"testing"
	"time"
)

func TestWhenWritten(t *testing.T) {
	src := lines(
		`{"type":"user","uuid":"a","message":{"content":"one"},"timestamp":"2026-11-20T10:00:01Z","gitBranch":"topic"}`,
		`{"type":"assistant","uuid":"b","parentUuid":"a","timestamp":"2026-11-20T10:00:02Z","message":{"id":"m","content":[]}}`,
	)
	for message, want := range map[string]Written{
		"a": {time.Date(2026, 11, 20, 10, 0, 1, 0, time.UTC), "topic"},
		"b": {time.Date(2026, 11, 20, 10, 0, 2, 0, time.UTC), ""},
	} {
		got, err := WhenWritten(Claude, src, message)
		if err != nil || !got.Time.Equal(want.Time) || got.Branch != want.Branch {
			t.Errorf("%s: %+v, %v, want %+v", message, got, err, want)
		}
	}
	for _, message := range []string{"", "c"} {
		if _, err := WhenWritten(Claude, src, message); !errors.Is(err, errNoMessage) {
			t.Errorf("%q: %v", message, err)
		}
	}
}
