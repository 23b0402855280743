package switches

import (
	"path/filepath"
	"slices"
	"strings"
)

// claude: of each setting the file that counts most is asked first: the machine's, the project's own of this person,
// the project's, the person's. So true for the user and false for the project is on. What only the machine's files may
// say is passed over elsewhere. A file with a value of another type is refused as a whole, by Claude Code and so here.
func (l *look) claude() {
	const all, managed, plugins = "disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization"
	machine := l.claudeMachine()
	of := func(setting string) *Switch {
		for _, d := range machine { // the later one counts
			if s := d.get(setting); s != nil {
				return s
			}
		}
		return nil
	}
	if s := of(managed); s != nil && s.Value == "true" {
		l.off(s)
	}
	for _, d := range machine {
		if v := d.get(plugins); v != nil {
			if v.Value != "true" {
				v = d.names(plugins, []string{"hooks"})
			}
			l.off(v)
			break
		}
	}
	found := []*Switch{of(all)}
	for _, f := range []struct {
		layer Layer
		path  string
	}{
		{Project, l.inProject(".claude", "settings.local.json")},
		{Project, l.inProject(".claude", "settings.json")},
		{User, filepath.Join(l.Dir, "settings.json")},
	} {
		s := l.read(f.layer, f.path).parse(false).get(all)
		if s == nil || s.Value == "true" || s.Value == "false" {
			found = append(found, s)
		}
	}
	l.decide(found, "true")
}

// claudeMachine are the machine's files, the one that counts most first.
func (l *look) claudeMachine() []*document {
	dir := "/etc/claude-code"
	if l.Darwin {
		dir = "/Library/Application Support/ClaudeCode"
	}
	out := []*document{l.read(Machine, filepath.Join(dir, "managed-settings.json")).parse(false)}
	more := filepath.Join(dir, "managed-settings.d")
	names := l.disk.List(more)
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
			out = append(out, l.read(Machine, filepath.Join(more, name)).parse(false))
		}
	}
	slices.Reverse(out)
	return out
}

// gemini: the machine's settings, the project's, the person's, the machine's defaults. Comments are taken, and "false"
// for false. A hook without a name is switched off by its command line, in a list to which every file adds.
func (l *look) gemini(commands []string) {
	system := "/etc/gemini-cli/settings.json"
	if l.Darwin {
		system = "/Library/Application Support/GeminiCli/settings.json"
	}
	if moved := l.Var("GEMINI_CLI_SYSTEM_SETTINGS_PATH"); moved != "" {
		system = moved
	}
	defaults := filepath.Join(filepath.Dir(system), "system-defaults.json")
	if moved := l.Var("GEMINI_CLI_SYSTEM_DEFAULTS_PATH"); moved != "" {
		defaults = moved
	}
	files := []*document{l.read(Machine, system).parse(true)}
	user := filepath.Join(l.Dir, "settings.json")
	if p := l.inProject(".gemini", "settings.json"); p != user && l.geminiTrusts() {
		files = append(files, l.read(Project, p).parse(true))
	}
	files = append(files, l.read(User, user).parse(true), l.read(Machine, defaults).parse(true))
	var found, old []*Switch
	for _, d := range files {
		s := d.get("hooksConfig.enabled")
		if s != nil && s.Value == `"false"` {
			s.Value = "false"
		}
		found = append(found, s)
		if s := d.get("tools.enableHooks"); s != nil {
			s.Old = true
			old = append(old, s)
		}
		if s := d.names("hooksConfig.disabled", commands); s != nil && l.Some == nil {
			l.Some = s
		}
	}
	l.decide(found, "false")
	l.decide(old, "false")
}

// geminiTrusts reports whether the person has not refused to trust the project's folder: its settings do not count
// then.
func (l *look) geminiTrusts() bool {
	if l.Project == "" {
		return false
	}
	d := l.read(User, filepath.Join(l.Dir, "trustedFolders.json")).parse(true)
	if d == nil {
		return true
	}
	return d.member(l.Project) != `"DO_NOT_TRUST"`
}

// droid: the machine's file, the project's, the person's; in each folder hooks.json before settings.json.
func (l *look) droid() {
	const inSettings, inHooks = "hooks.hooksDisabled", "hooksDisabled"
	machine := "/etc/factory"
	if l.Darwin {
		machine = "/Library/Application Support/Factory"
	}
	found := []*Switch{boolean(l.read(Machine, filepath.Join(machine, "settings.json")).parse(true).get(inSettings))}
	for _, at := range []struct {
		layer Layer
		dir   string
	}{{Project, l.inProject(".factory")}, {User, l.Dir}} {
		if at.dir == "" {
			continue
		}
		hooks := l.read(at.layer, filepath.Join(at.dir, "hooks.json"))
		if hooks == nil {
			hooks = l.read(at.layer, filepath.Join(at.dir, "hooks", "hooks.json"))
		}
		found = append(found, boolean(hooks.parse(true).get(inHooks)),
			boolean(l.read(at.layer, filepath.Join(at.dir, "settings.json")).parse(true).get(inSettings)))
	}
	l.decide(found, "true")
}

// boolean passes over a value of another type, as Droid does.
func boolean(s *Switch) *Switch {
	if s != nil && (s.Value == "true" || s.Value == "false") {
		return s
	}
	return nil
}

// inProject is a path in the project, "" where there is none.
func (l *look) inProject(names ...string) string {
	if l.Project == "" {
		return ""
	}
	return filepath.Join(append([]string{l.Project}, names...)...)
}
