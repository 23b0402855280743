package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
)

func TestTierSettings(t *testing.T) {
	p := enginetest.NewProject(t)
	interval := func() int64 {
		t.Helper()
		c, err := project.LoadConfig(p.Home, p.Root)
		p.Must(err)
		return c.HookTier().Runtime.AntiSpam.MinIntervalSeconds
	}
	if got := interval(); got != 30 {
		t.Fatalf("default: %d", got)
	}
	const key = "tiers.balanced.runtime.antiSpam.minIntervalSeconds"
	p.Must(project.SetConfig(p.Home, "", key, []string{"45"}))
	if got := interval(); got != 45 {
		t.Errorf("global: %d", got)
	}
	p.Must(project.SetConfig(p.Home, p.Root, key, []string{"5"}))
	if got := interval(); got != 5 {
		t.Errorf("project: %d", got)
	}
	p.Must(project.SetConfig(p.Home, p.Root, "tier", []string{"aggressive"}))
	if got := interval(); got != 15 {
		t.Errorf("another tier: %d", got)
	}
	for _, bad := range [][]string{
		{key, "-1"},
		{key, "soon"},
		{key, "1", "2"},
		{"tiers.balanced.runtime.antiSpam.often", "1"},
		{"tiers.fast.runtime.antiSpam.enabled", "true"},
		{"tiers.balanced.hooks", "1"},
		{"tier", "fast"},
	} {
		if err := project.SetConfig(p.Home, p.Root, bad[0], bad[1:]); !errors.Is(err, model.ErrConfig) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	// A file that says something impossible is refused, and says where.
	p.Must(os.WriteFile(filepath.Join(project.Marker(p.Root), project.ConfigName),
		[]byte(`{"tiers": {"balanced": {"runtime": {"antiSpam": {"minIntervalSeconds": -3}}}}}`), 0o600))
	if _, err := project.LoadConfig(p.Home, p.Root); !errors.Is(err, model.ErrConfig) ||
		!strings.Contains(err.Error(), "minIntervalSeconds") {
		t.Errorf("%v", err)
	}
}
