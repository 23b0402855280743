package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// decode reads a value as encoding/json would, with what the package has.
func decode(s *Scanner, depth int) (any, error) {
	switch c := s.Next(); {
	case c == '"':
		text := Text{Limit: 1 << 20}
		err := s.Str(&text)
		return text.String(), err
	case c == '{' && depth > 0:
		object := map[string]any{}
		err := s.Object(func(key []byte) error {
			name := string(key)
			v, err := decode(s, depth-1)
			object[name] = v
			return err
		})
		return object, err
	case c == '[' && depth > 0:
		list := []any{}
		err := s.Array(func(i int) error {
			if i != len(list) {
				panic("an element's number is wrong")
			}
			v, err := decode(s, depth-1)
			list = append(list, v)
			return err
		})
		return list, err
	case c == '{' || c == '[':
		return nil, s.Skip()
	}
	word := s.Word()
	if word == "" {
		return nil, s.Fail("wants a value")
	}
	return json.Number(word), nil
}

// same compares v with what encoding/json made of the same bytes; keys longer than MaxKey and values nested too deeply
// are not compared.
func same(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for key := range w { // one that is cut may be another's
			if cut := string(Fit([]byte(key), MaxKey)); cut != key {
				return true
			}
		}
		for key, v := range w {
			if ok && !same(g[key], v) {
				return false
			}
		}
		return ok && len(g) == len(w) || got == nil
	case []any:
		g, ok := got.([]any)
		for i := range w {
			if ok && (i >= len(g) || !same(g[i], w[i])) {
				return false
			}
		}
		return ok || got == nil
	case string:
		return got == w
	case nil:
		return got == json.Number("null")
	case bool:
		return got == json.Number("true") && w || got == json.Number("false") && !w
	case json.Number:
		g, ok := got.(json.Number)
		return ok && (g == w || len(w) > 24)
	}
	return false
}

var documents = []string{
	`{}`, `[]`, `""`, `0`, `null`, `[[],{},[[1,2],{"a":[]}],"x",true]`, `{"a":{"b":{"c":[1,{"d":"e"}]}}}`,
	`{"k":"\u0041\u00e9\u20ac\ud83d\ude00\"\\\/\b\f\n\r\t","l":"\ud83d","m":"\ude00\ud83dx"}`,
	"{\"bad\":\"\xff\xfe\xc3(\xe2\x82\xf0\x9f\x98\xed\xa0\x80\",\"good\":\"\xf0\x9f\x98\x80é€\u2028\"}",
	" \t\r\n{ \"prompt\" : \"x\" , \"n\" : [ 1 , -2.5E+3 , null ] } \n",
	`{"` + strings.Repeat("k", 33) + `":1,"` + strings.Repeat("k", 32) + `":2,"` + strings.Repeat("é", 17) + `":3}`,
	`{"\u006bey":"` + strings.Repeat(`\n\"\\`, 400) + `","x":"` + strings.Repeat("日本語", 300) + `"}`,
	`[` + strings.Repeat(`"abcdefgh\"",{"a":[1]},`, 50) + `0]`,
}

func TestAgainstEncodingJSON(t *testing.T) {
	for _, doc := range documents {
		against(t, []byte(doc))
	}
}

// against compares what is read of data with encoding/json, through buffers of several sizes, and what is skipped with
// what is read.
func against(t *testing.T, data []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var want any
	valid := json.Valid(data) && d.Decode(&want) == nil
	for _, size := range []int{1, 65, 100, 8192} {
		s := New(bytes.NewReader(data), size, 7)
		got, err := decode(s, 64)
		if valid && (err != nil || !same(got, want)) {
			t.Fatalf("%.200q, buffer of %d: %v, %v, want %v", data, size, got, err, want)
		}
		k := New(iotest.OneByteReader(bytes.NewReader(data)), size, 7)
		skipped := k.Skip()
		if valid && (skipped != nil || k.Offset() != s.Offset() || !k.AtEnd() || !s.AtEnd()) {
			t.Fatalf("%.200q, buffer of %d: skipped up to %d, %v, read up to %d", data, size, k.Offset(), skipped, s.Offset())
		}
		if skipped != nil {
			var e *Error
			if !errors.As(skipped, &e) || e.offset < 7 || e.offset > 7+int64(len(data)) {
				t.Fatalf("%.200q: %v", data, skipped)
			}
		}
	}
}

func TestOffset(t *testing.T) {
	const doc = ` {"a":"é\n", "b" : [1, 2] }`
	s := New(strings.NewReader(doc), 1, 100)
	var spans []string
	err := s.Object(func([]byte) error {
		s.Next()
		from := s.Offset()
		err := s.Skip()
		spans = append(spans, doc[from-100:s.Offset()-100])
		return err
	})
	if want := []string{`"é\n"`, `[1, 2]`}; err != nil || !reflect.DeepEqual(spans, want) {
		t.Errorf("%q, %v", spans, err)
	}
}

// TestLines holds that a newline ends everything, and that a line is not touched by what was wrong with the one before.
func TestLines(t *testing.T) {
	const text = "{\"a\":1}\n" + "{\"a\":\"2\n" + "\n" + "{\"a\":[3\n" + "{\"a\":4} x\n" + "  {\"a\":5}  \r\n" + "{\"a\":6}{\n" + "\\\n" +
		"{\"a\":\"\\\n" + "{\"a\":\"\\u12\n" + "{\"a\":tru\n" +
		"{\"a\":7}"
	want := []struct {
		value string
		whole bool
		rest  bool // more than one value, or none
	}{{"1", true, false}, {"", true, true}, {"", true, true}, {"", true, true}, {"4", true, true}, {"5", true, false}, {
		"6", true,
		true,
	}, {"", true, true}, {"", true, true}, {"", true, true}, {"", true, true}, {"7", false, false}}
	for _, size := range []int{1, 70, 4096} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "one": iotest.OneByteReader(strings.NewReader(text))} {
			s := New(r, size, 0)
			n := 0
			for s.Line() {
				value := ""
				err := s.Object(func([]byte) error {
					if s.Next() == '"' || s.Next() == '[' {
						return s.Skip()
					}
					value = s.Word()
					return nil
				})
				bad := err != nil || !s.AtEnd()
				if n >= len(want) {
					t.Fatal("too many lines")
				}
				w := want[n]
				if err == nil && value != w.value || bad != w.rest {
					t.Errorf("%s, buffer of %d, line %d: %q, %v", name, size, n+1, value, err)
				}
				if start := s.Offset(); s.EndLine() != w.whole || s.Offset() < start {
					t.Errorf("%s, buffer of %d, line %d: whole is not %v", name, size, n+1, w.whole)
				}
				n++
				if !w.whole {
					break
				}
			}
			if n != len(want) || s.Err() != nil || s.Offset() != int64(len(text)) {
				t.Errorf("%s, buffer of %d: %d lines, %v, ends at %d", name, size, n, s.Err(), s.Offset())
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":@}`: "byte 5: wants a value", `{"a":`: "byte 5: ends too early", `[1 2]`: "byte 3: wants ']'",
		`{"a":"\x"}`:     "byte 7: unknown escape",
		`{"a":"\u12g4"}`: "byte 10: wants a hex digit", `{"a" 1}`: `byte 5: wants ':'`, `"abc`: "byte 4: ends too early",
		`[,]`: "byte 1: wants a value",
	} {
		if _, err := decode(New(strings.NewReader(doc), 64, 0), 9); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
	broken := errors.New("broken pipe")
	s := New(io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(broken)), 64, 0)
	if err := s.Skip(); !errors.Is(err, broken) || !errors.Is(s.Err(), broken) {
		t.Errorf("%v, %v", err, s.Err())
	}
	s = New(iotest.ErrReader(broken), 64, 0)
	if s.Line() || !errors.Is(s.Err(), broken) {
		t.Errorf("a line of nothing: %v", s.Err())
	}
}

// TestDeep holds that a million levels cost no memory: what is skipped is counted.
func TestDeep(t *testing.T) {
	const depth = 1 << 20
	doc := strings.Repeat(`[{"a":`, depth) + "1" + strings.Repeat("}]", depth)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := New(strings.NewReader(doc), 4096, 0).Skip()
	runtime.ReadMemStats(&after)
	if err != nil || after.TotalAlloc-before.TotalAlloc > 64<<10 {
		t.Errorf("%v, %d bytes", err, after.TotalAlloc-before.TotalAlloc)
	}
}

func TestText(t *testing.T) {
	text := Text{Limit: 5}
	for _, p := range []string{"ab", "é", "é", "x"} {
		text.Add([]byte(p))
	}
	if text.String() != "abé" || !text.Cut {
		t.Errorf("%q, %v", text.String(), text.Cut)
	}
	if text.Reset(); text.String() != "" || text.Cut {
		t.Error("not reset")
	}
}

func FuzzScanner(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	for _, doc := range []string{`{`, `{"a":1,}`, `{"a":[}`, "{\"a\":\"\n\"}", `"\ud83d\u"`, "{\"a\":\x00}", `]`, `{"a":{"b":1}}}`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) { against(t, data) })
}

func BenchmarkSkip(b *testing.B) {
	for name, piece := range map[string]string{
		"text":    `{"type":"text","text":"` + strings.Repeat("The quick brown fox jumps over the lazy dog. ", 40) + `"},`,
		"escapes": `{"type":"text","text":"` + strings.Repeat(`\tif err != nil {\n\t\treturn \"x\"\n\t}\n`, 40) + `"},`,
		"small":   `{"a":1,"b":[true,false,null],"c":"d","e":{"f":"g"}},`,
	} {
		doc := "[" + strings.Repeat(piece, 8<<20/len(piece)) + "0]"
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if err := New(strings.NewReader(doc), 256<<10, 0).Skip(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
