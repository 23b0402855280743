package secrets

import (
	"bytes"
	"errors"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/record/recordtest"
	"rewind/objstore"
)

var sampleID = objstore.Sum(objstore.Blob, []byte("t"))

func sampleSaidLook() *saidLook {
	return &saidLook{
		Rules: "v", Session: "a/b", Transcript: sampleID, At: 9, Records: 2, Life: 1, More: 3,
		Flags: []saidFlag{
			{Rule: "r", Part: "reply", Record: 2, Offset: 3, From: 4, To: 5, Turn: 6, Operation: 7, Life: 1, In: sampleID},
		},
	}
}

// The bytes on disk, docs/format.md#flag.
func TestSaidLookGolden(t *testing.T) {
	id := sampleID
	flag := "\x01\x01r\x02\x05reply\x03\x01\x02\x04\x01\x03\x05\x01\x04\x06\x01\x05\x07\x01\x06\x08\x01\x07\x09\x01\x01\x0a\x20" +
		string(id[:])
	want := "\x01\x01v\x02\x03a/b\x03\x20" + string(id[:]) + "\x04\x01\x09\x05\x01\x02\x06\x01\x01\x07" +
		string([]byte{byte(len(flag) + 1), byte(len(flag))}) + flag + "\x08\x01\x03"
	if got := sampleSaidLook().encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	recordtest.Documented(t, sampleSaidLook().encode(), "Flag", 2)
	recordtest.Documented(t, []byte(flag), "Flag", 3)
}

func FuzzSaidLook(f *testing.F) {
	f.Add(sampleSaidLook().encode())
	f.Add((&saidLook{Session: "a"}).encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := decodeSaidLook(raw)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if !bytes.Equal(l.encode(), raw) {
			t.Fatalf("encodes to %x, was %x", l.encode(), raw)
		}
	})
}
