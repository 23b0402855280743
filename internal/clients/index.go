package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

const (
	indexName  = "sessions-index.json"
	maxIndex   = 64 << 20 // bytes
	indexTries = 5        // how often an edit starts over because Claude has written the index meanwhile
)

// errIndex says that an index is not what the versions that wrote one understood.
var errIndex = errors.New("not an index of sessions of version 1")

// indexClaude gives a session its entry in the index beside its file, if there is one. Versions of Claude between
// 2.0.60 and 2.1.30 wrote it (seen: 2.1.20); they go by an entry as long as its fileMtime is not older than the file,
// and other programs may know nothing but the index. Later ones leave an old index lying. 2.1.30 came in February 2026:
// until those before it are a year old, they are told. What cannot be understood stays as it is.
func indexClaude(path, id, title string) error {
	index := filepath.Join(filepath.Dir(path), indexName)
	err := errChanged
	for try := 0; errors.Is(err, errChanged) && try < indexTries; try++ {
		err = indexOnce(index, path, id, title)
	}
	if err != nil {
		return fmt.Errorf("list claude session %s: %s: %w", id, index, pathCause(err))
	}
	return nil
}

func indexOnce(index, path, id, title string) error {
	f, err := readFile(index, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	fields, err := indexFields(path, id, title)
	if err != nil {
		return err
	}
	after, err := putEntry(f.data, id, fields)
	if err != nil || bytes.Equal(after, f.data) {
		return err
	}
	return f.replace(after, maxIndex)
}

// member is a member of a JSON object, its value as it stands.
type member struct {
	key   string
	value json.RawMessage
}

// putEntry replaces the entry of a session in an index, or adds it as the last one. All other bytes stay. Of an entry
// that is replaced the members stay that fields do not name.
func putEntry(data []byte, id string, fields []member) ([]byte, error) {
	open, entries, err := readIndex(data)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		pad, end := "", ""
		if line := indent(data, open-1); line != "" {
			pad, end = line+"  ", line
		}
		return splice(data[:open], []byte(pad), render(fields, pad), []byte(end), bytes.TrimLeft(data[open:], " \t\r\n")), nil
	}
	for _, e := range entries {
		if e.id != id {
			continue
		}
		members, err := readMembers(data[e.start:e.end])
		if err != nil {
			return nil, err
		}
		pad := ""
		if bytes.IndexByte(data[e.start:e.end], '\n') >= 0 {
			pad = indent(data, e.start)
		}
		return splice(data[:e.start], render(merge(members, fields), pad), data[e.end:]), nil
	}
	last := entries[len(entries)-1]
	pad := data[open:entries[0].start] // white space
	return splice(data[:last.end], []byte(","), pad, render(fields, indent(data, entries[0].start)), data[last.end:]), nil
}

func splice(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// span is where an entry stands in an index.
type span struct {
	start, end int
	id         string
}

// readIndex finds the entries; open is behind the bracket that they begin with.
func readIndex(data []byte) (open int, entries []span, err error) {
	if !json.Valid(data) {
		return 0, nil, errIndex
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 0, nil, errIndex
	}
	version := false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, nil, err
		}
		if key == "entries" {
			if open != 0 {
				return 0, nil, errIndex
			}
			if open, entries, err = readEntries(d); err != nil {
				return 0, nil, err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, nil, err
		}
		if key == "version" {
			version = string(value) == "1"
		}
	}
	if !version || open == 0 {
		return 0, nil, errIndex
	}
	return open, entries, nil
}

func readEntries(d *json.Decoder) (open int, entries []span, err error) {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return 0, nil, errIndex
	}
	open = int(d.InputOffset())
	for d.More() {
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, nil, err
		}
		var entry struct {
			ID string `json:"sessionId"`
		}
		if json.Unmarshal(value, &entry) != nil || entry.ID == "" {
			return 0, nil, errIndex
		}
		end := int(d.InputOffset())
		entries = append(entries, span{end - len(value), end, entry.ID})
	}
	_, err = d.Token()
	return open, entries, err
}

func readMembers(object []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errIndex
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: key.(string)} // in an object it is nothing else
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// merge puts fields over members; those that are new come last.
func merge(members, fields []member) []member {
	out := append([]member(nil), members...)
	for _, f := range fields {
		found := false
		for i := range out {
			if out[i].key == f.key {
				out[i].value, found = f.value, true
			}
		}
		if !found {
			out = append(out, f)
		}
	}
	return out
}

// indent is the line break and the white space that the line of data[at] begins with; "" if data is one line up to
// there.
func indent(data []byte, at int) string {
	line := bytes.LastIndexByte(data[:at], '\n')
	if line < 0 {
		return ""
	}
	n := len(data[line+1:at]) - len(bytes.TrimLeft(data[line+1:at], " \t"))
	return string(data[line : line+1+n])
}

// render writes an object whose lines begin with pad: a line break and white space; "" for one line.
func render(members []member, pad string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		if pad != "" {
			b.WriteString(pad + "  ")
		}
		b.Write(text(m.key))
		b.WriteByte(':')
		if pad != "" {
			b.WriteByte(' ')
		}
		b.Write(m.value)
	}
	if pad != "" && len(members) > 0 {
		b.WriteString(pad)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// text is a string in JSON as JavaScript writes it.
func text(s string) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return json.RawMessage(`""`) // a string can be written
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
