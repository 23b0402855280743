package naming

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// wantTime is what a text that is no time is told.
const wantTime = `is not a time such as "3m ago", "5m", "2 hours", "14:10", "yesterday", ` +
	`"yesterday 14:10", "2026-11-20", "2026-11-20 10:00" or "2026-11-20 10:00:00"`

const hours = `[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?`

const unit = `(s|sec|secs|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)`

var (
	ago    = pattern(`^(?:[0-9]{1,6} ?` + unit + ` ?)+(?:ago)?$`)
	agoOne = pattern(`([0-9]{1,6}) ?` + unit)
	clock  = pattern(`^(?:(today|yesterday|[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T](` + hours + `))?|(` + hours + `))$`)
)

var units = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// ParseTime reads a time as a person writes it, relative to now and in its zone. It takes "5m", "2 hours ago", "14:10"
// (the last time it was 14:10), a date (its beginning), a date with time, "yesterday" (this time yesterday), and RFC
// 3339. A second that is named is meant whole, for times are shown without the fraction. Where clocks are set forward a
// time that was left out is the moment of the change; where they are set back, and a time comes twice, it is the later
// one that is not after now.
func ParseTime(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if ago().MatchString(s) {
		return back(s, now), nil
	}
	if s == "now" {
		return now, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		if !strings.Contains(s, ".") {
			t = t.Add(wholeSecond)
		}
		return t, nil
	}
	m := clock().FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, fmt.Errorf("%q %s", s, wantTime)
	}
	date, of := m[1], m[2]+m[3]
	wall, err := wallClock(of)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q %s", s, wantTime)
	}
	y, mon, d := now.Date()
	switch date {
	case "":
		if t := local(y, mon, d, wall, now); !t.After(now) {
			return whole(t, of), nil
		}
		return whole(local(y, mon, d-1, wall, now), of), nil
	case "today":
	case "yesterday":
		if of == "" {
			h, min, sec := now.Clock()
			wall = time.Duration(h)*time.Hour + time.Duration(min)*time.Minute + time.Duration(sec)*time.Second
		}
		d--
	default:
		on, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return time.Time{}, fmt.Errorf("%q %s", s, wantTime)
		}
		y, mon, d = on.Date()
	}
	return whole(local(y, mon, d, wall, now), of), nil
}

const wholeSecond = 999 * time.Millisecond // times of checkpoints are in milliseconds

// whole is the end of a second that was named.
func whole(t time.Time, of string) time.Time {
	if strings.Count(of, ":") == 2 {
		return t.Add(wholeSecond)
	}
	return t
}

// back is as long before now as a text says; a time before all others if that is longer than can be counted.
func back(s string, now time.Time) time.Time {
	for _, m := range agoOne().FindAllStringSubmatch(s, -1) {
		n, _ := strconv.Atoi(m[1])
		u := units[m[2][0]]
		if time.Duration(n) > math.MaxInt64/u {
			return time.Time{}
		}
		now = now.Add(-time.Duration(n) * u)
	}
	return now
}

// wallClock reads "14:10" or "14:10:05"; "" is midnight.
func wallClock(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	layout := "15:04"
	if strings.Count(s, ":") == 2 {
		layout = time.TimeOnly
	}
	t, err := time.Parse(layout, s)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second, err
}

// local is the moment at which clocks in the zone of now show a time of a day, see ParseTime.
func local(y int, mon time.Month, d int, wall time.Duration, now time.Time) time.Time {
	zone := now.Location()
	shown := time.Date(y, mon, d, 0, 0, 0, 0, time.UTC).Add(wall) // as if clocks there showed UTC
	var found time.Time
	for _, around := range []time.Duration{-36 * time.Hour, 36 * time.Hour} {
		_, offset := shown.Add(around).In(zone).Zone()
		t := shown.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, is := t.Zone(); is == offset && (found.IsZero() || !t.After(now)) {
			found = t
		}
	}
	if !found.IsZero() {
		return found
	}
	_, offset := shown.Add(-36 * time.Hour).In(zone).Zone()
	change, _ := shown.Add(-time.Duration(offset) * time.Second).In(zone).ZoneBounds()
	return change
}

// Absolute gives a name whose time, if it is one, is written so that it is the same moment in every zone. now is the
// clock of who typed it. What is no name is left to whoever looks it up.
func Absolute(name string, now time.Time) (string, error) {
	n, err := Parse(name)
	if err != nil || n.Kind != Time {
		return name, nil //nolint:nilerr // the engine says what is wrong, in one place
	}
	t, err := ParseTime(n.Text, now)
	if err != nil {
		return name, err
	}
	if _, offset := t.Zone(); offset%60 != 0 { // as zones were before they were agreed upon
		t = t.UTC()
	}
	return "@{" + t.Format("2006-01-02T15:04:05.000Z07:00") + "}" + name[len(n.Base):], nil
}
