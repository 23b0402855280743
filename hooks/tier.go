package hooks

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Tier is a set of hooks and how what they bring is folded. The files in tiers/ are the only place of these numbers.
type Tier struct {
	Name        string           `json:"tier"`
	Description string           `json:"description"` // one line for people
	Runtime     Runtime          `json:"runtime"`
	Hooks       map[Agent][]Hook `json:"hooks"` // what is registered with each agent, in the order of a session
}

// Runtime says which checkpoints Minor folds. It never says which are made.
type Runtime struct {
	AntiSpam     AntiSpam     `json:"antiSpam"`
	Significance Significance `json:"significance"`
}

// AntiSpam folds what comes too soon after what is shown.
type AntiSpam struct {
	Enabled            bool  `json:"enabled"`
	MinIntervalSeconds int64 `json:"minIntervalSeconds"`
}

// Significance folds what changed too little.
type Significance struct {
	Enabled       bool  `json:"enabled"`
	MinChangeSize int64 `json:"minChangeSize"` // bytes
}

// Hook is one entry of an agent's settings.
type Hook struct {
	Event   string `json:"event"`   // the agent's word
	Command string `json:"command"` // ours: the word that Parse takes
	Matcher string `json:"matcher"` // the tools it is for; "": the agent wants none to mean all
	Timeout int    `json:"timeout"` // in the agent's unit: Gemini milliseconds, the others seconds
}

// Asks reports whether a tier registers a hook for such events of an agent. Of an agent that it registers nothing with
// it asks for all that come.
func (t Tier) Asks(agent Agent, kind Kind) bool {
	list := t.Hooks[agent]
	return len(list) == 0 || slices.ContainsFunc(list, func(h Hook) bool { return words[h.Command] == kind })
}

// DefaultTier is the tier of a project that names none.
const DefaultTier = "balanced"

// maxCount is the largest number in an override: as seconds or bytes it fits every type there is.
const maxCount = 1<<31 - 1

//go:embed tiers/*.json
var tierFiles embed.FS

// Tiers are the names of all tiers, the one with the fewest hooks first.
func Tiers() []string { return []string{"minimal", "balanced", "aggressive"} }

// LoadTier is the tier called name with overrides laid over it in order. An override is the value of "tiers" in a
// configuration file, such as {"balanced": {"runtime": {"antiSpam": {"minIntervalSeconds": 60}}}}, or empty. What it
// does not name stays as it is, and tiers of other names are passed over. A key or a value that means nothing is an
// error that names its path and what is valid; one who has to go on takes the tier without overrides.
//
// Only runtime can be overridden: an event that an agent does not know can switch off all its hooks.
func LoadTier(name string, overrides ...[]byte) (Tier, error) {
	var t Tier
	if !slices.Contains(Tiers(), name) {
		return Tier{}, fmt.Errorf("hooks: load tier %q: valid are %s", name, strings.Join(Tiers(), ", "))
	}
	file, err := tierFiles.ReadFile("tiers/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(file, &t)
	}
	for _, o := range overrides {
		if err == nil && len(o) > 0 {
			err = t.override(o)
		}
	}
	if err != nil {
		return Tier{}, fmt.Errorf("hooks: load tier %s: %w", name, err)
	}
	return t, nil
}

func (t *Tier) override(tiers []byte) error {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(tiers, &named); err != nil {
		return fmt.Errorf("tiers: wants an object: %w", err)
	}
	value, ok := named[t.Name]
	if !ok {
		return nil
	}
	spam, size := &t.Runtime.AntiSpam, &t.Runtime.Significance
	set := object(map[string]setter{
		"runtime": object(map[string]setter{
			"antiSpam": object(map[string]setter{
				"enabled":            flag(&spam.Enabled),
				"minIntervalSeconds": count(&spam.MinIntervalSeconds),
			}),
			"significance": object(map[string]setter{
				"enabled":       flag(&size.Enabled),
				"minChangeSize": count(&size.MinChangeSize),
			}),
		}),
	})
	return set("tiers."+t.Name, value)
}
