package server

import (
	"errors"
	"strings"
	"testing"

	"rewind/api"
)

// What is no request is refused in words of the API, and nothing of it is taken for one.
func TestReadRequest(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                         "it has no body, want an object of JSON",
		"[]":                       "want an object of JSON, not one array",
		`"x"`:                      "want an object of JSON, not one string",
		`{"dir":1}`:                `field "dir" does not take one number`,
		`{"dir":"/","nope":1}`:     `json: unknown field "nope"`,
		`{"dir":"/"} {}`:           "something follows its object",
		`{"dir":"/"} x`:            "something follows its object",
		`{"dir":`:                  "unexpected EOF",
		strings.Repeat("[", 1e5):   "invalid character '[' exceeded max depth",
		"{\"dir\":\"/\"}\n \t\r\n": "",
	} {
		var req api.TreeRequest
		err := readRequest(strings.NewReader(body), &req)
		var told *api.Error
		switch {
		case want == "" && err != nil:
			t.Errorf("%.20q: %v", body, err)
		case want != "" && (!errors.As(err, &told) || told.Word != api.WordUsage || told.Message != "read request: "+want):
			t.Errorf("%.20q: %v, want %q", body, err, want)
		}
	}
}
