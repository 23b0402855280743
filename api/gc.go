package api

// GCRequest thins the history and removes what nothing leads to. Without Keep, Older and MaxSize it is the policy of the settings.
type GCRequest struct {
	Project
	DryRun  bool   `json:"dry_run,omitempty"`
	Keep    int    `json:"keep,omitempty"`     // checkpoints of each session
	Older   string `json:"older,omitempty"`    // an age such as 30d
	MaxSize string `json:"max_size,omitempty"` // such as 2GiB
}

// GCResponse is what went, or with a dry run would go.
type GCResponse struct {
	DryRun      bool     `json:"dry_run,omitempty"`
	Checkpoints int      `json:"checkpoints"` // steps
	Safety      int      `json:"safety"`      // safety checkpoints
	Kept        int      `json:"kept"`        // checkpoints of both kinds that are still there
	Young       int      `json:"young"`       // of those: what was asked to go, and stays because it is younger than the grace
	Grace       string   `json:"grace"`       // gc.grace
	Objects     int      `json:"objects"`
	Bytes       int64    `json:"bytes"` // of objects, as stored
	DiskBefore  int64    `json:"disk_before"`
	DiskAfter   int64    `json:"disk_after"` // with a dry run: about
	Fits        bool     `json:"fits"`       // the store is not larger than it may be
	Notices     []string `json:"notices,omitempty"`
}
