package torture

// A Row is a row of the matrix.
type Row struct {
	Name     string // T1 to T27, and what is beside them
	What     string
	CI, Full int    // points that are asked for, over all of its tests with this unit; 0: everything, always
	Unit     string // of points
}

// Rows is the matrix.
var Rows = []Row{
	{"T1", "SIGKILL at the Nth changing call of hook, daemon, save, gc", 67, 2000, "kills"},
	{"T2", "power cuts, 0 to 100 % of what was not synced kept", 34, 1000, "seeds"},
	{"T3", "kill -9 of hooks and daemons under load", 8, 1800, "seconds"},
	{"T4", "a full disk at every stage", 20, 200, "cases"},
	{"T5", "EIO on the Nth read, write and fsync", 17, 200, "faults"},
	{"T6", "bit flips and truncation in every kind of file", 20, 100, "a kind"},
	{"T7", "64 hooks at once, the daemon cold", 5, 50, "rounds"},
	{"T8", "gc racing writers, killed", 17, 1000, "rounds"},
	{"T9", "the clock goes wrong", 0, 0, ""},
	{"T10", "a checkout killed at every Nth call", 34, 500, "kills"},
	{"T11", "a checkout against a racing editor", 100, 2000, "races"},
	{"T12", "hostile trees", 0, 0, ""},
	{"T13", "FIFOs, devices, huge files and directories", 0, 0, ""},
	{"T14", "files and transcripts that change while they are read", 34, 1000, "runs"},
	{"T15", "hostile JSON, ids and sessions", 0, 0, ""},
	{"T16", "HTTP: hosts, origins, tokens", 0, 0, ""},
	{"T17", "other users, planted and stale sockets, two daemons", 0, 0, ""},
	{"T18", "two sessions and a user in one tree", 67, 5000, "runs"},
	{"T19", "stores of other formats", 0, 0, ""},
	{"T20", "random edits and restores against a model", 1, 3600, "seconds"},
	{"T21", "hostile stores, markers, journals and repositories", 0, 0, ""},
	{"T22", "every damage to every file of a store, after every end", 34, 1000, "damages"},
	{"T23", "sessions, lanes, forks, cuts, kills and a user against a plain history", 200, 5000, "runs"},
	{"T24", "git, the marker or the settings broken", 0, 0, ""},
	{"T26", "git directories of any layout, with commits and pushes between captures and restores", 0, 0, ""},
	{"T27", "commands that destroy and leave processes, under bisect and in worktrees, killed", 0, 0, ""},
	{"fuzz", "any bytes as a format of the store", 0, 0, ""},
	{"bugs", "deliberate faults, each found", 0, 0, ""},
	{"rest", "the long forms of the tests in no row, by package", 0, 0, ""},
}

// A Size is how large a test of the matrix is.
type Size struct {
	Test     string // package, as below the module, a dot, name of the test
	CI, Full int
	Unit     string
	Each     float64 // seconds a point takes on two cores, about
}

// Sizes are those of the tests that have one; all others do everything they can at any time.
var Sizes = []Size{
	{"cmd/rewind.TestKillSaveT1", 40, 2000, "kills", 0.35},
	{"cmd/smart-checkpoint.TestT1HookKills", 27, 580, "kills", 0.8},
	{"internal/kv.TestT2PowerCut", 34, 1000, "seeds", 0.2},
	{"engine.TestT2PowerCut", 34, 1000, "seeds", 0.09},
	{"cmd/smart-checkpoint.TestT3Promise01Kills", 8, 1800, "seconds", 1},
	{"cmd/smart-checkpoint.TestT4Promise03DiskFull", 20, 200, "cases", 1},
	{"internal/kv.TestT5Faults", 20, 200, "faults", 0.2},
	{"engine.TestT5StoreFaults", 17, 200, "faults", 0.16},
	{"internal/kv.TestT6Promise06Corruption", 20, 100, "a kind", 0.9},
	{"internal/kv.TestT22Promise06DamageMatrix", 20, 600, "damages", 0.2},
	{"cmd/rewind.TestT22Promise06DamagedStore", 14, 400, "damages", 0.6},
	{"cmd/smart-checkpoint.TestT7Promise04Storm", 5, 50, "rounds", 0.7},
	{"cmd/smart-checkpoint.TestT7Promise01KillInABurst", 3, 30, "rounds", 0.7},
	{"objstore.TestT8Promise05SweepBesideWriters", 17, 1000, "rounds", 0.1},
	{"cmd/rewind.TestKillCollectT1", 14, 400, "kills", 0.5},
	{"cmd/rewind.TestKillCheckoutT10", 23, 500, "kills", 0.3},
	{"cmd/rewind.TestKillRevertT10", 12, 200, "kills", 0.3},
	{"tree/apply.TestT11EditorAlongside", 100, 2000, "races", 0.02},
	{"tree/apply.TestT11CrashAmongEdits", 150, 2000, "races", 0.025},
	{"cmd/rewind.TestT13Promise13ManyFiles", 5000, 1_000_000, "files", 0.0009},
	{"tree/snapshot.TestT14Promise14FileChangesWhileRead", 100, 1000, "runs", 0.015},
	{"engine/conversation.TestT14Promise14CaptureWhileWritten", 34, 1000, "runs", 0.07},
	{"engine.TestT18Promise12Interleaving", 67, 5000, "runs", 0.2},
	{"engine.TestT23Promise19Sessions", 200, 5000, "runs", 0.3},
	{"cmd/rewind.TestT21Promise17Hostile", 56, 1330, "scenes", 0.5},
	{"engine.TestT20ModelRestore", 1, 3600, "seconds", 1}, // 67 runs in any case, 200 at full size
}

// formats are the targets of fuzzing whose bytes the store alone writes: row fuzz. All others read what an agent or a
// stranger wrote: row T15.
var formats = []string{
	"tree.FuzzTreeDecode", "tree.FuzzNoteDecode", "tree/snapshot.FuzzCachedDecode",
	"engine/model.FuzzCheckpoint", "engine/model.FuzzJournal", "engine/gc.FuzzSquash",
	"refs.FuzzOperation", "internal/record.FuzzMalleability",
	"objstore/object.FuzzEnvelope", "objstore/object.FuzzChunkList", "objstore/object.FuzzDelta", "objstore.FuzzGone",
}

// fuzzSize is how long a target is fuzzed; in CI only its seeds are run.
func fuzzSize(w Work) Size {
	if w.Row == "T15" {
		return Size{w.ID(), 0, 600, "seconds", 1}
	}
	return Size{w.ID(), 0, 120, "seconds", 1}
}

// sizeOf finds the size of a test.
func sizeOf(test string) (Size, bool) {
	for _, s := range Sizes {
		if s.Test == test {
			return s, true
		}
	}
	return Size{}, false
}

// RowOf finds a row by its name.
func RowOf(name string) (Row, bool) {
	for _, r := range Rows {
		if r.Name == name {
			return r, true
		}
	}
	return Row{}, false
}
