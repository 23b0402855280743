package project

import (
	"encoding/json"
	"fmt"
	"strings"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/value"
)

// tiersKey is the part of a configuration file that changes what tiers say.
const tiersKey = "tiers"

// HookTier is the project's tier with what the configuration changes in it.
func (c Config) HookTier() hooks.Tier { return c.tier }

// loadTier settles the tier, and adds what can be changed in it to the settings. files are from the weakest to the
// strongest.
func (c *Config) loadTier(files []configFile) error {
	var overrides [][]byte
	for _, f := range files {
		v, ok := f.values[tiersKey]
		if !ok {
			continue
		}
		raw, err := json.Marshal(v)
		if err == nil {
			_, err = hooks.LoadTier(c.Tier(), raw)
		}
		if err != nil {
			return &value.OpError{Op: "config", Subject: f.path, Err: fmt.Errorf("%w: %w", model.ErrConfig, err)}
		}
		overrides = append(overrides, raw)
	}
	t, err := hooks.LoadTier(c.Tier(), overrides...)
	if err != nil {
		return fmt.Errorf("config: %w: %w", model.ErrConfig, err)
	}
	c.tier = t
	r := t.Runtime
	for _, s := range []value.Setting{
		{Key: "antiSpam.enabled", Help: "fold checkpoints that come soon after another", Value: r.AntiSpam.Enabled},
		{Key: "antiSpam.minIntervalSeconds", Help: "how soon", Value: int(r.AntiSpam.MinIntervalSeconds)},
		{Key: "significance.enabled", Help: "fold checkpoints that changed little", Value: r.Significance.Enabled},
		{Key: "significance.minChangeSize", Help: "how many bytes are not little", Value: int(r.Significance.MinChangeSize)},
	} {
		s.Key = tiersKey + "." + t.Name + ".runtime." + s.Key
		for _, f := range files {
			if _, ok := lookupKey(f.values, s.Key); ok {
				s.From = f.from
			}
		}
		c.all = append(c.all, s)
	}
	return nil
}

// parseTierArgs reads what a person typed for a key below tiersKey.
func parseTierArgs(key string, args []string) (any, error) {
	var v any
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &v) != nil {
		return nil, fmt.Errorf("%w: %s: want true, false or a number", model.ErrConfig, key)
	}
	m := map[string]any{}
	setKey(m, key, v)
	raw, err := json.Marshal(m[tiersKey])
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", model.ErrConfig, key, err)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(key, tiersKey+"."), ".")
	if _, err := hooks.LoadTier(name, raw); err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrConfig, err)
	}
	return v, nil
}
