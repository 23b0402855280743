package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

const (
	deedsName = "acts.json"
	mostDeeds = 16 // that are remembered
)

// deed is one act that a browser asked for, by the id that it gave it. A browser that got no answer asks again.
type deed struct {
	ID    string    `json:"id"` // a hash of what was asked for, with the browser's id
	Begun time.Time `json:"begun"`
	Done  bool      `json:"done,omitempty"` // false: nobody knows whether it was

	// answer is the document of what was done. It stays in memory: it has prompts and names, which purge is to find.
	answer []byte
	over   chan struct{} // closed when it has ended; nil: another daemon began it
}

// deeds are the newest acts. They outlive the daemon: what it was killed in is not done a second time. Safe for
// concurrent use.
type deeds struct {
	mu    sync.Mutex
	read  bool
	list  []*deed // the oldest first
	notes Notes
	warn  func(error)
}

// deedID is the name of an act: the same words with the same id are one.
func deedID(project, id string, body []byte) string {
	sum := sha256.Sum256([]byte(project + "\x00" + id + "\x00" + string(body)))
	return hex.EncodeToString(sum[:16])
}

// begin gives an act that was begun before, or notes that this one begins: what is begun is known before anything is
// done.
func (d *deeds) begin(id string, now time.Time) (known *deed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.read {
		d.read = true
		if b, err := d.notes.Read(deedsName); err == nil && json.Unmarshal(b, &d.list) != nil {
			d.list = nil
		}
	}
	if i := slices.IndexFunc(d.list, func(one *deed) bool { return one.ID == id }); i >= 0 {
		return d.list[i]
	}
	d.list = append(d.list, &deed{ID: id, Begun: now, over: make(chan struct{})})
	d.list = d.list[max(len(d.list)-mostDeeds, 0):]
	d.write()
	return nil
}

// end notes what was answered; nil: nothing was done, and the act may be asked for again.
func (d *deeds) end(id string, answer []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.list, func(one *deed) bool { return one.ID == id })
	if i < 0 {
		return
	}
	one := d.list[i]
	if one.answer, one.Done = answer, answer != nil; answer == nil {
		d.list = slices.Delete(d.list, i, i+1)
	}
	d.write()
	close(one.over)
}

// write keeps the list for the next daemon; the lock is held.
func (d *deeds) write() {
	b, err := json.Marshal(d.list)
	if err == nil {
		err = d.notes.Write(deedsName, b)
	}
	if err != nil { // the act is done all the same; only the next daemon does not know of it
		d.warn(err)
	}
}

// answered waits for an act that was begun before, and gives its answer; nil: it was not done, or nobody knows.
func (d *deeds) answered(ctx context.Context, one *deed) ([]byte, error) {
	if one.over != nil {
		select {
		case <-one.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return one.answer, nil
}
