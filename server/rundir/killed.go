package rundir

import (
	"encoding/json"
	"time"

	"rewind/internal/memlimit"
	"rewind/internal/procstate"
)

// killedName is a file of the run directory: a daemon that ended without a word, as the next one found it.
const killedName = "killed.json"

// killedTold is for how long it is told; a daemon that ends by itself ends it, too.
const killedTold = 24 * time.Hour

// Killed is a daemon that left its note behind: who ends by itself takes it away first of all.
type Killed struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Found   time.Time `json:"found"`
	Limit   int64     `json:"limit,omitempty"` // bytes of memory that the processes here may have; 0: no bound
	Kills   int64     `json:"kills,omitempty"` // how many of them the kernel has killed for memory
}

// NoteKilled finds what the daemon before this one has left, and keeps it for Killed; nil: it ended by itself, or the
// machine was started since.
func (p *Claim) NoteKilled() *Killed {
	b, err := p.Read(NoteName)
	var was Killed
	unread := err != nil || json.Unmarshal(b, &was) != nil
	if unread || was.PID <= 0 || was.Started.Before(procstate.Boot()) {
		return nil
	}
	limit := memlimit.Here()
	k := &Killed{PID: was.PID, Started: was.Started, Found: time.Now().UTC(), Limit: limit.Bytes, Kills: limit.Kills}
	if b, err := json.Marshal(k); err == nil {
		_ = p.Write(killedName, append(b, '\n'))
	}
	return k
}

// Killed is what NoteKilled has kept; nil: nothing, or it is long ago.
func (d Dir) Killed() *Killed {
	b, err := d.Read(killedName)
	var k Killed
	if err != nil || json.Unmarshal(b, &k) != nil || time.Since(k.Found) > killedTold {
		return nil
	}
	return &k
}
