package apply_test

import (
	"strings"
	"testing"

	"rewind/internal/torture"
	"rewind/internal/worktreefs/faultfs"
)

// TestPlainRenames: what holds where the system can rename without replacing, and exchange, holds where it can neither:
// the target and the state before are reached from wherever a run was cut short, an error touches nothing, and an edit
// before any call is not lost.
func TestPlainRenames(t *testing.T) {
	plainRenames = true
	defer func() { plainRenames = false }()
	for i, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"reaches target", TestApplyReachesTarget},
		{"stage fails", TestApplyStageFails},
		{"keeps directories", TestApplyKeepsDirs},
		{"T10 crash", TestT10Crash},
		{"T10 crash twice", TestT10CrashTwice},
		{"T10 database cut twice", TestT10DatabaseCutTwice},
		{"T11 edit goes back", TestT11EditGoesBack},
		{"T10 many files", TestT10ManyFiles},
		{"T12 parent swapped", TestT12ParentSwapped},
		{"fails anywhere", TestApplyFailsAnywhere},
		{"T12 surprises", TestT12Surprises},
		{"lay out", TestLayOut},
		{"T11 editor between calls", TestT11EditorBetweenCalls},
		{"T11 held open", TestT11HeldOpen},
		{"T11 crash among edits", func(t *testing.T) {
			for seed := range uint64(100) {
				crashAmongEdits(t, seed)
			}
		}},
		{"lay out fails anywhere", TestLayOutFailsAnywhere},
		{"T12 new directory taken", TestT12NewDirTaken},
	} {
		if torture.Today(i) {
			t.Run(c.name, c.test)
		}
	}
}

// A file is replaced in two steps, each of which looks first, and only there: elsewhere nothing is renamed without a
// guard.
func TestPlainRenamesCalls(t *testing.T) {
	from, to := applyState{"a": nf("one", 0o644)}, applyState{"a": nf("two", 0o644)}
	b := applyBlobs{}.add(from).add(to)
	for _, plain := range []bool{false, true} {
		dir := applyDir(t)
		buildState(t, dir, from)
		s := &faultfs.Script{Plain: plain}
		if r, err := runApply(t, dir, stepsBetween(from, to), b, s); err != nil || r.Done != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		renames := strings.Count(s.Log(), "\nrename ")
		if want := map[bool]int{true: 3}[plain]; renames != want {
			t.Errorf("plain %t: %d renames in\n%s", plain, renames, s.Log())
		}
	}
}
