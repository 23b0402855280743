package layertest

// importBan lets only some packages import a path.
type importBan struct {
	path string   // an import path; everything below it is meant too
	only []string // packages relative to the module; tests of any package are free
	why  string
}

var importBans = []importBan{
	{
		"github.com/cockroachdb/pebble/v2",
		[]string{"internal/kv", "internal/kv/kvtest", "bench"},
		"one package knows the database, so that locks, durability and corruption have one answer: use internal/kv",
	},
	{
		"github.com/klauspost/compress",
		[]string{"objstore/object", "bench"},
		"how bytes are kept is a secret of objstore/object: hand it the raw object",
	},
	{
		"github.com/zeebo/blake3",
		[]string{"objstore", "bench"},
		"ids and verification have one home: use objstore.Sum, or take a hash function as an argument",
	},
	{
		"github.com/PlakarKorp/go-cdc-chunkers",
		[]string{"objstore", "bench"},
		"chunks are objstore's way of keeping a blob: use Tx.PutReader",
	},
	{
		"github.com/sergi/go-diff",
		[]string{"internal/textdiff"},
		"its own line mode is wrong beyond some thousand lines: use internal/textdiff",
	},
	{
		"github.com/spf13/cobra",
		[]string{"cmd/rewind"},
		"flags and words belong to the command line; logic takes options",
	},
	{
		"github.com/spf13/pflag",
		[]string{"cmd/rewind"},
		"flags and words belong to the command line; logic takes options",
	},
	{
		"charm.land/bubbletea/v2",
		[]string{"internal/picker"},
		"every command that links it starts slower: the picker is rewindd's",
	},
	{
		"golang.org/x/term",
		[]string{"internal/term"},
		"what is a terminal is decided once: use term.Streams",
	},
	{
		"github.com/dustin/go-humanize",
		[]string{"internal/term", "engine"},
		"sizes look the same everywhere: print with term.Size; the config reads them in engine",
	},
	{
		"github.com/gofrs/flock",
		[]string{"engine", "server/rundir"},
		"two locks are taken with it, the home directory's and the daemon's; the store's is internal/kv's own",
	},
	{
		"github.com/modelcontextprotocol/go-sdk",
		[]string{"internal/mcpserver"},
		"it is half as large as the command line, which must not link it",
	},
	{
		"modernc.org/sqlite",
		[]string{"internal/clients"},
		"Codex's cache is the only database of others that is touched, and only there",
	},
	{
		"github.com/BurntSushi/toml",
		[]string{"internal/leaks", "hooks"},
		"the rules of what looks like a secret, and Codex's configuration, are the only TOML that is read: a setting is JSON",
	},
	{
		"github.com/BobuSumisu/aho-corasick",
		[]string{"internal/leaks"},
		"made for some hundred keywords in a content; its tables are large: what looks for a few texts uses bytes.Index",
	},
	{
		"github.com/tailscale/hujson",
		[]string{"hooks"},
		"other people's settings files are changed in one place",
	},
	{
		"net/http",
		[]string{
			"api", "server", "cmd/rewind", "internal/picker", "bench", "internal/acceptance",
			"internal/browsertest",
		},
		"below the API nothing speaks HTTP: return values and errors",
	},
}

// testingPath and what is below it may be imported by testHelpers only.
const (
	testingPath = "testing"
	testingWhy  = "package testing in a program adds its flags and its weight: put helpers into a package of their own"
)

// testHelpers are packages for tests. They are not in DESIGN.md's table; they may
// import what their host may, and the host (of bench: anything), and no production
// package imports them.
var testHelpers = []struct{ path, host, why string }{
	{"engine/enginetest", "bench", "an open project with agents that work in it, for the tests of its rooms"},
	{"internal/kv/kvtest", "internal/kv", "power cuts and faults for the tests of the packages above kv"},
	{"internal/record/recordtest", "internal/record", "records against docs/format.md"},
	{"internal/worktreefs/faultfs", "internal/worktreefs", "the fault-injecting twin"},
	{"internal/acceptance", "", "real agents against the program, behind a build tag"},
	{"internal/acceptance/fakemodel", "", "the model that the real agents talk to"},
	{"objstore/objtest", "objstore", "one suite for every implementation of Getter and Putter"},
	{
		"internal/ignoretest", "",
		"random rule sets, and git's answers, for tree/ignore and the comparison with a library",
	},
	{"internal/tracetest", "", "kills programs at a system call, for the tests of commands"},
	{"internal/browsertest", "", "the page in a real browser"},
	{"internal/ptytest", "", "programs on a terminal"},
	{"internal/built", "", "the real programs, built once, for the tests that run them"},
	{"internal/torture", "", "sizes, seeds, figures and deliberate faults of the matrix of proofs"},
	{"internal/torture/matrix", "", "the program that runs the matrix"},
	{"internal/torture/mutants", "", "the program that makes random faults"},
	{"internal/layertest", "", "this package"},
}

// later names what the design or a rule speaks of and nobody has written yet. A
// name that exists by now is a breach: its rules are in force.
var later = map[string]bool{}

// wall keeps packages away from what a program, or a room that is to stay small, links, however they would get there.
type wall struct {
	program string
	never   []string // packages relative to the module; what is below them is meant too
	why     string
}

var walls = []wall{
	{
		"cmd/rewind",
		[]string{
			"engine", "server", "objstore", "refs", "tree", "hooks", "transcript", "internal/kv", "internal/clients",
			"internal/leaks",
		},
		"a command is a client: a store in it costs each call its start, and would be a second way to open one",
	},
	{
		"cmd/smart-checkpoint",
		[]string{
			"engine", "server", "objstore", "refs", "tree", "hooks", "transcript", "internal/kv", "internal/clients",
			"internal/leaks",
			"api",
		},
		"every tool call pays for what it links",
	},
	{
		"internal/relay/hookwire",
		[]string{"internal/relay", "internal/record", "api"},
		"the hook client links it, and both ends have it: it is bytes alone",
	},
	{
		"server/door",
		[]string{"engine", "server/registry", "hooks", "internal/kv", "api"},
		"the door takes in bytes: what they mean is its handlers'",
	},
	{
		"server/registry",
		[]string{"api", "server/door", "server/rundir", "server/ndjson"},
		"whose engine is open is no matter of who asks, or how",
	},
	{
		"server/later",
		[]string{"api", "server/door", "server/registry"},
		"when something is done is no matter of what it is",
	},
	{"server/work", []string{"engine", "api", "server/registry"}, "counting knows nothing of what is counted"},
	{
		"server/rundir",
		[]string{"engine", "api", "internal/kv"},
		"nothing in the run directory is needed, so nothing that is needed is known there",
	},
	{"server/peers", []string{"engine", "api", "internal/relay"}, "who connects is asked before anything is read"},
	{"server/ndjson", []string{"engine", "api"}, "how an answer is written is no matter of what it says"},
	{"server/inprocess", []string{"engine", "api"}, "a transport knows no route"},
}

// rooms are walls inside of engine: what a room must never reach, however it would be linked. The table says what it
// may import.
var rooms = []wall{
	{"engine/model", []string{"engine/project", "engine/oplog"}, "records know nothing that acts on them"},
	{
		"engine/project",
		[]string{"engine/oplog", "engine/register"},
		"where a project is and what is set is known before a store is open",
	},
	{"engine/register", []string{"engine/oplog"}, "agents' settings are no project's"},
	{
		"engine/gc",
		[]string{"engine/fsck", "engine/purge", "engine/restore", "engine/capture"},
		"what removes objects does not look at the worktree",
	},
	{"engine/fsck", []string{"engine/gc", "engine/purge", "engine/restore"}, "what repairs a store restores nothing"},
	{"engine/purge", []string{"engine/gc", "engine/fsck"}, "each of those that rewrite a store is read alone"},
	{
		"engine/capture",
		[]string{"engine/restore", "engine/authorship", "engine/gc", "engine/fsck", "engine/purge"},
		"a capture changes nothing of the user's",
	},
}

// callBan forbids functions in some packages, but for some files.
type callBan struct {
	funcs   []string // package.Function, the package by its import path; or Field.Method
	in      []string // packages it concerns, with all below; "" is every package
	but     map[string]string
	replace string
}

var callBans = []callBan{
	{
		funcs:   []string{"Refs.Commit"},
		in:      []string{"engine", "server"},
		but:     map[string]string{"engine/oplog/change.go": "the one way into the log"},
		replace: "what the log has in memory would say something else than the store: use oplog.Change",
	},
	{
		funcs: []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln"},
		in:    []string{""},
		but: map[string]string{
			"cmd/rewind/main.go":               "the one place that turns an error into an exit code",
			"engine/enginetest/project.go":     "a store that failed for good leaves goroutines; the process of its test ends",
			"bench/floor/run/main.go":          "the main of a program of its own",
			"bench/floor/echo/main.go":         "the main of a program of its own",
			"cmd/rewindd/main.go":              "hands on the exit code of the daemon",
			"cmd/smart-checkpoint/main.go":     "exits 0 whatever happens, a panic included",
			"bench/peers/main.go":              "the main of a program of its own",
			"internal/torture/matrix/main.go":  "the main of a program of its own",
			"internal/torture/mutants/main.go": "the main of a program of its own",
			"internal/kv/poison.go": "pebble's fatal errors must not return, and a process that goes on would acknowledge what " +
				"is not stored",
		},
		replace: "return an error; deferred work is skipped by an exit",
	},
	{
		funcs: []string{
			"os.Remove", "os.RemoveAll", "os.Rename", "os.WriteFile", "os.Create", "os.OpenFile",
			"os.Symlink", "os.Link", "os.Chmod", "os.Truncate",
		},
		in: []string{"engine", "tree", "server", "cmd"},
		but: map[string]string{
			"engine/enginetest/driven.go":         "agents' session files in a test",
			"engine/enginetest/project.go":        "a person's hand in a test",
			"engine/enginetest/scribe.go":         "an agent's session file in a test",
			"engine/enginetest/talk.go":           "an agent's session file in a test",
			"engine/register/files.go":            "writes the settings of agents, outside of any project",
			"engine/register/program.go":          "puts the hooks' program into rewind's own directory",
			"engine/conversation/sessionwrite.go": "writes the session files of agents, outside of any project",
			"engine/restore/forkplan.go":          "removes a fork that nobody has seen yet",
			"engine/remove.go":                    "removes a store that is closed, a file of ours",
			"engine/project/worktree.go":          "removes a store that was being made; a worktree's directory by handles",
			"engine/project/remove.go":            "removes stores and notes of projects, files of ours; the marker by handles",
			"engine/project/trash.go": "removes and renames removed stores and their notes, files of ours; in a project by " +
				"handles",
			"engine/purge/files.go":     "removes backups and logs in rewind's own directory; what is in the project by handles",
			"engine/project/project.go": "writes the project's marker and record, files of ours",
			"engine/project/config.go":  "writes the project's config, a file of ours",
			"server/rundir/rundir.go":   "the daemon's own directory",
			"cmd/rewind/questions.go":   "a temporary file for a person's editor",
		},
		replace: "the user's tree is touched through internal/worktreefs only: a path can lead anywhere by the time it is used",
	},
}

// gitPlace is the only package that starts git: what a repository names as programs is taken away there.
const gitPlace = "internal/gitcmd"
