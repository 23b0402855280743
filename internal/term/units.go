package term

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Time returns a moment for Out: relative on a terminal ("3m ago"), RFC 3339 in
// UTC elsewhere. The zero time is "-".
func (s *Streams) Time(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case s.OutTTY:
		return Ago(s.Now(), t)
	}
	return t.UTC().Format(time.RFC3339)
}

// Clock returns a moment for Out as a clock on the wall shows it, in the zone of Now: "14:10" today, "Fri 14:10" in the
// week before, else the date. It is RFC 3339 in UTC where Out is no terminal. The zero time is "-".
func (s *Streams) Clock(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case !s.OutTTY:
		return t.UTC().Format(time.RFC3339)
	}
	now := s.Now()
	t = t.In(now.Location())
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	switch {
	case !t.Before(today.AddDate(0, 0, 1)):
	case !t.Before(today):
		return t.Format("15:04")
	case !t.Before(today.AddDate(0, 0, -6)):
		return t.Format("Mon 15:04")
	}
	return t.Format(time.DateOnly)
}

// relativeLimit is the age from which a date says more than a number of days.
const relativeLimit = 30 * 24 * time.Hour

// Ago returns t relative to now in whole units, rounded down; beyond 30 days
// the date in the location of now.
func Ago(now, t time.Time) string {
	d := now.Sub(t)
	future := d < 0
	if future {
		d = -d
	}
	var n string
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		n = fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		n = fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		n = fmt.Sprintf("%dh", d/time.Hour)
	case d < relativeLimit:
		n = fmt.Sprintf("%dd", d/(24*time.Hour))
	default:
		return t.In(now.Location()).Format(time.DateOnly)
	}
	if future {
		return "in " + n
	}
	return n + " ago"
}

// Size returns a number of bytes with a binary unit: "512 B", "1.2 MiB".
func Size(bytes int64) string {
	if bytes < 0 {
		return "-" + humanize.IBytes(uint64(-bytes))
	}
	return humanize.IBytes(uint64(bytes))
}
