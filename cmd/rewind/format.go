package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

// A format is a template of the user's over the values that --json has, by the names that they have there. What is
// absent there is empty here. Text of others comes out escaped, as everywhere: a prompt goes to a terminal.
type format struct{ t *template.Template }

const formatHelp = "Fields are those of --json, as in '{{.%s}}'; 'ago' and 'clock' make words of a time, 'words' sets a text on one\n" +
	"line, and 'short' cuts it ('short 20 .prompt')."

// newFormat reads a template; nil: none was given.
func (a *app) newFormat(text string) (*format, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no format is nothing to heed
	}
	if a.json {
		return nil, usage("--format and --json: only one of them")
	}
	t, err := template.New("--format").Option("missingkey=error").Funcs(template.FuncMap{
		"ago":   func(t time.Time) string { return term.Ago(a.Now(), t) },
		"clock": a.Clock,
		"words": render.Words,
		"short": func(n int, text string) string { return term.Truncate(render.Words(text), max(n, 1)) },
	}).Parse(text)
	if err != nil {
		return nil, usage("%s", strings.TrimPrefix(err.Error(), "template: "))
	}
	return &format{t}, nil
}

// write writes one value, on a line of its own. only, if not nil, are the fields that it has.
func (f *format) write(w io.Writer, v any, only []string) error {
	fields, _ := fieldsOf(reflect.ValueOf(v)).(map[string]any)
	if only != nil {
		maps.DeleteFunc(fields, func(name string, _ any) bool { return !slices.Contains(only, name) })
	}
	var b bytes.Buffer
	if err := f.t.Execute(&b, fields); err != nil {
		return formatError(err, fields)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// missingField is what a template says of a name that is none; its path stands before it.
var missingField = regexp.MustCompile(`at <([^>]*)>: map has no entry for key "([^"]*)"`)

// formatError says which field there is not, and which there are.
func formatError(err error, fields map[string]any) error {
	m := missingField.FindStringSubmatch(err.Error())
	if m == nil {
		return usage("%s", strings.TrimPrefix(err.Error(), "template: "))
	}
	path := strings.Split(strings.TrimPrefix(m[1], "."), ".")
	in, at := fields, ""
	for _, name := range path[:max(slices.Index(path, m[2]), 0)] {
		next, is := in[name].(map[string]any)
		if !is {
			break
		}
		in, at = next, at+"."+name
	}
	e := &api.Error{
		Word: api.WordUsage, Message: fmt.Sprintf("--format: no field %q", at+"."+m[2]),
		Hint: "there are " + strings.Join(slices.Sorted(maps.Keys(in)), ", "),
	}
	if near := suggestions(m[2], slices.Collect(maps.Keys(in))); len(near) > 0 {
		e.Hint = fmt.Sprintf("did you mean %s.%s? %s", at, near[0], e.Hint)
	}
	return e
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	textType   = reflect.TypeFor[value.Text]()
	jsonValuer = reflect.TypeFor[json.Marshaler]()
)

// fieldsOf is a value of the API as a template sees it: structs are maps by the names of JSON, and what is absent is
// the empty one of its kind.
func fieldsOf(v reflect.Value) any {
	switch t := v.Type(); {
	case t == timeType:
		return v.Interface()
	case t == textType || t.Kind() == reflect.String:
		return term.Sanitize(v.String())
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			return fieldsOf(reflect.Zero(t.Elem()))
		}
		return fieldsOf(v.Elem())
	case t.Kind() == reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = fieldsOf(v.Index(i))
		}
		return out
	case t.Kind() == reflect.Struct && !t.Implements(jsonValuer):
		return structFields(v)
	}
	return v.Interface()
}

// structFields are the fields of a struct by the names of JSON; those of what is embedded are its own.
func structFields(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			if m, is := fieldsOf(v.Field(i)).(map[string]any); is {
				maps.Copy(out, m)
			}
		default:
			out[name] = fieldsOf(v.Field(i))
		}
	}
	return out
}
