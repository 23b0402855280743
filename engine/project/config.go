package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/tree/ignore"
)

// IsSet reports whether a file says what the setting is.
func (c Config) IsSet(key string) bool {
	return slices.ContainsFunc(c.all, func(s value.Setting) bool { return s.Key == key && s.From != "default" })
}

// Config is the effective configuration: project over global over default.
type Config struct {
	all    []value.Setting
	tier   hooks.Tier
	passed string // why the project's file does not count; "": it does, or is not there
}

// Passed is why the project's own settings are not heeded; "": they are, or there are none.
func (c Config) Passed() string { return c.passed }

// configFile is one file's part of the configuration.
type configFile struct {
	path   string
	from   string // global or project
	values map[string]any
}

// settingWords are the settings that are one of a few words, or a list of such; every other text is an age, every other
// list of patterns.
var settingWords = map[string][]string{
	"forks.prune.kind": value.ForkMakers(),

	value.PickerKeys: {value.KeysVi, value.KeysFzf},

	"secrets.mode": {SecretsOff, SecretsFlag, SecretsSkip},
	"tier":         {"minimal", "balanced", "aggressive"},
}

// defaults is the table of settings with the patterns that are built in.
func defaults() []value.Setting {
	all := value.Settings()
	for i := range all {
		switch all[i].Key {
		case "exclude.defaults":
			all[i].Value = ignore.Globs(ignore.Exclusions())
		case "secrets.patterns":
			all[i].Value = ignore.Globs(ignore.SecretPatterns())
		}
	}
	return all
}

// Settings lists every setting by key.
func (c Config) Settings() []value.Setting { return slices.Clone(c.all) }

// DefaultConfig are the settings that hold where nobody has set any.
func DefaultConfig() Config { return Config{all: defaults()} }

// LoadConfig reads the configuration that holds for the project at root; "" reads the global one alone.
func LoadConfig(home Home, root string) (Config, error) {
	c := DefaultConfig()
	files := []configFile{{path: home.configFile(), from: "global"}}
	if root != "" {
		files = append(files, configFile{path: filepath.Join(Marker(root), ConfigName), from: "project"})
	}
	var own []value.Setting
	for n := range files {
		var err error
		f := &files[n]
		if f.from == "global" {
			f.values, err = readConfigFile(f.path)
			own = aliases(f.values)
		} else {
			f.values, c.passed, err = readProjectConfig(root)
		}
		if err != nil {
			return c, err
		}
		for i := range c.all {
			raw, ok := lookupKey(f.values, c.all[i].Key)
			if !ok {
				continue
			}
			v, err := parseJSON(c.all[i], raw)
			if err != nil {
				return c, &value.OpError{Op: "config", Subject: f.path, Err: err}
			}
			c.all[i].Value, c.all[i].From = v, f.from
		}
	}
	if err := c.loadTier(files); err != nil {
		return c, err
	}
	for i := range c.all {
		if c.all[i].From == "" {
			c.all[i].From = "default"
		}
	}
	c.all = append(own, c.all...) // their keys come first
	return c, nil
}

// maxConfig bounds a file of settings in bytes.
const maxConfig = 1 << 20

// readConfigFile reads the user's own file, which may be a link to where they keep such files.
func readConfigFile(path string) (map[string]any, error) {
	real, err := filepath.EvalSymlinks(path)
	var b []byte
	if err == nil {
		b, err = osfile.ReadSmall(real, maxConfig)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]any{}, nil
	}
	if errors.Is(err, osfile.ErrNotRegular) || errors.Is(err, osfile.ErrTooLarge) {
		return nil, &value.OpError{Op: "config", Subject: path, Err: fmt.Errorf("%w: %w", model.ErrConfig, err)}
	}
	if err != nil {
		return nil, &value.OpError{Op: "config", Subject: path, Err: err}
	}
	return parseConfig(path, b)
}

func parseConfig(path string, b []byte) (map[string]any, error) {
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, &value.OpError{Op: "config", Subject: path, Err: fmt.Errorf("%w: %w", model.ErrConfig, err)}
	}
	return m, nil
}

// readProjectConfig reads the settings in a project's marker, if it is this user's, and git does not track it: what a
// commit can bring must not switch hooks off or have secrets stored. passed says why they do not count.
func readProjectConfig(root string) (values map[string]any, passed string, err error) {
	dir, why := openMarker(root)
	if dir == nil {
		return nil, "", nil
	}
	defer dir.Close()
	if _, err := dir.Lstat(ConfigName); err != nil {
		return nil, "", nil
	}
	var b []byte
	if why == "" {
		b, why, err = readIn(dir, ConfigName, maxConfig)
	}
	path := filepath.Join(Marker(root), ConfigName)
	if err != nil {
		return nil, "", &value.OpError{Op: "config", Subject: path, Err: err}
	}
	if tracked, err := trackedMarker(root); why == "" && err == nil && tracked {
		why = "git tracks it"
	}
	if why != "" {
		return nil, "passed over the settings in " + path + ": " + why, nil
	}
	values, err = parseConfig(path, b)
	return values, "", err
}

// lookupKey finds a.b.c in nested objects.
func lookupKey(m map[string]any, key string) (any, bool) {
	head, rest, nested := strings.Cut(key, ".")
	v, ok := m[head]
	if !ok || !nested {
		return v, ok
	}
	sub, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	return lookupKey(sub, rest)
}

func setKey(m map[string]any, key string, v any) {
	head, rest, nested := strings.Cut(key, ".")
	switch {
	case !nested && v == nil:
		delete(m, head)
		return
	case !nested:
		m[head] = v
		return
	}
	sub, ok := m[head].(map[string]any)
	if !ok {
		sub = map[string]any{}
		m[head] = sub
	}
	setKey(sub, rest, v)
}

// parseJSON checks a value from a file against the kind of the setting's default.
func parseJSON(s value.Setting, raw any) (any, error) {
	bad := func(want string) error {
		return fmt.Errorf("%w: %s: want %s", model.ErrConfig, s.Key, want)
	}
	switch s.Value.(type) {
	case bool:
		if v, ok := raw.(bool); ok {
			return v, nil
		}
		return nil, bad("true or false")
	case int64:
		switch v := raw.(type) {
		case float64:
			if v >= 0 && v < maxSize && v == float64(int64(v)) {
				return int64(v), nil
			}
		case string:
			return parseSize(s, v)
		}
		return nil, bad(sizeWords(s))
	case string:
		v, _ := raw.(string)
		return word(s, v)
	default:
		list, ok := raw.([]any)
		if !ok {
			return nil, bad("a list of patterns")
		}
		out := make([]string, 0, len(list))
		for _, v := range list {
			p, ok := v.(string)
			if !ok {
				return nil, bad("a list of patterns")
			}
			out = append(out, p)
		}
		return listed(s, out)
	}
}

// listed checks a list: some of a few words, or patterns.
func listed(s value.Setting, list []string) (any, error) {
	words := settingWords[s.Key]
	for _, w := range list {
		if words != nil && !slices.Contains(words, w) {
			return nil, fmt.Errorf("%w: %s: %q is none of %s", model.ErrConfig, s.Key, w, strings.Join(words, ", "))
		}
	}
	return list, nil
}

// sizeWords say what a number may be.
func sizeWords(s value.Setting) string {
	if s.Unit == "" {
		return "a number"
	}
	return `a size such as "1GiB" or a number of bytes`
}

// word checks a value that is one of a few words, or an age.
func word(s value.Setting, v string) (any, error) {
	words := settingWords[s.Key]
	if words == nil {
		if _, err := ParseKeepAge(v); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", model.ErrConfig, s.Key, err)
		}
		return v, nil
	}
	if !slices.Contains(words, v) {
		return nil, fmt.Errorf("%w: %s: %q is none of %s", model.ErrConfig, s.Key, v, strings.Join(words, ", "))
	}
	return v, nil
}

// maxSize is above every size: a number in a settings file is whole up to there.
const maxSize = 1 << 53

func parseSize(s value.Setting, v string) (any, error) {
	if s.Unit == "" {
		n, err := strconv.ParseUint(v, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %q is not a number such as 100", model.ErrConfig, s.Key, v)
		}
		return int64(n), nil
	}
	n, err := humanize.ParseBytes(v)
	if err != nil || n >= maxSize {
		return nil, fmt.Errorf("%w: %s: %q is not a size such as 1GiB", model.ErrConfig, s.Key, v)
	}
	return int64(n), nil
}

// ParseSize reads a size as a person gives it; the error is ErrUsage.
func ParseSize(v string) (int64, error) {
	n, err := humanize.ParseBytes(v)
	if err != nil || n == 0 || n >= maxSize {
		return 0, model.Usagef("gc: %q is not a size such as 2GiB", v)
	}
	return int64(n), nil
}

// parseArgs reads what a person typed.
func parseArgs(s value.Setting, args []string) (any, error) {
	switch s.Value.(type) {
	case []string:
		return listed(s, args)
	case bool:
		if len(args) == 1 {
			if v, err := strconv.ParseBool(args[0]); err == nil {
				return v, nil
			}
		}
		return nil, fmt.Errorf("%w: %s: want true or false", model.ErrConfig, s.Key)
	case string:
		return word(s, strings.Join(args, " "))
	default:
		if len(args) != 1 {
			return nil, fmt.Errorf("%w: %s: want one value, %s", model.ErrConfig, s.Key, sizeWords(s))
		}
		return parseSize(s, args[0])
	}
}

// Protects reports whether a setting decides what is captured, kept, or guarded. One that is not known does.
func Protects(key string) bool {
	if strings.HasPrefix(key, aliasKey) {
		return false
	}
	for _, s := range value.Settings() {
		if s.Key == key {
			return s.Protects
		}
	}
	return true
}

// SetConfig writes one setting, or with no values takes it out, into the project's file or, with root "", the global
// one. Keys it does not know stay in the file untouched.
func SetConfig(home Home, root, key string, values []string) error {
	all := defaults()
	i := slices.IndexFunc(all, func(s value.Setting) bool { return s.Key == key })
	ofTier, alias := strings.HasPrefix(key, tiersKey+"."), strings.HasPrefix(key, aliasKey)
	if i < 0 && !ofTier && !alias {
		return fmt.Errorf("config: %w: no setting %q", model.ErrConfig, key)
	}
	var v any
	if alias {
		var err error
		if v, err = aliasArgs(key, root, values); err != nil {
			return fmt.Errorf("config: %w", err)
		}
	} else if len(values) > 0 {
		var err error
		if ofTier {
			v, err = parseTierArgs(key, values)
		} else {
			v, err = parseArgs(all[i], values)
		}
		if err != nil {
			return fmt.Errorf("config: %w", err)
		}
	}
	if root != "" {
		return setProjectConfig(root, key, v)
	}
	path := home.configFile()
	if err := os.MkdirAll(home.Dir, 0o700); err != nil {
		return &value.OpError{Op: "config", Subject: path, Err: err}
	}
	m, err := readConfigFile(path)
	if err != nil {
		return err
	}
	b, err := withKey(m, key, v)
	if err != nil {
		return &value.OpError{Op: "config", Subject: path, Err: err}
	}
	return WriteFile(path, b)
}

func withKey(m map[string]any, key string, v any) ([]byte, error) {
	setKey(m, key, v)
	b, err := json.MarshalIndent(m, "", "  ")
	return append(b, '\n'), err
}

func setProjectConfig(root, key string, v any) error {
	path := filepath.Join(Marker(root), ConfigName)
	cannot := func(why any) error {
		return &value.OpError{Op: "config", Subject: path, Err: fmt.Errorf("%w: %v", model.ErrConfig, why)}
	}
	m, passed, err := readProjectConfig(root)
	switch {
	case err != nil:
		return err
	case passed != "":
		return cannot(passed)
	case !ourMarker(root):
		return cannot("the directory is not this user's, or git tracks it; --global sets it for all projects")
	case m == nil:
		m = map[string]any{}
	}
	dir, err := makeMarker(root)
	if err != nil {
		return &value.OpError{Op: "config", Subject: path, Err: err}
	}
	defer dir.Close()
	b, err := withKey(m, key, v)
	if mark := readMarker(root); err == nil && !mark.quiet {
		err = replaceIn(dir, markerIgnore, []byte("*\n"))
	}
	if err == nil {
		err = replaceIn(dir, ConfigName, b)
	}
	if err != nil {
		return &value.OpError{Op: "config", Subject: path, Err: err}
	}
	return nil
}

// What is in secrets.mode.
const (
	SecretsOff  = "off"  // contents are not looked at
	SecretsFlag = "flag" // what looks like a secret is said
	SecretsSkip = "skip" // and its path is not captured any more until its content is another
)
