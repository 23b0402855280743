package project

import (
	"time"

	"rewind/tree/ignore"
)

// Get is a setting's value; the key is one of the table.
func (c Config) Get(key string) any {
	for _, s := range c.all {
		if s.Key == key {
			return s.Value
		}
	}
	panic("no setting " + key)
}

// SizeLimit is the size in bytes above which a file is not captured.
func (c Config) SizeLimit() int64 { return c.Get("limits.file_size").(int64) }

// StoreSecrets reports whether files with secret names are captured.
func (c Config) StoreSecrets() bool { return c.Get("secrets.store").(bool) }

// SecretPatterns are the patterns of secret names.
func (c Config) SecretPatterns() []string { return c.Get("secrets.patterns").([]string) }

// SecretsMode is what is done about a secret in a file's content: flag, skip or off.
func (c Config) SecretsMode() string { return c.Get("secrets.mode").(string) }

// SecretsAllow are the patterns of files that may hold secrets.
func (c Config) SecretsAllow() []string { return c.Get("secrets.allow").([]string) }

// Exclusions are the patterns that are left out beside the ignore files.
func (c Config) Exclusions() []string { return c.Get("exclude.defaults").([]string) }

// SecretsAllowed tells which files are no secrets.
func (c Config) SecretsAllowed() func(path string) bool { return ignore.Secrets(c.SecretsAllow()) }

// HooksEnabled reports whether the project wants its agents' events.
func (c Config) HooksEnabled() bool { return c.Get("hooks.enabled").(bool) }

// Guard is hooks.guard.
func (c Config) Guard() bool { return c.Get("hooks.guard").(bool) }

// Detects reports whether forks that agents make by themselves are looked for.
func (c Config) Detects() bool { return c.Get("forks.detect").(bool) }

// PrunesForks reports whether forks that nobody uses are deleted when the project rests, and which: forks.prune.*.
func (c Config) PrunesForks() (on bool, age time.Duration, keep int, kinds []string) {
	age, _ = ParseKeepAge(c.Get("forks.prune.age").(string)) // checked when it was read
	return c.Get("forks.prune.auto").(bool), age, int(c.Get("forks.prune.keep").(int64)), c.Get("forks.prune.kind").([]string)
}

// WarnForks are the number of forks, and the bytes of their files, above which there are many; 0: any.
func (c Config) WarnForks() (number int, bytes int64) {
	return int(c.Get("forks.warn_number").(int64)), c.Get("forks.warn_size").(int64)
}

// MaxForks are the number of forks, and the bytes of their files, with which no other is made; 0: any.
func (c Config) MaxForks() (number int, bytes int64) {
	return int(c.Get("forks.max_number").(int64)), c.Get("forks.max_size").(int64)
}

// Server is agents.mcp.
func (c Config) Server() bool { return c.Get("agents.mcp").(bool) }

// Commands is agents.commands.
func (c Config) Commands() bool { return c.Get("agents.commands").(bool) }

// LinkedInit is init.worktrees.
func (c Config) LinkedInit() bool { return c.Get("init.worktrees").(bool) }

// AutoInit is init.auto.
func (c Config) AutoInit() bool { return c.Get("init.auto").(bool) }

// Tier is the name of the project's tier.
func (c Config) Tier() string { return c.Get("tier").(string) }
