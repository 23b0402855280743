package confine

import (
	"encoding/json"
	"errors"
	"io"
	"time"
)

// errView is for a private view that cannot be made.
var errView = errors.New("the private view cannot be made")

// hard is how long is waited for processes that were killed.
const hard = 10 * time.Second

// Descriptors of a supervisor.
const (
	askFD  = 3 // order, then nothing until who asked is gone or has the command ended
	tellFD = 4 // reports
)

// order is what a supervisor is asked for.
type order struct {
	Probe    bool     `json:"probe,omitempty"` // only make the view
	Argv     []string `json:"argv,omitempty"`
	Dir      string   `json:"dir,omitempty"`
	Fallback string   `json:"fallback,omitempty"`
	Env      []string `json:"env,omitempty"`
	Level    Level    `json:"level"`
	View     *View    `json:"view,omitempty"`
	User     bool     `json:"user,omitempty"` // the mounts are made in a user namespace
}

// report is what a supervisor tells: first that the command starts, or an error, then how it ended.
type report struct {
	Started *Started `json:"started,omitempty"`
	Ended   *ended   `json:"ended,omitempty"`
	NoDir   bool     `json:"no_dir,omitempty"`
	View    string   `json:"view,omitempty"`  // why it could not be made
	Start   string   `json:"start,omitempty"` // why the command could not be started
	Kind    int      `json:"kind,omitempty"`  // the system's number of that error
}

type ended struct {
	Code int   `json:"code"`
	Left []int `json:"left,omitempty"`
}

func tell(w io.Writer, r report) {
	_ = json.NewEncoder(w).Encode(r) // who asked may be gone
}
