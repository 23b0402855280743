package page

import (
	"testing"
	"time"

	"rewind/api"
)

// A cookie that is used stays good, over daemons: once an hour its use is to be written down. One that is not used for
// a week is none.
func TestKeysInUse(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	k := keys{now: func() time.Time { return now }}
	cookie, _, ok := k.enter(k.launch(api.AgentEnv{}, ""), "UTC")
	if !ok {
		t.Fatal("a token is refused")
	}
	renewed := 0
	for range 9 * 24 * 2 { // nine days, every half hour
		now = now.Add(30 * time.Minute)
		_, renew, ok := k.session(cookie)
		if !ok {
			t.Fatalf("a cookie that is used is refused at %s", now)
		}
		if renew {
			renewed++
			list := k.sessions()
			k = keys{now: k.now}
			k.restore(list)
		}
	}
	if renewed < 9*24/2 || renewed > 9*24 {
		t.Errorf("it was written down %d times in nine days", renewed)
	}
	now = now.Add(sessionLife + time.Minute)
	if _, _, ok := k.session(cookie); ok {
		t.Error("a cookie that nobody used for a week is good")
	}
}
