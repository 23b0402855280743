package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// setter checks the JSON value at path and takes it.
type setter func(path string, value json.RawMessage) error

// object takes an object key by key, in the order of the keys, so that an error is always the same one. encoding/json
// on its own takes keys of any case, and does not say where an unknown one is.
func object(keys map[string]setter) setter {
	return func(path string, value json.RawMessage) error {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil || members == nil {
			return fmt.Errorf("%s: wants an object with %s", path, listed(keys))
		}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			set, ok := keys[key]
			if !ok {
				return fmt.Errorf("%s.%s: unknown key: valid are %s", path, key, listed(keys))
			}
			if err := set(path+"."+key, members[key]); err != nil {
				return err
			}
		}
		return nil
	}
}

func listed(keys map[string]setter) string {
	return strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
}

// flag takes true or false.
func flag(to *bool) setter {
	return func(path string, value json.RawMessage) error {
		switch string(value) {
		case "true":
			*to = true
		case "false":
			*to = false
		default:
			return fmt.Errorf("%s: %s: valid are true and false", path, shown(value))
		}
		return nil
	}
}

// count takes a whole number without a sign or an exponent.
func count(to *int64) setter {
	return func(path string, value json.RawMessage) error {
		n, err := strconv.ParseUint(string(value), 10, 64)
		if err != nil || n > maxCount {
			return fmt.Errorf("%s: %s: valid are whole numbers from 0 to %d", path, shown(value), maxCount)
		}
		*to = int64(n)
		return nil
	}
}

// shown is a bad value, short enough for an error.
func shown(value json.RawMessage) string { return oneLine(string(value)) }
