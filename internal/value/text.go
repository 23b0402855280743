package value

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Text is bytes that are usually text: a path, a line of a file. In JSON it is a string when it is UTF-8, else the
// object {"base64": "..."}, so that no byte is lost. It is untrusted and must be sanitised before it is shown.
type Text string

type binaryText struct {
	Base64 string `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(binaryText{base64.StdEncoding.EncodeToString([]byte(t))})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	var v binaryText
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(v.Base64)
	if err != nil {
		return err
	}
	if utf8.Valid(raw) {
		return errors.New("text is UTF-8, but not given as a string")
	}
	*t = Text(raw)
	return nil
}

// Bytes is a Text that is part of something larger, which it is not copied from.
type Bytes []byte

// MarshalJSON implements json.Marshaler.
func (b Bytes) MarshalJSON() ([]byte, error) { return Text(b).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bytes) UnmarshalJSON(raw []byte) error {
	var t Text
	err := t.UnmarshalJSON(raw)
	*b = Bytes(t)
	return err
}

// Textf is a text as fmt.Sprintf makes it.
func Textf(format string, args ...any) Text { return Text(fmt.Sprintf(format, args...)) }

// Texts converts strings.
func Texts(list []string) []Text {
	out := make([]Text, len(list))
	for i, s := range list {
		out[i] = Text(s)
	}
	return out
}

// Strings converts texts.
func Strings(list []Text) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
