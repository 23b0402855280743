package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// TestGone holds which turns are gone when a prompt continues what an earlier one continued.
func TestGone(t *testing.T) {
	prompt := func(id, parent string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"%s",%s"message":{"content":"hi"}}`, id, parent)
	}
	hook := func(id, parent, event string) string {
		return fmt.Sprintf(`{"type":"progress","uuid":"%s",%s"data":{"type":"hook_progress","hookEvent":"%s"}}`, id, parent, event)
	}
	const none, root = "", `"parentUuid":null,`
	from := func(id string) string { return `"parentUuid":"` + id + `",` }
	for want, text := range map[string][]string{
		"-- ":    {prompt("a", none), prompt("b", none)},
		"x- ":    {prompt("a", root), prompt("b", root)},
		"-x- ":   {prompt("a", root), prompt("b", from("a")), prompt("c", from("a"))},
		"-xx- ":  {prompt("a", root), prompt("b", from("a")), prompt("c", from("b")), prompt("d", from("a"))},
		"-xx-- ": {prompt("a", root), prompt("b", from("a")), prompt("c", from("a")), prompt("d", from("a")), prompt("e", from("d"))},
		"xx- ":   {prompt("a", root), prompt("b", from("a")), prompt("c", root)},
		"-x-  ": {
			hook("h", root, "SessionStart"), prompt("a", from("h")), hook("i", from("a"), "UserPromptSubmit"), prompt("b", from("i")),
			hook("j", from("a"), "UserPromptSubmit"), prompt("c", from("j")),
		},
		"---": {prompt("a", root), prompt("b", from("a")), prompt("c", from("unknown"))},
	} {
		got := ""
		for _, turn := range scan(t, Claude, lines(text...)).Turns {
			got += map[bool]string{true: "x", false: "-"}[turn.Gone]
		}
		if got != strings.TrimSpace(want) {
			t.Errorf("%s, want %s:\n%s", got, want, strings.Join(text, "\n"))
		}
	}
}
