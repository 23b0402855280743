package browsertest

import (
	"regexp"
	"strings"
	"testing"
)

// TestForks: what is a fork's own comes first. What its parent went on with is one line, and a title that is only the
// parent's gives way to the first prompt of its own.
func TestForks(t *testing.T) {
	p, named := usual(t)
	fork := regexp.MustCompile(`claude --resume (\S+)`).FindStringSubmatch(p.rewind("fork", "turn:1", "--session", first))[1]
	p.begin(fork)
	p.turn("guard it by a lock", p.sets("lock.go", "package notes\n"))
	b := profile(t)
	b.enter(p)
	for _, path := range []string{"", "/tree", "/lanes"} {
		b.open(path)
		b.says(map[string]string{"": ".branches", "/tree": ".tree", "/lanes": ".lanebox"}[path], "guard it by a lock")
		if strings.Contains(eval[string](b, `document.querySelector("main").innerText`), "[Fork @1]") {
			t.Errorf("%q has a title that is another session's", path)
		}
	}
	b.open("/tree")
	b.says(".tree .name", "another way leave the store")

	b.open("/s/claude/" + fork)
	b.says(".log h1", "guard it by a lock")
	b.says(".parted summary", "3 turns of claude 5f1c0d2e go on from its turn 1")
	top := func(of string) string { return `document.querySelector("` + of + `").getBoundingClientRect().top` }
	if !eval[bool](b, top("[data-rows] .row")+" < "+top(".parted")+
		` && !document.querySelector(".log section.ahead") && !document.querySelector(".parted").open`) {
		t.Errorf("its own turns are not first: %s", b.text())
	}
	b.click(".parted summary")
	b.says(".parted li", "and a changelog")
	p.turn("name the lock", p.sets("lock.go", "package notes // lock\n"))
	b.says("[data-rows] .row", "name the lock")
	b.wait(`document.querySelector(".parted").open`)

	b.open("/compare?a=claude/" + fork + "&b=claude/" + named)
	b.says("h1", "guard it by a lock and ")
}

// TestTitles: a tab says which turn it is of.
func TestTitles(t *testing.T) {
	p, fork := usual(t)
	b := profile(t)
	b.enter(p)
	paths := b.views(fork)
	for _, view := range []struct{ name, want string }{
		{"turn", "and a changelog · notes"},
		{"step", "Bash make · and a changelog · notes"},
		{"log", "notes"}, // the last: j is pressed there
	} {
		b.open(paths[view.name])
		if title := eval[string](b, `document.title`); !strings.HasSuffix(title, view.want) {
			t.Errorf("%s is called %q", view.name, title)
		}
	}
	b.press("j")
	b.wait(`document.title === document.querySelector(".row a[aria-current] .text").textContent + " · notes"`)
	b.open("?at=turn:1@claude/" + first)
	b.wait(`document.title === "fix the parser · notes"`)
}
