package torture

import "slices"

// A Fault is a deliberate one, a patch below testdata/faults, with the tests that must find it.
type Fault struct {
	Name    string
	What    string
	Promise int
	Package string
	Tests   string // a regular expression as go test -run takes it; one of them must fail
}

// Faults are all that there are.
var Faults = []Fault{
	{
		"ack-before-write", "a hook is answered before its event is stored", 1, "cmd/smart-checkpoint",
		"TestT1HookKills/daemon|TestT3Promise01Kills",
	},
	{"durable-unsynced", "a durable commit is not fsynced", 1, "internal/kv", "TestT2PowerCut"},
	{
		"clean-close-first", "a log's mark of a clean end is written before what it vouches for is synced", 1,
		"internal/kv/storefs",
		"TestP1CloseMarkAfterWhatItVouchesFor",
	},
	{
		"refs-before-objects", "refs and operation are committed before the objects that they name", 2, "cmd/rewind",
		"TestKillSaveT1/small",
	},
	{
		"hook-fails", "the hook's client exits with an error when no daemon can be had", 3, "cmd/smart-checkpoint",
		"TestPromise03Surrounded|TestPromise03NoDaemonToBeHad",
	},
	{"hook-waits", "a hook is answered when its work is done, however late", 3, "server", "TestPromise03"},
	{"event-twice", "an event that comes twice is recorded twice", 4, "server", "TestT7Promise04ParallelHooks"},
	{"two-daemons", "a daemon does not ask for its lock", 4, "server", "TestT17OneDaemon"},
	{"two-owners", "a store is opened without its lock", 4, "internal/kv", "TestPromise04SecondOpenerIsBusy"},
	{
		"damaged-deleted", "a database that does not open is deleted, to begin anew", 5, "internal/kv",
		"TestT6Promise06Corruption",
	},
	{
		"gc-forgets-bases", "gc does not keep what deltas are built on", 5, "objstore",
		"TestT8Promise05SweepBesideWriters",
	},
	{"gc-no-grace", "gc takes what is younger than its grace", 5, "engine/gc", "TestPromise05PolicyIsMonotone"},
	{
		"squash-forgets-reverted", "squash records do not list what was changed back", 12, "engine/gc",
		"TestPromise12ChangedBack",
	},
	{
		"gc-forgets-writers", "what is written while gc marks is not marked", 5, "objstore",
		"TestT8Promise05SweepBesideWriters",
	},
	{
		"read-unchecked", "an object's bytes are not compared with its id", 6, "objstore",
		"TestP6FlippedEnvelopesNeverGiveWrongBytes",
	},
	{
		"manifest-unchecked", "a MANIFEST is not compared with what is known to be on disk of it", 6, "internal/kv",
		"TestPromise06EveryBitOfTheManifest",
	},
	{
		"log-unchecked", "a log is not compared with what is known to be on disk of it", 6, "internal/kv",
		"TestT22Promise06DamageMatrix",
	},
	{
		"log-unwatched", "nobody looks whether the log that is open is still there", 1, "internal/kv",
		"TestT22Promise01LogGoesWhileOpen",
	},
	{
		"tables-unchecked", "the checksum of a large block is not looked at", 6, "internal/kv",
		"TestPromise06EveryBlock|TestPromise06LargeValue",
	},
	{
		"fsync-retried", "an fsync that failed is tried again", 7, "internal/kv",
		"TestPromise07FailedFsyncIsNotRetried|TestT5Faults",
	},
	{"fsync-ignored", "an fsync that failed counts as made", 7, "internal/kv", "TestT5Faults"},
	{
		"ignored-unsaved", "ignored files are no part of the safety checkpoint", 8, "engine/restore",
		"TestCheckoutAndIgnoredFiles",
	},
	{"editor-overwritten", "what a restore displaced is not compared with what is stored", 9, "tree/apply", "TestT11"},
	{"links-followed", "a parent that is a symbolic link is followed", 10, "tree/apply", "TestT12"},
	{"dotgit-spelled", "only .git itself is taken for .git", 10, "internal/worktreefs", "TestT12"},
	{
		"journal-unsynced", "safety checkpoint and journal are not fsynced before a restore begins", 11, "engine",
		"TestT2Promise11",
	},
	{"journal-dropped", "the journal goes before the restore is done", 11, "cmd/rewind", "TestKillCheckoutT10"},
	{
		"mode-left", "a run that ends another's does not know which directories it left wider", 11, "tree/apply",
		"TestT10Crash",
	},
	{"others-overwritten", "what other sessions changed is not kept", 12, "engine", "TestT18Promise12Interleaving"},
	{"new-removed", "files that no checkpoint holds are taken without --exact", 12, "engine", "TestT20ModelRestore"},
	{
		"pipes-opened", "pipes and devices are opened, and counted as files", 13, "internal/worktreefs",
		"TestT13OpenNeverWaits",
	},
	{
		"torn-unflagged", "a file that changed at every reading is not flagged", 14, "tree/snapshot",
		"TestT14Promise14FileChangesWhileRead|TestPromise14ChangeBetweenReads",
	},
	{
		"young-read-once", "a file that was written a moment ago is read once", 14, "tree/snapshot",
		"TestPromise14ChangeWithinOneTick",
	},
	{
		"half-a-line", "a conversation is captured in the middle of a line", 14, "engine/conversation",
		"TestT14Promise14CaptureWhileWritten",
	},
	{"payload-unbounded", "text of a payload is kept at any length", 3, "hooks", "TestT15"},
	{
		"session-anywhere", "a session file may lead out of its agent's folder", 13, "engine/restore",
		"TestT15SessionPaths",
	},
	{"peer-unchecked", "anybody who reaches the socket is served", 15, "server", "TestT17Promise15ForeignUser"},
	{"host-unchecked", "requests of browsers are served", 15, "server", "TestT16HostAndOrigin"},
	{"mode-0644", "files of the store have the mode that the umask gives", 15, "internal/kv", "TestPromise15Private"},
	{
		"strangers-believed", "a store that lies in a project is opened, whoever made it", 17, "cmd/rewind",
		"TestT21Promise17Hostile",
	},
	{
		"git-fails", "a repository that cannot be read fails the capture", 18, "engine/capture",
		"TestT24Promise18TrackedStays",
	},
	{
		"others-owned", "what another session changed counts as that of whose event found it", 19, "engine",
		"TestT23Promise19Sessions",
	},
	{"notice-begins-turn", "an agent's own notification begins a turn", 19, "hooks", "TestFields"},
	{
		"turn-end-moved", "what a session's start finds is the end of the turn before it", 19, "engine/history",
		"TestStory",
	},
	{
		"view-linked", "a command of bisect writes into the project's ignored directories", 20, "engine/bisect",
		"TestT27Promise20Ways",
	},
	{"silence-unsaid", "a daemon that does not answer is not told of", 21, "api", "TestSilentDaemon"},
	{"newer-accepted", "a store of a newer format is opened", 16, "internal/kv", "TestT19Promise16Refused"},
}

// FaultOf finds a fault by its name; one that is not there is empty.
func FaultOf(name string) Fault {
	i := slices.IndexFunc(Faults, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}
	}
	return Faults[i]
}
