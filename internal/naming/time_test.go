package naming

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, now, in, want string }{
		{"UTC", "2026-11-22T16:00:00Z", "5m", "2026-11-22T15:55:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "5m ago", "2026-11-22T15:55:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "1h", "2026-11-22T15:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "1h30m", "2026-11-22T14:30:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "2 hours ago", "2026-11-22T14:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "1w", "2026-11-15T16:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "0s ago", "2026-11-22T16:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "999999w", "0001-01-01T00:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "15250w", "1734-08-15T16:00:00Z"}, // the longest that can be counted
		{"UTC", "2026-11-22T16:00:00Z", "15251w", "0001-01-01T00:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "now", "2026-11-22T16:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", " 14:10 ", "2026-11-22T14:10:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "16:10", "2026-11-21T16:10:00Z"}, // it was not yet today
		{"UTC", "2026-11-22T16:00:00Z", "9:05", "2026-11-22T09:05:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "14:10:20", "2026-11-22T14:10:20.999Z"},
		{"UTC", "2026-11-22T16:00:00Z", "2026-11-20", "2026-11-20T00:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "2026-11-20 10:00", "2026-11-20T10:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "2026-11-20T10:00:01", "2026-11-20T10:00:01.999Z"},
		{"UTC", "2026-11-22T16:00:00Z", "2026-11-20T10:00:01Z", "2026-11-20T10:00:01.999Z"},
		{"UTC", "2026-11-22T16:00:00Z", "2026-11-20T10:00:01.250+02:00", "2026-11-20T08:00:01.25Z"},
		{"UTC", "2026-11-22T16:00:05Z", "yesterday", "2026-11-21T16:00:05Z"},
		{"UTC", "2026-11-22T16:00:00Z", "yesterday 14:10", "2026-11-21T14:10:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "today", "2026-11-22T00:00:00Z"},
		{"UTC", "2026-11-22T16:00:00Z", "2999-01-01", "2999-01-01T00:00:00Z"},
		// The zone of who asks.
		{"America/New_York", "2026-11-22T21:10:00Z", "2026-11-22 16:03:30", "2026-11-22T21:03:30.999Z"},
		{"Asia/Kolkata", "2026-11-22T21:10:00Z", "02:00", "2026-11-22T20:30:00Z"},
		{"Pacific/Kiritimati", "2026-11-22T21:10:00Z", "yesterday", "2026-11-21T21:10:00Z"},
		// Clocks go forward: 02:30 did not come that day.
		{"Europe/Berlin", "2026-03-29T12:00:00Z", "02:30", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29 01:59", "2026-03-29T00:59:00Z"},
		{"Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29 03:00", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-03-30T00:30:00Z", "yesterday", "2026-03-29T01:00:00Z"}, // 02:30 that day
		{"America/New_York", "2026-03-09T12:00:00Z", "2026-03-08 02:15", "2026-03-08T07:00:00Z"},
		// And back: 02:30 came twice, the later one is meant, unless it has not come yet.
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "02:30", "2026-10-25T01:30:00Z"},
		{"Europe/Berlin", "2026-10-25T01:10:00Z", "02:30", "2026-10-25T00:30:00Z"},
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25 01:59", "2026-10-24T23:59:00Z"},
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25 03:00", "2026-10-25T02:00:00Z"},
		{"Australia/Lord_Howe", "2026-04-05T12:00:00Z", "2026-04-05 01:45", "2026-04-04T15:15:00Z"}, // half an hour
		// A day that a zone left out.
		{"Pacific/Apia", "2012-01-01T12:00:00Z", "2011-12-30 12:00", "2011-12-30T10:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		now = now.In(zone(t, c.zone))
		got, err := ParseTime(c.in, now)
		if err != nil {
			t.Errorf("%s: ParseTime(%q): %v", c.zone, c.in, err)
			continue
		}
		if is := got.UTC().Format(time.RFC3339Nano); is != c.want {
			t.Errorf("%s at %s: ParseTime(%q) = %s, want %s", c.zone, c.now, c.in, is, c.want)
		}
		name, err := Absolute("@{"+c.in+"}~2", now)
		if err != nil {
			t.Errorf("Absolute(%q): %v", c.in, err)
			continue
		}
		n, err := Parse(name)
		if err != nil || n.Back != 2 {
			t.Errorf("Absolute(%q) = %q, which is read as %+v, %v", c.in, name, n, err)
		}
		again, err := ParseTime(n.Text, now.In(time.UTC))
		if err != nil || !again.Equal(got.Truncate(time.Millisecond)) {
			t.Errorf("Absolute(%q) = %q, which is %s elsewhere, %v", c.in, name, again, err)
		}
	}
	for _, in := range []string{
		"", "yesterdayish", "5", "5x", "ago", "25:00", "14:99", "2026-13-01", "2026-02-30", "yesterday ago",
		"14:10pm", "2026-11-20 10",
	} {
		if got, err := ParseTime(in, time.Unix(0, 0).UTC()); err == nil {
			t.Errorf("ParseTime(%q) = %s, want an error", in, got)
		} else if !strings.Contains(err.Error(), "yesterday 14:10") {
			t.Errorf("ParseTime(%q): %v: names no forms", in, err)
		}
	}
}

func TestAbsoluteLeavesOtherNames(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"@", "turn:1", "works~2", "@{", "", "turn:x"} {
		if got, err := Absolute(in, time.Unix(0, 0)); err != nil || got != in {
			t.Errorf("Absolute(%q) = %q, %v", in, got, err)
		}
	}
}

// FuzzTime holds that a time that can be read is written so that it is read as the same moment anywhere.
func FuzzTime(f *testing.F) {
	for _, s := range []string{"5m", "1h30m ago", "14:10", "yesterday", "2026-11-22 16:03:30", "2026-10-25 02:30"} {
		f.Add(s, int64(1792900000))
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, sec int64) {
		now := time.Unix(sec%(1<<33), 0).In(berlin)
		got, err := ParseTime(s, now)
		if err != nil || strings.ContainsAny(s, "{}~^") || got.Year() > 9999 || got.Year() < 0 {
			return
		}
		name, err := Absolute("@{"+s+"}", now)
		if err != nil {
			t.Fatalf("Absolute(%q): %v", s, err)
		}
		n, err := Parse(name)
		if err != nil {
			t.Fatalf("Absolute(%q) = %q: %v", s, name, err)
		}
		if again, err := ParseTime(n.Text, time.Unix(0, 0).UTC()); err != nil || !again.Equal(got.Truncate(time.Millisecond)) {
			t.Fatalf("%q is %s here and %s there (%q), %v", s, got, again, name, err)
		}
	})
}
