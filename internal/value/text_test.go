package value

import (
	"encoding/json"
	"testing"
)

func TestTextInJSON(t *testing.T) {
	for in, want := range map[Text]string{
		"plain":          `"plain"`,
		"":               `""`,
		"new\nline":      `"new\nline"`,
		"ünï":            `"ünï"`,
		"\xff\xfe":       `{"base64":"//4="}`,
		"half \xc3 rune": `{"base64":"aGFsZiDDIHJ1bmU="}`,
	} {
		b, err := json.Marshal(in)
		if err != nil || string(b) != want {
			t.Errorf("%q: %s, %v; want %s", in, b, err, want)
		}
		var back Text
		if err := json.Unmarshal(b, &back); err != nil || back != in {
			t.Errorf("%s: %q, %v; want %q", b, back, err, in)
		}
	}
	for _, bad := range []string{`1`, `null1`, `{"base64":"!"}`, `{"base64":"YQ=="}`} {
		var back Text
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s: %q", bad, back)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("a\xff\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := json.Marshal(Text(raw))
		if err != nil {
			t.Fatal(err)
		}
		var back Text
		if err := json.Unmarshal(b, &back); err != nil || string(back) != string(raw) {
			t.Errorf("%q became %q through %s, %v", raw, back, b, err)
		}
	})
}
