package history

import (
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
)

// Whose changes a list is asked for.
const (
	byAgent   = "agent"
	byOutside = "outside"
)

// A Filter says which checkpoints and turns a list has.
type Filter struct{ value.Filter }

// Check refuses what no list can be asked for.
func (f *Filter) Check() error {
	if f.By != "" && f.By != byAgent && f.By != byOutside {
		return model.Usagef("by %q: want %s or %s", f.By, byAgent, byOutside)
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && f.Until.Before(f.Since) {
		return model.Usagef("the time from %s to %s is empty", f.Since.Format(time.RFC3339), f.Until.Format(time.RFC3339))
	}
	return nil
}

// Has reports whether a checkpoint is one of those; its prompt is as History.Told has it.
func (f *Filter) Has(cp *model.Checkpoint) bool {
	return f.ofSession(cp.Session) && f.in(cp.Time) && f.step(cp) && (f.asks(cp.Cause.Prompt) || f.asks(cp.Cause.Message))
}

func (f *Filter) ofSession(name string) bool {
	agent, _ := model.SplitSession(name)
	return (f.Session == "" || f.Session == name) && (f.Agent == "" || f.Agent == string(agent))
}

func (f *Filter) in(t time.Time) bool {
	return (f.Since.IsZero() || !t.Before(f.Since)) && (f.Until.IsZero() || !t.After(f.Until))
}

// step reports whether the tool of a checkpoint and whose its changes are is what is asked for.
func (f *Filter) step(cp *model.Checkpoint) bool {
	if f.Tool != "" && !strings.EqualFold(f.Tool, cp.Cause.Tool) {
		return false
	}
	switch f.By {
	case byAgent:
		return len(cp.By) > 0 || slices.ContainsFunc(cp.Owned, func(o model.Owned) bool { return len(o.By) > 0 })
	case byOutside:
		return len(cp.By) == 0 || slices.ContainsFunc(cp.Owned, func(o model.Owned) bool { return len(o.By) == 0 })
	}
	return true
}

func (f *Filter) asks(prompt string) bool {
	prompt = strings.ToLower(prompt)
	for _, word := range strings.Fields(strings.ToLower(string(f.Prompt))) {
		if !strings.Contains(prompt, word) {
			return false
		}
	}
	return true
}
