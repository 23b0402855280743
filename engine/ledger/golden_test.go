package ledger

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"rewind/internal/record"
	"rewind/internal/record/recordtest"
)

// The bytes on disk, docs/format.md#ledger.
func TestTurnGolden(t *testing.T) {
	want := Turn{
		Index: 7, Number: 1, First: 2, Time: time.UnixMilli(1_800_000_000_000), Cut: 4, GoesOn: true,
		versions: []uint64{6, 300}, Asked: 7, Begin: 8, Found: 9, End: 10, Code: 11, Said: 12, Made: 13, Heard: 14,
		Later: []uint64{15, 300}, Steps: 16, Over: true, Start: 18, born: 28, both: 29,
		run: run{Last: 30, End: 31, Of: []uint64{32, 300}},
		open: open{
			Work: 19, Stopped: true, Stop: 21, Loose: 22, Aside: true, Step: 24, Code: 25, Said: 26, Cut: 27,
		},
	}
	raw := want.encode()
	const bytes = "\x01\x01\x01\x02\x01\x02\x03\x06\x80\xa0\xf1\xc2\xb14\x04\x01\x04\x05\x01\x01" +
		"\x06\x06\x016\x03300\x07\x01\x07\x08\x01\x08\x09\x01\x09\x0a\x01\x0a\x0b\x01\x0b" +
		"\x0c\x01\x0c\x0d\x01\x0d\x0e\x01\x0e\x0f\x07\x0215\x03300\x10\x01\x10\x11\x01\x01" +
		"\x12\x01\x12\x13\x01\x13\x14\x01\x01\x15\x01\x15\x16\x01\x16\x17\x01\x01\x18\x01\x18" +
		"\x19\x01\x19\x1a\x01\x1a\x1b\x01\x1b\x1c\x01\x1c\x1d\x01\x1d" +
		"\x1e\x01\x1e\x1f\x01\x1f\x20\x07\x0232\x03300"
	if string(raw) != bytes {
		t.Errorf("got  %q\nwant %q", raw, bytes)
	}
	if got, err := decodeTurn(turnKey("s", 7), []byte(bytes)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	recordtest.Documented(t, raw, "Ledger", 0)
}

// What can be read is what would be written.
func FuzzTurn(f *testing.F) {
	f.Add((&Turn{Number: 3, First: 9, End: 12, Later: []uint64{13}}).encode())
	f.Add([]byte("\x0f\x02\x010"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		row, err := decodeTurn(turnKey("s", 1), raw)
		switch {
		case err == nil && !bytes.Equal(row.encode(), raw):
			t.Errorf("%q is read as %+v, which is %q", raw, row, row.encode())
		case err != nil && !errors.Is(err, record.ErrFormat):
			t.Error(err)
		}
	})
}

// The bytes on disk of where somebody worked, docs/format.md#ledger. A branch is stored where it is not the session.
func TestPlaceGolden(t *testing.T) {
	at := time.UnixMilli(1_800_000_000_000)
	for want, p := range map[string]Place{
		"\x01\x01\x09\x02\x06\x80\xa0\xf1\xc2\xb14\x03\x01s\x04\x01b\x05\x01\x03": {
			first: 7, last: 9, Time: at, Session: "s", Branch: "b", How: Restored,
		},
		"\x01\x01\x07\x02\x06\x80\xa0\xf1\xc2\xb14\x03\x01s\x05\x01\x01": {
			first: 7, last: 7, Time: at, Session: "s", Branch: "s", How: Worked,
		},
	} {
		if got := p.encode(); string(got) != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if got, err := decodePlace(placeKey(7), []byte(want)); err != nil || got != p {
			t.Errorf("decoded %+v, %v", got, err)
		}
	}
	for name, bad := range map[string][2]string{
		"a short key":       {"l\x03\x07", "\x01\x01\x07\x03\x01s\x05\x01\x01"},
		"no session":        {string(placeKey(7)), "\x01\x01\x07\x05\x01\x01"},
		"nowhere":           {string(placeKey(7)), "\x01\x01\x07\x03\x01s"},
		"an unknown way":    {string(placeKey(7)), "\x01\x01\x07\x03\x01s\x05\x01\x05"},
		"a branch too many": {string(placeKey(7)), "\x01\x01\x07\x03\x01s\x04\x01s\x05\x01\x01"},
	} {
		if _, err := decodePlace([]byte(bad[0]), []byte(bad[1])); !errors.Is(err, record.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What can be read is what would be written.
func FuzzPlace(f *testing.F) {
	f.Add((&Place{last: 3, Session: "s", Branch: "b", How: Saved}).encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := decodePlace(placeKey(7), raw)
		switch {
		case err == nil && !bytes.Equal(p.encode(), raw):
			t.Errorf("%q is read as %+v, which is %q", raw, p, p.encode())
		case err != nil && !errors.Is(err, record.ErrFormat):
			t.Error(err)
		}
	})
}

// The row of a restore has nothing in it.
func TestRestoreGolden(t *testing.T) {
	if seq, err := decodeRestore(restoreKey(7), nil); seq != 7 || err != nil {
		t.Errorf("decoded %d, %v", seq, err)
	}
	for name, bad := range map[string][2]string{
		"a short key":     {"l\x04\x07", ""},
		"a long key":      {string(restoreKey(7)) + "\x00", ""},
		"something in it": {string(restoreKey(7)), "\x01"},
	} {
		if _, err := decodeRestore([]byte(bad[0]), []byte(bad[1])); !errors.Is(err, record.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where rows lie, and how far they are. Rows of a store that says otherwise are folded anew.
func TestLedgerGolden(t *testing.T) {
	for what, c := range map[string][2]string{
		"row":       {string(turnKey("s", 7)), "l\x02s\x00\x00\x00\x00\x00\x00\x00\x00\x07"},
		"place":     {string(placeKey(7)), "l\x03\x00\x00\x00\x00\x00\x00\x00\x07"},
		"restore":   {string(restoreKey(7)), "l\x04\x00\x00\x00\x00\x00\x00\x00\x07"},
		"head, key": {string(headKey), "l\x01"},
		"head": {
			string(headTable.Encode(&head{foldFormat, 2, 3, 4})),
			"\x01\x01\x09\x02\x01\x02\x03\x01\x03\x04\x01\x04",
		},
		"epoch, key": {string(epochKey), "l\x00"},
		"epoch":      {string(epochTable.Encode(&epoch{1, true})), "\x01\x01\x01\x02\x01\x01"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %q, want %q", what, c[0], c[1])
		}
	}
	if _, err := decodeTurn([]byte("l\x02s\x00\x00\x00\x07"), nil); !errors.Is(err, record.ErrFormat) {
		t.Errorf("a key without an index: %v", err)
	}
}
