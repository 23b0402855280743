package project_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/value"
	"rewind/objstore"
)

// noProject is a place whose directory a is none yet.
func noProject(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	p := &place{T: t, home: project.Home{Dir: filepath.Join(t.TempDir(), "home")}, root: root, id: "none"}
	p.must(err)
	p.must(os.Mkdir(p.dir("a"), 0o755))
	return p
}

func (p *place) config(name string) project.Config {
	p.Helper()
	root := ""
	if name != "" {
		root = p.dir(name)
	}
	c, err := project.LoadConfig(p.home, root)
	p.must(err)
	return c
}

func setting(c project.Config, key string) (s value.Setting) {
	for _, s := range c.Settings() {
		if s.Key == key {
			return s
		}
	}
	return s
}

// TestSettingsTyped: what a person may type for each kind of setting, what holds then, and that the setting goes again
// without a trace. What is refused changes nothing.
func TestSettingsTyped(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	global := filepath.Join(p.home.Dir, project.ConfigName)
	local := filepath.Join(project.Marker(p.dir("a")), project.ConfigName)
	const mine = "{\n  \"their\": {\n    \"own\": 1\n  }\n}\n"
	for _, tt := range []struct {
		key   string
		typed string // words
		want  any    // nil: it is refused
	}{
		{"gc.auto", "false", false},
		{"gc.auto", "0", false},
		{"gc.auto", "no", nil},
		{"gc.auto", "false false", nil},
		{"limits.file_size", "0", int64(0)},
		{"limits.file_size", "2KiB", int64(2048)},
		{"limits.file_size", "9007199254740991", int64(1<<53 - 1)},
		{"limits.file_size", "8PiB", nil}, // as the file is read
		{"limits.file_size", "big", nil},
		{"limits.file_size", "1 2", nil},
		{"forks.max_number", "2147483647", int64(2147483647)},
		{"forks.max_number", "2147483648", nil},
		{"forks.max_number", "1K", nil},
		{"forks.max_number", "1 2", nil},
		{"gc.grace", "3d", "3d"},
		{"gc.grace", "soon", nil},
		{"gc.grace", "off", nil},
		{"secrets.mode", "skip", "skip"},
		{"secrets.mode", "3d", nil},
		{"tier", "minimal", "minimal"},
		{"forks.prune.kind", "clone agent", []string{"clone", "agent"}},
		{"forks.prune.kind", "clone 3d", nil},
		{"secrets.allow", "*.a b", []string{"*.a", "b"}},
		{"no.setting", "1", nil},
		{"alias", "1", nil},
		{"tiers", "1", nil},
	} {
		for _, name := range []string{"", "a"} {
			path, root, from := global, "", "global"
			if name != "" {
				path, root, from = local, p.dir(name), "project"
			}
			p.must(os.MkdirAll(filepath.Dir(path), 0o700))
			p.must(os.WriteFile(path, []byte(mine), 0o600))
			err := project.SetConfig(p.home, root, tt.key, strings.Fields(tt.typed))
			raw, readErr := os.ReadFile(path)
			p.must(readErr)
			if tt.want == nil {
				if !errors.Is(err, model.ErrConfig) || !strings.Contains(err.Error(), tt.key) || string(raw) != mine {
					t.Errorf("%s %s: %v, the file is %s", tt.key, tt.typed, err, raw)
				}
				continue
			}
			p.must(err)
			c := p.config(name)
			if s := setting(c, tt.key); !reflect.DeepEqual(s.Value, tt.want) || s.From != from || !c.IsSet(tt.key) {
				t.Errorf("%s %s: %+v", tt.key, tt.typed, s)
			}
			p.must(project.SetConfig(p.home, root, tt.key, nil))
			c, want := p.config(name), setting(project.DefaultConfig(), tt.key).Value
			if s := setting(c, tt.key); !reflect.DeepEqual(s.Value, want) || s.From != "default" || c.IsSet(tt.key) {
				t.Errorf("%s, taken out: %+v", tt.key, s)
			}
			if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), `"own": 1`) {
				t.Errorf("%s: what it does not know is gone: %s, %v", tt.key, raw, err)
			}
			p.must(os.Remove(path))
		}
	}
	for key, want := range map[string]string{"forks.max_number": "value, a number", "gc.max_size": "value, a size"} {
		err := project.SetConfig(p.home, "", key, []string{"1", "2"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", key, err)
		}
	}
	for text, want := range map[string]int64{"2GiB": 2 << 30, "1": 1, "0": 0, "big": 0, "9007199254740994": 0} {
		got, err := project.ParseSize(text)
		if got != want || errors.Is(err, model.ErrUsage) != (want == 0) {
			t.Errorf("size %q: %d, %v", text, got, err)
		}
	}
}

// TestSettingsFile: what a file of settings may say. One that makes no sense is refused, and named.
func TestSettingsFile(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	path := filepath.Join(p.home.Dir, project.ConfigName)
	p.must(os.MkdirAll(p.home.Dir, 0o700))
	for _, tt := range []struct {
		text, key string
		want      any // nil: it is refused
	}{
		{`{"gc": {"auto": false}}`, "gc.auto", false},
		{`{"gc": {"auto": "false"}}`, "gc.auto", nil},
		{`{"gc": 5}`, "gc.auto", true}, // no setting of ours
		{`{"limits": {"file_size": 0}}`, "limits.file_size", int64(0)},
		{`{"limits": {"file_size": 9007199254740991}}`, "limits.file_size", int64(1<<53 - 1)},
		{`{"limits": {"file_size": 9007199254740992}}`, "limits.file_size", nil},
		{`{"limits": {"file_size": -1}}`, "limits.file_size", nil},
		{`{"limits": {"file_size": 1.5}}`, "limits.file_size", nil},
		{`{"limits": {"file_size": "1KiB"}}`, "limits.file_size", int64(1024)},
		{`{"limits": {"file_size": "x"}}`, "limits.file_size", nil},
		{`{"limits": {"file_size": true}}`, "limits.file_size", nil},
		{`{"gc": {"grace": 3}}`, "gc.grace", nil},
		{`{"tier": "fast"}`, "tier", nil},
		{`{"secrets": {"allow": ["a", "b"]}}`, "secrets.allow", []string{"a", "b"}},
		{`{"secrets": {"allow": "a"}}`, "secrets.allow", nil},
		{`{"secrets": {"allow": [1]}}`, "secrets.allow", nil},
		{`{"forks": {"prune": {"kind": ["x"]}}}`, "forks.prune.kind", nil},
		{`[]`, "", nil},
		{`{`, "", nil},
		{strings.Repeat(" ", 1<<20-2) + "{}", "gc.auto", true},
		{strings.Repeat(" ", 1<<20-1) + "{}", "", nil},
	} {
		p.must(os.WriteFile(path, []byte(tt.text), 0o600))
		c, err := project.LoadConfig(p.home, "")
		if tt.want == nil {
			said := fmt.Sprint(err)
			if !errors.Is(err, model.ErrConfig) || !strings.Contains(said, path) || !strings.Contains(said, tt.key) {
				t.Errorf("%.60s: %v", tt.text, err)
			}
			err = project.SetConfig(p.home, "", "gc.auto", []string{"true"})
			if tt.key == "" && !errors.Is(err, model.ErrConfig) {
				t.Errorf("%.60s is written over: %v", tt.text, err)
			}
			continue
		}
		if s := setting(c, tt.key); err != nil || !reflect.DeepEqual(s.Value, tt.want) {
			t.Errorf("%.60s: %+v, %v", tt.text, s, err)
		}
	}
	p.must(os.Remove(path))
	p.write("mine.json", `{"gc": {"auto": false}}`)
	p.must(os.Symlink(p.dir("mine.json"), path))
	if p.config("").Get("gc.auto") != false {
		t.Error("a link to the user's own file is not followed")
	}
	p.must(os.Remove(p.dir("mine.json")))
	if p.config("").Get("gc.auto") != true {
		t.Error("a link to a file that is gone says something")
	}
	p.must(os.Mkdir(p.dir("mine.json"), 0o755))
	if _, err := project.LoadConfig(p.home, ""); !errors.Is(err, model.ErrConfig) {
		t.Errorf("a directory: %v", err)
	}
	p.must(os.Remove(path))
	p.must(os.Symlink(path, path))
	if _, err := project.LoadConfig(p.home, ""); err == nil || errors.Is(err, model.ErrConfig) {
		t.Errorf("a link to itself: %v", err)
	}
}

// TestSettingsByName: each function that gives a setting gives the one of its name; a project's own beats the user's.
func TestSettingsByName(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	p.must(os.MkdirAll(p.home.Dir, 0o700))
	p.must(os.WriteFile(filepath.Join(p.home.Dir, project.ConfigName), []byte(`{
		"agents": {"commands": true}, "exclude": {"defaults": ["x"]}, "hooks": {"guard": true},
		"limits": {"file_size": 1},
		"forks": {"detect": false, "max_number": 2, "max_size": 3, "warn_number": 4, "warn_size": 5,
			"prune": {"age": "6d", "auto": true, "keep": 7, "kind": ["agent"]}},
		"init": {"auto": true}, "secrets": {"allow": ["/ok.env"], "mode": "off", "patterns": ["*.env"], "store": true},
		"tiers": {"minimal": {"runtime": {"antiSpam": {"minIntervalSeconds": 8}}}},
		"alias": {"go": "checkout before:1", "b": "list", "no go": "x", "-a": "x", "empty": " ", "n": 1}}`), 0o600))
	p.write("a/.agent/rewind/config.json", `{"limits": {"file_size": 9}, "tier": "minimal", "alias": {"theirs": "x"}}`)
	c := p.config("a")
	type many struct {
		on, age, keep, kinds, warn, warnSize, most, mostSize any
	}
	var m many
	on, age, keep, kinds := c.PrunesForks()
	m.on, m.age, m.keep, m.kinds = on, age, keep, strings.Join(kinds, " ")
	m.warn, m.warnSize = c.WarnForks()
	m.most, m.mostSize = c.MaxForks()
	if want := (many{true, 6 * day, 7, "agent", 4, int64(5), 2, int64(3)}); m != want {
		t.Errorf("forks: %+v, want %+v", m, want)
	}
	byItself := project.DefaultConfig()
	for what, ok := range map[string]bool{
		"SizeLimit":      c.SizeLimit() == 9,
		"StoreSecrets":   c.StoreSecrets(),
		"SecretPatterns": slices.Equal(c.SecretPatterns(), []string{"*.env"}),
		"SecretsMode":    c.SecretsMode() == project.SecretsOff,
		"SecretsAllow":   slices.Equal(c.SecretsAllow(), []string{"/ok.env"}),
		"SecretsAllowed": c.SecretsAllowed()("ok.env") && !c.SecretsAllowed()("no.env"),
		"Exclusions":     slices.Equal(c.Exclusions(), []string{"x"}),
		"HooksEnabled":   c.HooksEnabled(),
		"Guard":          c.Guard(),
		"Detects":        !c.Detects(),
		"Server":         !c.Server(),
		"Commands":       c.Commands(),
		"LinkedInit":     c.LinkedInit(),
		"AutoInit":       c.AutoInit(),
		"Tier":           c.Tier() == "minimal" && c.HookTier().Name == "minimal",
		"defaults":       len(byItself.SecretPatterns()) > 0 && len(byItself.Exclusions()) > 0,
		"no defaults":    len(byItself.SecretsAllow()) == 0,
	} {
		if !ok {
			t.Errorf("%s is of another setting", what)
		}
	}
	var last []string
	for _, s := range c.Settings() {
		if strings.HasPrefix(s.Key, "alias.") || strings.HasPrefix(s.Key, "tiers.") {
			last = append(last, s.Key+" "+s.From)
		}
	}
	if want := []string{
		"alias.b global", "alias.go global", "tiers.minimal.runtime.antiSpam.enabled default",
		"tiers.minimal.runtime.antiSpam.minIntervalSeconds global",
		"tiers.minimal.runtime.significance.enabled default",
		"tiers.minimal.runtime.significance.minChangeSize default",
	}; !slices.Equal(last, want) {
		t.Errorf("aliases and tiers: %q", last)
	}
	if s := setting(c, "tiers.minimal.runtime.antiSpam.minIntervalSeconds"); s.Value != 8 {
		t.Errorf("%+v", s)
	}
}

// TestAliases: an alias is one text of one plain word, the user's own, and is taken out like a setting.
func TestAliases(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	for _, tt := range []struct {
		root, key string
		values    []string
		ok        bool
	}{
		{"", "alias.go", []string{"checkout before:1"}, true},
		{"", "alias.go", nil, true},
		{"", "alias." + strings.Repeat("a", 64), []string{"list"}, true},
		{"", "alias." + strings.Repeat("a", 65), []string{"list"}, false},
		{"", "alias.-x", []string{"list"}, false},
		{"", "alias.a.b", []string{"list"}, false},
		{"", "alias.go", []string{"list", "x"}, false},
		{"", "alias.go", []string{" "}, false},
		{p.dir("a"), "alias.go", []string{"list"}, false},
	} {
		err := project.SetConfig(p.home, tt.root, tt.key, tt.values)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, model.ErrConfig) {
			t.Errorf("%q %q: %v", tt.key, tt.values, err)
		}
		s := setting(p.config(""), tt.key)
		switch set := tt.ok && len(tt.values) > 0; {
		case !set && s.Key != "":
			t.Errorf("%s is left: %+v", tt.key, s)
		case set && (s.Value != tt.values[0] || s.From != "global" || !strings.Contains(s.Help, tt.key[6:])):
			t.Errorf("%s is %+v", tt.key, s)
		}
	}
}

// TestSettingsPassedOver: a project's own settings do not count, and are not written, where somebody else can have
// brought them; those of the user hold all the same.
func TestSettingsPassedOver(t *testing.T) {
	t.Parallel()
	const file = "a/.agent/rewind/config.json"
	for _, tt := range []struct {
		what, want string
		do         func(p *place)
		writes     bool // the settings can be written
	}{
		{"as it is", "", func(*place) {}, true},
		{"none", "", func(p *place) { p.must(os.Remove(p.dir(file))) }, true},
		{"of several names", "config.json has several names", func(p *place) {
			p.must(os.Link(p.dir(file), p.dir("x")))
		}, false},
		{"a link", "config.json is not a regular file", func(p *place) {
			p.must(os.Rename(p.dir(file), p.dir("x")))
			p.must(os.Symlink(p.dir("x"), p.dir(file)))
		}, false},
		{"large", "config.json has more than 1048576 bytes", func(p *place) {
			p.must(os.Truncate(p.dir(file), 1<<20+1))
		}, false},
		{"open", "others may write in it", func(p *place) { p.must(os.Chmod(p.dir("a/.agent/rewind"), 0o777)) }, false},
		{"tracked", "git tracks it", func(p *place) {
			p.git("a", "init", "-q")
			p.git("a", "add", "-f", ".agent/rewind/config.json")
		}, false},
		{"in git, not tracked", "", func(p *place) { p.git("a", "init", "-q") }, true},
		{"a repository of its own", "git tracks it", func(p *place) { p.git("a/.agent", "init", "-q") }, false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			p := noProject(t)
			p.write(file, `{"hooks": {"enabled": false}}`)
			p.must(project.SetConfig(p.home, "", "gc.grace", []string{"9d"}))
			tt.do(p)
			there := tt.want == "" && tt.what != "none"
			c := p.config("a")
			passed := c.Passed()
			if c.HooksEnabled() == there || !strings.Contains(passed, tt.want) || (passed == "") != (tt.want == "") {
				t.Errorf("hooks %v, passed: %q", c.HooksEnabled(), passed)
			}
			if c.Get("gc.grace") != "9d" {
				t.Error("the user's own do not hold")
			}
			err := project.SetConfig(p.home, p.dir("a"), "tier", []string{"minimal"})
			if (err == nil) != tt.writes || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("written: %v", err)
			}
			if got := p.config("a"); (got.Tier() == "minimal") != tt.writes || got.HooksEnabled() == there {
				t.Errorf("written: %v, hooks %v", got.Tier(), got.HooksEnabled())
			}
			ignore, _ := os.ReadFile(p.dir("a/.agent/rewind/.gitignore"))
			if (string(ignore) == "*\n") != tt.writes {
				t.Errorf("it ignores %q in git", ignore)
			}
		})
	}
	// without a file of its own there is nothing to pass over, and still nothing is written where it is not this user's
	p := noProject(t)
	p.must(os.MkdirAll(p.dir("a/.agent/rewind"), 0o700))
	p.must(os.Chmod(p.dir("a/.agent"), 0o777))
	err := project.SetConfig(p.home, p.dir("a"), "tier", []string{"minimal"})
	if passed := p.config("a").Passed(); passed != "" || !errors.Is(err, model.ErrConfig) {
		t.Errorf("%q, %v", passed, err)
	}
	p.write("a/.agent/rewind/config.json", "{")
	p.must(os.Chmod(p.dir("a/.agent"), 0o755))
	if _, err := project.LoadConfig(p.home, p.dir("a")); !errors.Is(err, model.ErrConfig) {
		t.Errorf("%v", err)
	}
	err = project.SetConfig(p.home, p.dir("a"), "tier", []string{"minimal"})
	raw, _ := os.ReadFile(p.dir("a/.agent/rewind/config.json"))
	if !errors.Is(err, model.ErrConfig) || string(raw) != "{" {
		t.Errorf("what is damaged is written over: %q, %v", raw, err)
	}
	p.write("b/.agent", "1")
	p.must(os.MkdirAll(p.dir("c/.agent/rewind/.gitignore"), 0o700))
	for _, name := range []string{"b", "c", "none"} {
		if err := project.SetConfig(p.home, p.dir(name), "tier", []string{"minimal"}); err == nil {
			t.Errorf("%s: it cannot be written", name)
		}
	}
	if got := p.list("c/.agent/rewind"); got != ".gitignore" {
		t.Errorf("git can see %s", got)
	}
}

// TestConfigsSeeChanges: settings that are kept are those that the files say now, whichever file or index has changed.
func TestConfigsSeeChanges(t *testing.T) {
	t.Parallel()
	p := noProject(t)
	p.git("a", "init", "-q")
	var cs project.Configs
	load := func(name, grace string, hooks bool) {
		t.Helper()
		for range 2 { // read, and kept
			c, err := cs.Load(p.home, p.dir(name))
			if p.must(err); c.Get("gc.grace") != grace || c.HooksEnabled() != hooks {
				t.Fatalf("%s: %v, hooks %v", name, c.Get("gc.grace"), c.HooksEnabled())
			}
		}
	}
	set := func(name, key, value string) {
		t.Helper()
		root := ""
		if name != "" {
			root = p.dir(name)
		}
		p.must(project.SetConfig(p.home, root, key, []string{value}))
	}
	p.must(os.Mkdir(p.dir("b"), 0o755))
	load("a", "1h", true)
	set("", "gc.grace", "2d")
	load("a", "2d", true)
	load("b", "2d", true)
	set("a", "hooks.enabled", "false")
	load("a", "2d", false)
	load("b", "2d", true)
	set("a", "gc.grace", "3d")
	load("a", "3d", false)
	p.git("a", "add", "-f", ".agent/rewind/config.json")
	load("a", "2d", true) // what git tracks does not count
	p.git("a", "rm", "-q", "--cached", ".agent/rewind/config.json")
	load("a", "3d", false)
	p.must(os.Remove(p.dir("a/.agent/rewind/config.json")))
	load("a", "2d", true)
	// whichever of time, size and file is another
	own := filepath.Join(p.home.Dir, project.ConfigName)
	for grace, how := range map[string][2]bool{"4d": {false, true}, "44d": {true, true}, "5d": {true, false}} {
		sameTime, inPlace := how[0], how[1]
		set("", "gc.grace", "1d")
		p.must(os.Chtimes(own, noon, noon))
		load("a", "1d", true)
		raw, err := os.ReadFile(own)
		p.must(err)
		if !inPlace {
			p.must(os.Rename(own, own+".old"))
		}
		p.must(os.WriteFile(own, []byte(strings.Replace(string(raw), "1d", grace, 1)), 0o600))
		if sameTime {
			p.must(os.Chtimes(own, noon, noon))
		}
		load("a", grace, true)
	}
	p.must(os.WriteFile(filepath.Join(p.home.Dir, project.ConfigName), []byte("{"), 0o600))
	if _, err := cs.Load(p.home, p.dir("a")); !errors.Is(err, model.ErrConfig) {
		t.Errorf("%v", err)
	}
}

// TestOptions: the store gets what it is to be opened with, and times are whole seconds of UTC.
func TestOptions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 10, 0, 0, 5, time.FixedZone("east", 3600))
	o := project.Options{LockWait: time.Minute, Salvage: true, Now: func() time.Time { return at }}
	if k := o.StoreOptions(); k.LockWait != time.Minute || !k.Salvage {
		t.Errorf("%+v", k)
	}
	if got := o.Clock(); got != at.UTC().Truncate(time.Second) {
		t.Errorf("%v", got)
	}
	if !project.IsGone(fmt.Errorf("read: %w", objstore.ErrLost)) || project.IsGone(os.ErrNotExist) {
		t.Error("what is lost, and only that, is gone")
	}
	before := time.Now().UTC().Truncate(time.Second)
	if got := (project.Options{}).Clock(); got.Before(before) || got != got.UTC().Truncate(time.Second) {
		t.Errorf("%v", got)
	}
}
