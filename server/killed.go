package server

import (
	"encoding/json"
	"time"

	"rewind/api"
	"rewind/internal/memlimit"
	"rewind/internal/procstate"
	"rewind/internal/value"
	"rewind/server/rundir"
)

// killedName is a file of the run directory: a daemon that ended without a word, as the next one found it.
const killedName = "killed.json"

// killedTold is for how long it is told; a daemon that ends by itself ends it, too.
const killedTold = 24 * time.Hour

// killed is a daemon that left its note behind: who ends by itself takes it away first of all.
type killed struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Found   time.Time `json:"found"`
	Limit   int64     `json:"limit,omitempty"` // bytes of memory that the processes here may have; 0: no bound
	Kills   int64     `json:"kills,omitempty"` // how many of them the kernel has killed for memory
}

// noteKilled finds what the daemon before this one has left; nil: it ended by itself, or the machine was started since.
func noteKilled(dir rundir.Dir) *killed {
	b, err := dir.Read(rundir.NoteName)
	var was api.Daemon
	if err != nil || json.Unmarshal(b, &was) != nil || was.PID <= 0 || was.Started == nil || was.Started.Before(procstate.Boot()) {
		return nil
	}
	limit := memlimit.Here()
	k := &killed{PID: was.PID, Started: *was.Started, Found: time.Now().UTC(), Limit: limit.Bytes, Kills: limit.Kills}
	if b, err := json.Marshal(k); err == nil {
		_ = dir.Write(killedName, append(b, '\n'))
	}
	return k
}

// checkKilled tells of it. It is a finding where the kernel says that it has killed for memory; else somebody may have done it on purpose.
func (s *server) checkKilled() []value.Check {
	b, err := s.run.Read(killedName)
	var k killed
	if err != nil || json.Unmarshal(b, &k) != nil || time.Since(k.Found) > killedTold {
		return nil
	}
	c := value.Check{
		Name: "killed", Level: value.LevelNote,
		Text: value.Textf("the daemon before this one, process %d, ended without a word, found at %s", k.PID, k.Found.Format(time.RFC3339)),
	}
	if k.Limit > 0 {
		c.Text += value.Textf(", perhaps for memory (limit %d MiB", k.Limit>>20)
		if k.Kills > 0 {
			c.Level, c.Remedy = value.LevelFinding, killedRemedy
			c.Text += value.Textf("; processes that the kernel has killed here: %d", k.Kills)
		}
		c.Text += ")"
	}
	return []value.Check{c}
}

const killedRemedy = "give it more memory, or keep large files out (limits.file_size, .rewindignore); 'rewind daemon stop' ends this finding"
