package record

import (
	"bytes"
	"errors"
	"testing"
)

func TestEncodeGolden(t *testing.T) {
	var e Encoder
	e.Uint(1, 300)
	e.String(2, "hi")
	e.Bool(3, true)
	e.Bool(4, false)
	e.Uint(5, 0)
	e.List(6, 2, func(i int) []byte { return [][]byte{[]byte("a"), nil}[i] })
	want := []byte("\x01\x02\xac\x02" + "\x02\x02hi" + "\x03\x01\x01" + "\x06\x03\x01a\x00")
	if got := e.Encoded(); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"empty field":      "\x01\x00",
		"tag 0":            "\x00\x01a",
		"repeated tag":     "\x01\x01a\x01\x01a",
		"descending tags":  "\x02\x01a\x01\x01a",
		"long tag":         "\x81\x00\x01a",
		"long length":      "\x01\x81\x00a",
		"length too large": "\x01\x02a",
		"no length":        "\x01",
		"huge length":      "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
		"overlong varint":  "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		if err := Decode([]byte(raw), func(uint64, Field) error { return nil }); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]Field{"zero": {0}, "long": {0x81, 0}, "trailing": {1, 1}} {
		if _, err := f.Uint(); !errors.Is(err, ErrFormat) {
			t.Errorf("integer, %s: %v", name, err)
		}
		if _, err := f.Bool(); !errors.Is(err, ErrFormat) {
			t.Errorf("flag, %s: %v", name, err)
		}
	}
}

func TestEncoderPanicsOnDescendingTags(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var e Encoder
	e.Uint(2, 1)
	e.Uint(1, 1)
}

// FuzzMalleability: what decodes, encodes to the same bytes.
func FuzzMalleability(f *testing.F) {
	f.Add([]byte("\x01\x02\xac\x02\x02\x02hi\x06\x03\x01a\x00"))
	f.Add([]byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e Encoder
		err := Decode(raw, func(tag uint64, v Field) error {
			e.Bytes(tag, v)
			return nil
		})
		if err == nil && !bytes.Equal(e.Encoded(), raw) && len(raw) > 0 {
			t.Errorf("decoded %x, encoded %x", raw, e.Encoded())
		}
	})
}
