package project

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rewind/internal/value"
)

// Doubtful are the settings of the project's own file by which less would be captured or kept, or agents would get
// more, than without that file. An archive can bring them, so init asks. That hooks are off (hooks.enabled) is no
// doubt: status says it as long as it holds.
func (c Config) Doubtful(home Home) ([]value.Setting, error) {
	without, err := LoadConfig(home, "")
	if err != nil {
		return nil, err
	}
	var list []value.Setting
	for _, s := range c.all {
		if s.From != "project" {
			continue
		}
		i := slices.IndexFunc(without.all, func(w value.Setting) bool { return w.Key == s.Key })
		if i < 0 || doubts(s.Key, s.Value, without.all[i].Value) {
			list = append(list, s)
		}
	}
	return list, nil
}

// doubts reports whether a setting's value has rewind remember less, or tell agents more, than the value was.
func doubts(key string, now, was any) bool {
	differs := !sameValue(now, was)
	switch key {
	case "limits.file_size", "forks.prune.keep":
		return now.(int64) < was.(int64)
	case "gc.max_size": // 0: of any size
		return now.(int64) > 0 && (was.(int64) == 0 || now.(int64) < was.(int64))
	case "gc.min_free":
		return now.(int64) > was.(int64)
	case "gc.grace", "gc.keep_all", "gc.keep_daily", "gc.keep_safety", "gc.keep_turns", "forks.prune.age":
		return age(now) < age(was)
	case "exclude.defaults", "secrets.patterns", "secrets.allow", "tier", "forks.prune.kind":
		return differs
	case "secrets.mode":
		return now == SecretsOff && differs
	case "forks.prune.auto", "secrets.store", "agents.mcp", "agents.commands":
		return now == true && differs
	case "forks.detect":
		return now == false && differs
	}
	return strings.HasPrefix(key, tiersKey+".") && differs
}

// age is an age that was checked when it was read.
func age(v any) time.Duration {
	d, _ := ParseKeepAge(v.(string))
	return d
}

func sameValue(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}
