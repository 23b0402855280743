package history_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
)

// heap is what is live on the heap, in bytes, when it has become still: a store that was opened, or closed, writes and
// lets go for a moment.
func heap() int64 {
	const still, looks = 64 << 10, 5 // bytes; readings in a row
	var was int64
	for same := 0; same < looks; time.Sleep(10 * time.Millisecond) {
		var m runtime.MemStats
		for range 3 { // what the first finds to be finalised the next takes away
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		if now := int64(m.HeapAlloc); now-was < still && was-now < still {
			same++
		} else {
			was, same = now, 0
		}
	}
	return was
}

// What is known of two hundred sessions, of 20 KB each, takes less than 1 MB while it is at hand: what the store keeps
// of them, and what was learnt of their files.
func TestKnownSessionsAreSmall(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Must(os.MkdirAll(p.Chats(), 0o700))
	const sessions, size, most = 200, 20 << 10, 1 << 20
	for i := range sessions {
		id := enginetest.ClaudeID(i + 1)
		var b bytes.Buffer
		up := "null"
		for n := 0; b.Len() < size; n++ {
			who, uuid := "user", fmt.Sprintf("%08x-%04x-4000-8000-000000000000", i+1, n+1)
			if n%2 == 1 {
				who = "assistant"
			}
			fmt.Fprintf(&b, `{"parentUuid":%s,"type":%q,"message":{"role":%q,"content":"%d of %d %s"},"uuid":%q,"cwd":%q,"sessionId":%q,`+
				`"timestamp":"2026-11-20T09:%02d:%02d.000Z"}`+"\n", up, who, who, n, i, strings.Repeat("words ", 300), uuid, p.Root, id, n/60, n%60)
			up = `"` + uuid + `"`
		}
		p.Must(os.WriteFile(filepath.Join(p.Chats(), id+".jsonl"), b.Bytes(), 0o600))
	}
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	list := func() int {
		all, _, err := p.E.History.SessionList(enginetest.Bg, true, 0)
		p.Must(err)
		return len(all)
	}
	list()
	p.Reopen()
	before := heap()
	if n := list(); n != sessions {
		t.Fatalf("%d sessions are listed", n)
	}
	grown := heap() - before
	t.Logf("%d KB for %d sessions", grown>>10, sessions)
	if grown > most {
		t.Errorf("%d bytes are more than %d", grown, most)
	}
	runtime.KeepAlive(p)
}
