package kv

import (
	"strconv"
	"strings"

	"rewind/internal/kv/ondisk"
)

// The file checked spares the check at open the operations that an earlier one has seen. It is a hint: without it, or with anything else in it, all are
// looked at.
//
// An open that writes begins a MANIFEST: its first record has all tables there are, its second those made of what the logs hold. Damage to a later record
// makes pebble forget only tables that were made since; to the second, all that the logs held, the newest operation of that open with it; to the first, the
// store does not open. So what that open has seen is there if its newest operation is, and only what comes after is looked at.

// checkedStep is how many operations are looked at again and again before the file is written anew: less than 10 ms of them.
var checkedStep uint64 = 1 << 15

const nameChecked = "checked"

func checkedText(seq uint64) string { return ondisk.Sealed(strconv.FormatUint(seq, 10)) }

// readChecked gives the newest operation that an earlier open has seen; 0: it is not known.
func (d *DB) readChecked() uint64 {
	text, err := ondisk.ReadSmall(d.base, d.fs.PathJoin(d.dir, nameChecked), 64)
	if err != nil {
		return 0
	}
	digits, _, _ := strings.Cut(text, " ")
	seq, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || text != checkedText(seq) {
		return 0
	}
	return seq
}

// writeChecked is called by a clean close. Under one name it never goes back.
func (d *DB) writeChecked() error {
	if d.checked < d.checkedFile+checkedStep {
		return nil
	}
	return ondisk.WriteSmall(d.fs, d.dir, nameChecked, checkedText(d.checked))
}
