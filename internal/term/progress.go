package term

import (
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	progressDelay    = 300 * time.Millisecond // work that is done sooner shows nothing
	progressThrottle = 65 * time.Millisecond  // between two drawings
	progressWidth    = 12                     // columns of the bar itself
	progressRest     = 64                     // columns of the bar and the numbers beside it
)

// Progress draws how far a long piece of work is, on Err when that is a
// terminal and only once the work has taken 300 ms. Safe for concurrent use;
// the nil *Progress draws nothing.
type Progress struct {
	mu    sync.Mutex
	s     *Streams
	title string
	total int64
	bytes bool
	start time.Time
	bar   *progressbar.ProgressBar
	ended bool
}

// Progress returns a bar for work of total steps (0: unknown), which are bytes
// or just a count. End must be called before anything else is written to Err.
func (s *Streams) Progress(title string, total int64, bytes bool) *Progress {
	if !s.ErrTTY || s.getenv("TERM") == "dumb" {
		return nil
	}
	room := fallbackWidth - progressRest
	if s.Width > 0 {
		room = max(s.Width-progressRest, minColumns)
	}
	return &Progress{s: s, title: Truncate(Sanitize(title), room), total: total, bytes: bytes, start: s.Now()}
}

// Set tells how many steps are done, and of how many (0: still unknown).
func (p *Progress) Set(done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.s.Now().Sub(p.start) < progressDelay {
		return
	}
	if p.bar == nil || p.total != total {
		p.total = total
		if p.bar == nil {
			p.bar = p.newBar()
		} else {
			p.bar.ChangeMax64(max(total, -1))
		}
	}
	if total > 0 {
		done = min(done, total-1) // the last step is drawn by End, which clears the line
	}
	_ = p.bar.Set64(max(done, 0)) // drawing is a courtesy; its errors are the terminal's
}

func (p *Progress) newBar() *progressbar.ProgressBar {
	total := p.total
	if total <= 0 {
		total = -1
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.s.Err),
		progressbar.OptionSetDescription(p.title),
		progressbar.OptionSetWidth(progressWidth),
		progressbar.OptionThrottle(progressThrottle),
		progressbar.OptionSetPredictTime(total > 0),
		progressbar.OptionSetElapsedTime(total <= 0),
		progressbar.OptionShowBytes(p.bytes),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionShowCount(),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own
		progressbar.OptionClearOnFinish(),
	)
}

// End clears the line. Calls after the first do nothing.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && !p.ended {
		_ = p.bar.Clear()
	}
	p.ended = true
}
