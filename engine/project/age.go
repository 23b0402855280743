package project

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"rewind/engine/model"
)

// Forever is an age that nothing reaches.
const Forever = time.Duration(math.MaxInt64)

// ageUnits are what ages are written in.
var ageUnits = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// ParseAge reads an age as a person gives it; the error is ErrUsage.
func ParseAge(s string) (time.Duration, error) {
	d, err := ParseKeepAge(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q is no age", s)
	}
	if err != nil {
		err = model.Usagef("gc: %w", err)
	}
	return d, err
}

// ParseKeepAge reads an age such as "36h", "30d", "0s" or "forever".
func ParseKeepAge(s string) (time.Duration, error) {
	if s == "forever" {
		return Forever, nil
	}
	if n := len(s) - 1; n > 0 {
		unit := ageUnits[s[n]]
		if v, err := strconv.ParseUint(s[:n], 10, 32); err == nil && unit > 0 && time.Duration(v) <= Forever/unit {
			return time.Duration(v) * unit, nil
		}
	}
	return 0, fmt.Errorf("%q is not an age such as 36h, 30d or forever", s)
}
