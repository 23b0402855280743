package object

import (
	"bytes"
	"fmt"
	"testing"
)

// TestEncodeDelta: an edit is a delta that gives the object back, compressed where it is long; what is little like its
// base is whole, and what is not smaller than the object is not made at all.
func TestEncodeDelta(t *testing.T) {
	words := func(from, n int) (text []byte) {
		for i := range n {
			text = fmt.Appendf(text, "line %d of the text\n", from+i)
		}
		return text
	}
	base := append(noise(1, 4000), words(0, 100)...)
	edited := bytes.Clone(base)
	copy(edited[2000:], "another text here")
	for name, tt := range map[string]struct {
		raw   []byte
		delta bool
		codec Codec // of what is made
	}{
		"an edit":            {edited, true, CodecDelta},
		"a long insert":      {append(words(500, 60), base...), true, CodecDeltaZstd},
		"noise behind it":    {append(noise(2, 1500), base[:4000]...), true, CodecDelta},
		"another text":       {append(noise(3, 6000), base[4000:4200]...), false, CodecRaw},
		"nothing in common":  {noise(4, 3000), false, 0},
		"repeated elsewhere": {bytes.Repeat([]byte("x"), 9000), false, 0},
	} {
		source := DeltaSource(bytes.Clone(base), Sum(Blob, base))
		env, delta, err := EncodeDelta(source, tt.raw, Sum(Blob, base).Key(), 1)
		if err != nil || delta != tt.delta {
			t.Errorf("%s: a delta %v of %d bytes, %v", name, delta, len(env), err)
			continue
		}
		if env == nil {
			if tt.codec != 0 {
				t.Errorf("%s: nothing was made", name)
			}
			continue
		}
		e, err := Decode(Blob, env)
		if err != nil || e.Codec != tt.codec {
			t.Errorf("%s: codec %v, %v", name, e.Codec, err)
			continue
		}
		var got []byte
		if delta {
			got, err = e.Apply(nil, &Base{Kind: Blob, Raw: &base, ID: Sum(Blob, base)})
		} else {
			got, err = e.Whole(nil)
		}
		if err != nil || !bytes.Equal(got, tt.raw) {
			t.Errorf("%s: it does not come back: %v", name, err)
		}
	}
	for _, tt := range []struct {
		body, whole int
		want        bool
	}{
		{500, 1024, true},
		{1000, 1024, true},
		{1024, 1024, false},
		{500, 1025, true},
		{512, 1025, true},
		{513, 1025, false},
	} {
		e := Envelope{Codec: CodecDelta, Length: 2000, Index: 1, Body: make([]byte, tt.body)}
		if got := pays(e, tt.whole); got != tt.want {
			t.Errorf("a delta of %d bytes against %d pays: %v", tt.body, tt.whole, got)
		}
	}
}
