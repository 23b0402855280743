package value

// Setting is one key of the configuration.
type Setting struct {
	Key   string `json:"key"`
	Value any    `json:"value"` // a boolean, a number, a string (one of a few words, or an age) or a list of strings
	From  string `json:"from"`  // default, global or project
	Help  string `json:"help"`
	Unit  string `json:"unit,omitempty"` // of a number: bytes; none: it counts
	// It decides what is captured, kept, or guarded: no command from within an agent's call sets it.
	Protects bool `json:"-"`
}

// What letters do in the picker.
const (
	PickerKeys = "picker.keys"
	KeysVi     = "vi"
	KeysFzf    = "fzf"
)

// Settings is the table of settings with their defaults, by key. Lists of patterns that are built in are empty here:
// who reads the configuration fills them in.
func Settings() []Setting {
	return []Setting{
		{
			Key:   "agents.commands",
			Help:  "true gives agents commands by which a person lists, undoes and goes back within a conversation",
			Value: false,
		},
		{
			Key: "agents.mcp", Help: "true registers the server by which agents read checkpoints ('rewind mcp')",
			Value: false,
		},
		{
			Key: "exclude.defaults", Protects: true,
			Help:  "patterns that are not captured unless a rules file says otherwise (lowest precedence)",
			Value: []string{},
		},
		{
			Key: "forks.detect",
			Help: "false stops the search for agents' own forks: their sessions are listed on their own, and " +
				"branches within a session are not listed",
			Value: true,
		},
		{
			Key:   "forks.max_number",
			Help:  "the most forks of a project: above it fork and clone are refused; 0: any number",
			Value: int64(0),
		},
		{
			Key: "forks.max_size",
			Help: "the most that session files of a project's forks may take: above it fork and clone are refused; " +
				"0: any size",
			Value: int64(0), Unit: "bytes",
		},
		{
			Key: "forks.prune.age", Protects: true,
			Help:  "forks.prune.auto deletes only forks without an event for this long",
			Value: "30d",
		},
		{
			Key: "forks.prune.auto", Protects: true,
			Help: "true lets the daemon delete unused forks while the project is idle: those that match all of " +
				"forks.prune.*, that nobody has named, and whose turns other sessions have, too",
			Value: false,
		},
		{
			Key: "forks.prune.keep", Protects: true, Help: "forks.prune.auto keeps this many of the newest forks",
			Value: int64(10),
		},
		{
			Key: "forks.prune.kind", Protects: true,
			Help:  "forks.prune.auto deletes only forks of these kinds: fork, clone, restore (made by going back), agent",
			Value: []string{ForkMade, ForkRestore},
		},
		{
			Key: "forks.warn_number", Help: "rewind warns about more forks than this in a project; 0: never",
			Value: int64(100),
		},
		{
			Key:   "forks.warn_size",
			Help:  "rewind warns if session files of a project's forks are larger than this; 0: never",
			Value: int64(1 << 30), Unit: "bytes",
		},
		{
			Key: "gc.auto", Protects: true,
			Help:  "false leaves gc to 'rewind gc': the daemon does not run it while the project is idle",
			Value: true,
		},
		{
			Key: "gc.grace", Protects: true,
			Help:  "gc removes no checkpoint younger than this, whatever options it gets",
			Value: "1h",
		},
		{Key: "gc.keep_all", Protects: true, Help: "gc keeps every checkpoint for this long", Value: "1d"},
		{
			Key: "gc.keep_daily", Protects: true, Help: "then gc keeps the last one of each day, for this long",
			Value: "forever",
		},
		{
			Key: "gc.keep_safety", Protects: true,
			Help: "gc keeps safety checkpoints, fork points and what was saved by hand for this long", Value: "180d",
		},
		{
			Key: "gc.keep_turns", Protects: true, Help: "gc keeps the last checkpoint of each turn for this long",
			Value: "30d",
		},
		{
			Key: "gc.max_size", Protects: true,
			Help:  "gc thins a larger store further until it fits; 0: any size",
			Value: int64(20 << 30), Unit: "bytes",
		},
		{
			Key: "gc.min_free", Protects: true,
			Help:  "gc runs at once if less than this of the disk is free",
			Value: int64(1 << 30), Unit: "bytes",
		},
		{Key: "hooks.enabled", Protects: true, Help: "false switches the hooks of this project off", Value: true},
		{
			Key: "hooks.guard", Protects: true,
			Help: "true registers a hook that refuses agents' calls of restores, gc and purge, and writes " +
				"into the store",
			Value: false,
		},
		{
			Key:   "init.auto",
			Help:  "true sets a git repository up by itself when an agent is given a prompt in it; global only",
			Value: false,
		},
		{
			Key: "init.worktrees", Protects: true,
			Help: "a worktree of git's (git worktree add) is set up by itself when an agent works in it, if its repository " +
				"is set up; global only",
			Value: true,
		},
		{
			Key: "limits.file_size", Protects: true,
			Help:  "files over this size are listed, not captured",
			Value: int64(1 << 30), Unit: "bytes",
		},
		{
			Key: PickerKeys,
			Help: "what letters do in the picker ('rewind' alone): vi (they are commands, '/' begins a filter) " +
				"or fzf (they filter)",
			Value: KeysVi,
		},
		{
			Key: "secrets.allow", Protects: true,
			Help:  "files that are no secrets, whatever their names and contents say",
			Value: []string{},
		},
		{
			Key: "secrets.mode", Protects: true,
			Help:  "contents that look like a secret: off, flag (say so) or skip (and do not store the file again)",
			Value: "flag",
		},
		{
			Key: "secrets.patterns", Protects: true, Help: "files whose content is not stored, only a keyed hash",
			Value: []string{},
		},
		{Key: "secrets.store", Protects: true, Help: "store the content of secret files too", Value: false},
		{
			Key: "tier", Protects: true,
			Help:  "which events of an agent are taken in: minimal, balanced or aggressive",
			Value: "balanced",
		},
	}
}
