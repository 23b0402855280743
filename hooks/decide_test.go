package hooks

import (
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	kept := Action{Capture: true, Record: true}
	opens, closes, begins, ends := kept, kept, kept, kept
	opens.Opens, closes.Closes, begins.Begins, ends.Ends = true, true, true, true
	for _, c := range []struct {
		ev   Event
		want Action
	}{
		{Event{Kind: Other}, Action{}},
		{Event{Kind: 99}, Action{}},
		{Event{Kind: SessionStart}, kept},
		{Event{Kind: Prompt}, begins},
		{Event{Kind: Prompt, Notice: true}, kept},
		{Event{Kind: BeforeTool, Tool: Tool{Class: Changer}}, opens},
		{Event{Kind: BeforeTool, Tool: Tool{Class: Editor}}, opens},
		{Event{Kind: BeforeTool, Tool: Tool{Class: Reader}}, Action{}},
		{Event{Kind: AfterTool, Tool: Tool{Class: Changer}}, closes},
		{Event{Kind: AfterTool, Tool: Tool{Class: Editor}, Failed: true}, closes},
		{Event{Kind: AfterTool, Tool: Tool{Class: Reader}}, Action{}},
		{Event{Kind: Stop}, ends},
		{Event{Kind: SubagentStart}, kept},
		{Event{Kind: SubagentStop}, kept},
		{Event{Kind: Compact}, kept},
		{Event{Kind: SessionEnd}, ends},
	} {
		if got := Decide(c.ev); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.ev, got, c.want)
		}
	}
}

func TestMinor(t *testing.T) {
	tier := func(spam AntiSpam, size Significance) Tier { return Tier{Runtime: Runtime{spam, size}} }
	off := tier(AntiSpam{false, 30}, Significance{false, 50})
	spam := tier(AntiSpam{true, 30}, Significance{false, 50})
	size := tier(AntiSpam{false, 30}, Significance{true, 50})
	on := tier(AntiSpam{true, 30}, Significance{true, 50})
	zero := tier(AntiSpam{true, 0}, Significance{true, 0})
	for _, c := range []struct {
		name    string
		tier    Tier
		since   time.Duration
		changed int64
		kind    Kind
		want    bool
	}{
		{"off", off, 0, 0, AfterTool, false},
		{"too soon", spam, 30*time.Second - 1, 1000, AfterTool, true},
		{"soon enough", spam, 30 * time.Second, 1000, AfterTool, false},
		{"the first", spam, -1, 1000, AfterTool, false},
		{"too small", size, time.Hour, 49, AfterTool, true},
		{"large enough", size, 0, 50, AfterTool, false},
		{"both right", on, time.Minute, 50, AfterTool, false},
		{"soon", on, time.Second, 50, BeforeTool, true},
		{"small", on, time.Minute, 49, SubagentStop, true},
		{"the first and small", on, -1, 0, SessionStart, true},
		{"boundary, soon", on, time.Second, 50, Prompt, false},
		{"boundary, soon", on, time.Second, 50, Stop, false},
		{"boundary, soon", on, time.Second, 50, SessionStart, false},
		{"boundary, soon", on, time.Second, 50, SessionEnd, false},
		{"boundary, small", on, time.Second, 49, Stop, true},
		{"what a prompt finds", on, time.Second, 1, Prompt, false},
		{"what a prompt finds, an empty file", on, time.Second, 0, Prompt, false},
		{"boundary, unchanged", spam, time.Second, 0, Stop, true},
		{"boundary, one byte", spam, time.Second, 1, Stop, false},
		{"no boundary", spam, time.Second, 1, Compact, true},
		{"zero", zero, 0, 0, AfterTool, false},
	} {
		if got := Minor(c.since, c.changed, c.kind, c.tier); got != c.want {
			t.Errorf("%s: %v %d %s: %v, want %v", c.name, c.since, c.changed, c.kind, got, c.want)
		}
	}
}
