package gitinfo

import (
	"strings"
	"testing"
	"time"
)

// What HEAD's log tells of a time: the newest move that is not younger; nothing of what was before the first, and what
// is no line of a log is passed over.
func TestHeadIn(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 40) }
	log := strings.Repeat("0", 40) + " " + id("a") + " A B <a@b> 100 +0000\tcommit (initial): x\n" +
		"no line\n" +
		id("a") + " " + id("b") + " <a@b> 200 -0730\tcheckout: moving from x to y 300 +0000\n" +
		id("b") + " " + id("c") + " A <a@b> x +0000\tcommit: its time is none\n" +
		id("b") + " " + id("d") + " A <a@b> 300 +0000"
	for at, want := range map[int64]string{99: "", 100: "a", 199: "a", 200: "b", 299: "b", 300: "d", 4000: "d"} {
		if want != "" {
			want = id(want)
		}
		if got := headIn([]byte(log), time.Unix(at, 999)); got != want {
			t.Errorf("at %d: %q, want %q", at, got, want)
		}
	}
}
