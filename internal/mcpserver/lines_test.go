package mcpserver

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLines: what is no message is answered and passed over, and all that is one comes through as it is.
func TestLines(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct{ name, in, through, code, id string }{
		{"a message", good + "\n", good, "", ""},
		{"without an end", good, good, "", ""},
		{"of another system", good + "\r\n", good, "", ""},
		{"empty lines", "\n \n\r\n" + good + "\n\n", good, "", ""},
		{"no JSON", "hello\n" + good + "\n", good, "-32700", "null"},
		{"half a message", good[:20] + "\n" + good + "\n", good, "-32700", "null"},
		{"half a message at the end", good + "\n" + good[:20], good, "-32700", "null"},
		{"two in a line", good + good + "\n" + good + "\n", good, "-32700", "null"},
		{"bytes", "\x00\xff\xfe\n" + good + "\n", good, "-32700", "null"},
		{"no message", "{}\n" + good + "\n", good, "-32600", "null"},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"x"}` + "\n" + good + "\n", good, "-32600", "7"},
		{"a list", "[" + good + "]\n" + good + "\n", good, "-32600", "null"},
		{"a number", "7\n" + good + "\n", good, "-32600", "null"},
		{"too long", `{"x":"` + strings.Repeat("y", 2*maxRequest) + "\"}\n" + good + "\n", good, "-32600", "null"},
		{"too long, and the end", good + "\n" + strings.Repeat("y", maxRequest+1), good, "-32600", "null"},
	} {
		for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.HalfReader} {
			var answers bytes.Buffer
			got, err := io.ReadAll(newLines(io.NopCloser(read(strings.NewReader(c.in))), &answers))
			if err != nil || strings.TrimSpace(string(got)) != c.through {
				t.Errorf("%s: %.200q %v", c.name, got, err)
			}
			said := answers.String()
			if c.code == "" && said != "" || c.code != "" && !strings.Contains(said, `"id":`+c.id+`,"error":{"code":`+c.code) {
				t.Errorf("%s: it was answered with %q", c.name, said)
			}
		}
	}
}
