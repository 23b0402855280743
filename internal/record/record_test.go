package record

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sample has a field of each kind.
type sample struct {
	Count  int
	Name   string
	Flag   bool
	Number uint64
	Letter byte
	List   []string
	ID     [32]byte
	IDs    [][32]byte
	At     time.Time
	Inner  inner
	Some   *inner
	Inners []inner
	Up     []string
	Turns  []int
	Usual  string
}

type inner struct{ Word, Need string }

var innerTable = New(
	Word(1, func(i *inner) *string { return &i.Word }),
	String(2, func(i *inner) *string { return &i.Need }).Required(),
).Then(func(i *inner) error {
	if i.Word == i.Need {
		return ErrFormat
	}
	return nil
})

var sampleTable = New(
	Count(1, func(s *sample) *int { return &s.Count }),
	String(2, func(s *sample) *string { return &s.Name }),
	Bool(3, func(s *sample) *bool { return &s.Flag }),
	Uint(4, func(s *sample) *uint64 { return &s.Number }),
	Uint(5, func(s *sample) *byte { return &s.Letter }).Must(func(s *sample) bool { return s.Letter == 'a' || s.Letter == 'b' }),
	Strings(6, func(s *sample) *[]string { return &s.List }),
	ID(7, func(s *sample) *[32]byte { return &s.ID }),
	IDs(8, func(s *sample) *[][32]byte { return &s.IDs }),
	Time(9, func(s *sample) *time.Time { return &s.At }),
	Record(10, innerTable, func(s *sample) *inner { return &s.Inner }),
	Optional(11, innerTable, func(s *sample) **inner { return &s.Some }),
	Records(12, innerTable, func(s *sample) *[]inner { return &s.Inners }),
	Ascending(200, func(s *sample) *[]string { return &s.Up }),
	Decimals(201, func(s *sample) *[]int { return &s.Turns }),
	String(202, func(s *sample) *string { return &s.Usual }).Unless(func(s *sample) bool { return s.Usual == "usual" }),
)

func full() *sample {
	return &sample{
		Count: 300, Name: "hi", Flag: true, Number: 1 << 63, Letter: 'a',
		List: []string{"a", "", strings.Repeat("b", 200)},
		ID:   [32]byte{31: 1}, IDs: [][32]byte{{1}, {2}}, At: time.UnixMilli(1),
		Inner: inner{"w", "n"}, Some: &inner{Need: "n"}, Inners: []inner{{"w", "n"}, {"v", "n"}},
		Up: []string{"a", "b"}, Turns: []int{1, 12}, Usual: "no",
	}
}

func TestTableGolden(t *testing.T) {
	zeros := strings.Repeat("\x00", 31)
	want := "\x01\x02\xac\x02" + "\x02\x02hi" + "\x03\x01\x01" + "\x04\x0a" + strings.Repeat("\x80", 9) + "\x01" +
		"\x05\x01a" +
		"\x06\xcd\x01\x01a\x00\xc8\x01" + strings.Repeat("b", 200) + "\x07\x20" + zeros + "\x01" +
		"\x08\x42\x20\x01" + zeros + "\x20\x02" + zeros + "\x09\x01\x01" +
		"\x0a\x06\x01\x01w\x02\x01n" + "\x0b\x03\x02\x01n" + "\x0c\x0e\x06\x01\x01w\x02\x01n\x06\x01\x01v\x02\x01n" +
		"\xc8\x01\x04\x01a\x01b" + "\xc9\x01\x05\x011\x0212" + "\xca\x01\x02no"
	if got := sampleTable.Encode(full()); string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var got sample
	if err := sampleTable.Decode([]byte(want), &got); err != nil || !reflect.DeepEqual(&got, full()) {
		t.Errorf("%+v, %v", got, err)
	}
	if got := sampleTable.Encode(&sample{Usual: "usual"}); len(got) != 0 {
		t.Errorf("nothing is %x", got)
	}
}

func TestTableRefuses(t *testing.T) {
	zero := strings.Repeat("\x00", 32)
	for name, raw := range map[string]string{
		"empty field":      "\x01\x00",
		"tag 0":            "\x00\x01a",
		"repeated tag":     "\x02\x01a\x02\x01a",
		"descending tags":  "\x02\x01a\x01\x01a",
		"unknown tag":      "\x0d\x01a",
		"tag after all":    "\xcb\x01\x01a",
		"long tag":         "\x82\x00\x01a",
		"long length":      "\x02\x81\x00a",
		"length too large": "\x02\x02a",
		"no length":        "\x02",
		"huge length":      "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
		"overlong varint":  "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",

		"count of zero":          "\x01\x01\x00",
		"long count":             "\x01\x02\x81\x00",
		"trailing count":         "\x01\x02\x01\x01",
		"count over 2^53":        "\x01\x08\x81\x80\x80\x80\x80\x80\x80\x10",
		"flag of zero":           "\x03\x01\x00",
		"flag of two":            "\x03\x01\x02",
		"long flag":              "\x03\x02\x81\x00",
		"trailing flag":          "\x03\x02\x01\x01",
		"letter that none knows": "\x05\x01c",
		"letter and more":        "\x05\x02ab",
		"letter beyond a byte":   "\x05\x02\xe1\x02",
		"list item too long":     "\x06\x01\x01",
		"short id":               "\x07\x01a",
		"long id":                "\x07\x21" + zero + "a",
		"zero id":                "\x07\x20" + zero,
		"zero id in a list":      "\x08\x21\x20" + zero,
		"time of zero":           "\x09\x01\x00",
		"required field missing": "\x0a\x03\x01\x01w",
		"record refused":         "\x0a\x06\x01\x01w\x02\x01w",
		"optional refused":       "\x0b\x03\x01\x01w",
		"item refused":           "\x0c\x04\x03\x01\x01w",
		"empty item refused":     "\x0c\x01\x00",
		"not ascending":          "\xc8\x01\x04\x01b\x01a",
		"twice":                  "\xc8\x01\x04\x01a\x01a",
		"empty, ascending":       "\xc8\x01\x01\x00",
		"decimal of two forms":   "\xc9\x01\x03\x0201",
		"decimal of none":        "\xc9\x01\x01\x00",
		"what is usual":          "\xca\x01\x05usual",
		"decimal zero":           "\xc9\x01\x02\x010",
	} {
		if err := sampleTable.Decode([]byte(raw), new(sample)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var signed struct{ N int64 }
	table := New(Uint(1, func(s *struct{ N int64 }) *int64 { return &s.N }))
	if err := table.Decode([]byte("\x01\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &signed); !errors.Is(err, ErrFormat) {
		t.Errorf("beyond 63 bits: %v", err)
	}
}

// A table is in one order, with each tag once.
func TestTableOrder(t *testing.T) {
	name := func(s *sample) *string { return &s.Name }
	for what, columns := range map[string][]Column[sample]{
		"descending": {String(2, name), String(1, name)}, "twice": {String(1, name), String(1, name)},
		"0": {String(0, name)},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			New(columns...)
		}()
	}
}

// Words are kept once each, up to a number.
func TestWords(t *testing.T) {
	known := Words{}
	for i := range 2 * mostWords {
		var got inner
		want := inner{strconv.Itoa(i), "n"}
		if err := innerTable.DecodeWith(innerTable.Encode(&want), &got, known); err != nil || got != want {
			t.Fatal(got, err)
		}
	}
	if len(known) != mostWords {
		t.Errorf("%d words", len(known))
	}
	raw := sampleTable.Encode(&sample{Inner: inner{"0", "n"}})
	var got sample
	if n := testing.AllocsPerRun(10, func() { _ = sampleTable.DecodeWith(raw, &got, known) }); n > 1 ||
		got.Inner.Word != "0" {
		t.Errorf("a known word is made again: %v, %q", n, got.Inner.Word)
	}
}

// FuzzMalleability: what decodes, encodes to the same bytes.
func FuzzMalleability(f *testing.F) {
	f.Add(sampleTable.Encode(full()))
	f.Add([]byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s sample
		if err := sampleTable.Decode(slices.Clone(raw), &s); err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("%x: %v", raw, err)
			}
		} else if got := sampleTable.Encode(&s); !bytes.Equal(got, raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
	})
}
