package switches

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// comments says whether an agent takes comments in its JSON. None takes a comma behind the last element.
type comments bool

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads a file as its agent does; nil: it would refuse all of it.
func (f *file) parse(c comments) *document {
	if f == nil {
		return nil
	}
	text := bytes.TrimPrefix(f.data, byteOrderMark)
	plain := text
	if c {
		plain = blanked(text)
	}
	if !json.Valid(plain) {
		return nil
	}
	root, err := hujson.Parse(plain)
	if _, ok := root.Value.(*hujson.Object); err != nil || !ok {
		return nil
	}
	return &document{f, plain, root}
}

// document is a file that is JSON: an object.
type document struct {
	*file
	text []byte
	root hujson.Value
}

// find is the value under a path of keys joined by dots. Of equal keys the last counts, as in every agent. nil: it is
// not there, or is null, which says nothing.
func (d *document) find(setting string) *hujson.Value {
	if d == nil {
		return nil
	}
	at := &d.root
	for key := range strings.SplitSeq(setting, ".") {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		at = nil
		for i := range object.Members {
			if object.Members[i].Name.Value.(hujson.Literal).String() == key {
				at = &object.Members[i].Value
			}
		}
		if at == nil {
			return nil
		}
	}
	if at.Value.Kind() == 'n' {
		return nil
	}
	return at
}

// get is the switch that a setting is; nil: it is not there.
func (d *document) get(setting string) *Switch {
	v := d.find(setting)
	if v == nil {
		return nil
	}
	value := "..."
	if lit, ok := v.Value.(hujson.Literal); ok {
		value = string(lit)
	}
	return d.at(setting, value, v.StartOffset)
}

func (d *document) at(setting, value string, offset int) *Switch {
	return &Switch{
		Setting: setting, Value: value, Layer: d.Layer, File: d.path, Line: 1 + bytes.Count(d.text[:offset], []byte("\n")),
	}
}

// names is the element of an array of strings that is one of some; nil: none is.
func (d *document) names(setting string, one []string) *Switch {
	v := d.find(setting)
	if v == nil {
		return nil
	}
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	for i := range list.Elements {
		lit, ok := list.Elements[i].Value.(hujson.Literal)
		if !ok || lit.Kind() != '"' {
			continue
		}
		for _, name := range one {
			if lit.String() == name {
				return d.at(setting, string(lit), list.Elements[i].StartOffset)
			}
		}
	}
	return nil
}

// blanked is JSON with its comments as blanks, byte for byte, so that places stay.
func blanked(text []byte) []byte {
	out := bytes.Clone(text)
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, "\n")
		case bytes.HasPrefix(out[i:], []byte("/*")):
			i = blank(out, i, "*/")
		}
	}
	return out
}

// blank overwrites from i up to what ends a comment, which it returns the place of; a newline stays.
func blank(b []byte, i int, end string) int {
	until := len(b)
	if n := bytes.Index(b[i+2:], []byte(end)); n >= 0 {
		until = i + 2 + n + len(end)
	}
	for ; i < until; i++ {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return until - 1
}

// member is the literal under a key of the topmost object, "" where there is none; the key may have dots.
func (d *document) member(key string) string {
	object := d.root.Value.(*hujson.Object)
	out := ""
	for i := range object.Members {
		if object.Members[i].Name.Value.(hujson.Literal).String() == key {
			if lit, ok := object.Members[i].Value.Value.(hujson.Literal); ok {
				out = string(lit)
			}
		}
	}
	return out
}
