package transcript

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The quick way reads what time.Parse reads, and nothing else.
func TestParseStamp(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		want, err := time.Parse(time.RFC3339Nano, text)
		got, ok := parseStamp([]byte(text))
		if ok != (err == nil) || ok && (!got.Equal(want) || got.Format(time.RFC3339Nano) != want.Format(time.RFC3339Nano)) {
			t.Errorf("%q: %v, %v; time.Parse: %v, %v", text, got, ok, want, err)
		}
	}
	for _, text := range []string{
		"2026-11-20T09:45:17.269Z", "2026-02-29T09:45:17.269Z", "2024-02-29T09:45:17.269Z", "2026-11-31T00:00:00.000Z",
		"2026-00-10T00:00:00.000Z",
		"2026-11-20T24:00:00.000Z", "2026-11-20T09:45:60.000Z", "2026-11-20T09:45:17.269+", "2026-11-20t09:45:17.269z", "",
		"2026-11-20T09:45:17Z",
	} {
		check(t, text)
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := []byte("2026-11-20T09:45:17.269Z")
		for range rapid.IntRange(0, 4).Draw(rt, "edits") {
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] = rapid.SampledFrom([]byte("0123456789-:.TZ x")).Draw(rt, "byte")
		}
		check(rt, string(b))
	})
}
