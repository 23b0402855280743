package term

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
)

const (
	progressDelay = 300 * time.Millisecond // work that is done sooner shows nothing
	progressEvery = 100 * time.Millisecond // between two drawings
)

// spinner are the frames of what turns while work goes on.
var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// Progress draws the present step of long work and how far it is, on Err if that is a terminal. It begins when the work
// has taken 300 ms or there is a Note, and goes on turning between reports. Safe for concurrent use; the nil *Progress
// draws nothing.
type Progress struct {
	mu          sync.Mutex
	s           *Streams
	title, note string
	what        string // the phase; "": none was told
	done, total int64
	start       time.Time
	frame       int // so many were drawn
	end         chan struct{}
	gone        sync.WaitGroup
}

// Progress begins a line for work that the title says, as "comparing". End must
// be called before anything else is written to Err.
func (s *Streams) Progress(title string) *Progress {
	if !s.ErrTTY || s.getenv("TERM") == "dumb" {
		return nil
	}
	if title == "" {
		title = "working"
	}
	p := &Progress{s: s, title: Sanitize(title), start: s.Now(), end: make(chan struct{})}
	p.gone.Go(p.run)
	return p
}

// run draws until the end.
func (p *Progress) run() {
	for wait := progressDelay; ; wait = progressEvery {
		select {
		case <-p.end:
			if p.frame > 0 {
				fmt.Fprint(p.s.Err, clearLine)
			}
			return
		case <-time.After(wait):
		}
		p.mu.Lock()
		p.draw()
		p.mu.Unlock()
	}
}

// draw writes the line; the lock is held.
func (p *Progress) draw() { fmt.Fprint(p.s.Err, clearLine+p.line()) }

// clearLine takes the cursor to the beginning of the line and what is in it away.
const clearLine = "\r\x1b[K"

// line is what is drawn: "⠹ writing 31,204/50,000 [8s]", one column shorter than the terminal.
func (p *Progress) line() string {
	text := p.title
	if p.what != "" {
		text = p.what
	}
	if p.note != "" {
		text = strings.TrimSuffix(p.note+", "+text, ", ")
	}
	rest := ""
	switch {
	case p.total > 0:
		rest = fmt.Sprintf(" %s/%s", humanize.Comma(min(p.done, p.total)), humanize.Comma(p.total))
	case p.done > 0:
		rest = " " + humanize.Comma(p.done)
	}
	rest += fmt.Sprintf(" [%s]", p.s.Now().Sub(p.start).Truncate(time.Second))
	turn := string(spinner[p.frame%len(spinner)]) + " "
	p.frame++
	columns := fallbackWidth
	if p.s.Width > 0 {
		columns = p.s.Width
	}
	return turn + Truncate(text, max(columns-1-Width(turn)-Width(rest), minColumns)) + rest
}

// Set tells what is being done ("": what the title says), how many steps of it are done, and of how many (0: unknown).
func (p *Progress) Set(what string, done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.done, p.total = Sanitize(what), done, total
}

// Note puts a word in front of what is drawn from now on, and draws it at once: it answers somebody who waits to see
// that they were heard. After End it does nothing.
func (p *Progress) Note(note string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.end:
	default:
		p.note = Sanitize(note)
		p.draw()
	}
}

// Line writes a line that stays, above what is drawn.
func (p *Progress) Line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.s.Err, clearLine+text+"\n")
}

// End clears the line. It must be called once.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	close(p.end)
	p.mu.Unlock()
	p.gone.Wait()
}

// Count returns a number with its thousands apart: "31,204".
func Count(n int) string { return humanize.Comma(int64(n)) }
