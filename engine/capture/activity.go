package capture

import (
	"sync/atomic"
	"time"
)

// activity is an Activity as it goes on.
type activity struct {
	Since time.Time
	Files atomic.Int64
	Bytes atomic.Int64
}
