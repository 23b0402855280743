package api_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"rewind/api"
)

// TestRoutesInDocs holds the table of docs/api.md against the routes: each has a row, each row is a route, and leads to
// a section.
func TestRoutesInDocs(t *testing.T) {
	code, err := os.ReadFile("route.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	routes := map[string]bool{
		"GET " + api.CatPath: true, "GET " + api.EventsPath: true,
		api.DaemonStop.Method + " " + api.DaemonStop.Path: true,
	}
	for _, m := range regexp.MustCompile(`\{"(GET|POST)", "(/v1/[^"]+)"\}`).FindAllStringSubmatch(string(code), -1) {
		routes[m[1]+" "+m[2]] = true
	}
	sections := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(doc), -1) {
		sections[strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	rows := regexp.MustCompile("(?m)^\\| `((?:GET|POST) /v1/[^`]+)` \\| [^|]+ \\| \\[[^]]+\\]\\(#([^)]+)\\) \\|$")
	for _, m := range rows.FindAllStringSubmatch(string(doc), -1) {
		if !routes[m[1]] {
			t.Errorf("docs/api.md has %s, which is no route, or stands there twice", m[1])
		}
		if !sections[m[2]] {
			t.Errorf("docs/api.md: %s leads to #%s, which is not there", m[1], m[2])
		}
		delete(routes, m[1])
	}
	for r := range routes {
		t.Errorf("docs/api.md has no row of %s", r)
	}
}
