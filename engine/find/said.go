package find

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/transcript"
)

// SaidResult is what was said, session by session, each from its beginning.
type SaidResult struct {
	Said   []value.Said
	More   bool
	Unread map[string]string // sessions that could not be searched, and why
}

// maxMessages is how many messages of one session are searched: the newest.
const maxMessages = 1 << 14

// Said searches conversations as far as they were captured: the first 4 KiB of each message, and not what their writer
// went back behind. Paths and All count for nothing.
func (f *Finder) Said(ctx context.Context, o GrepOptions) (*SaidResult, error) {
	return again(func() (*SaidResult, error) { return f.said(ctx, o) })
}

func (f *Finder) said(ctx context.Context, o GrepOptions) (*SaidResult, error) {
	g, err := f.grep(o)
	if err != nil {
		return nil, err
	}
	if o.Session, err = f.session(o.Session); err != nil {
		return nil, err
	}
	list, err := f.conversations(o.Session)
	if err != nil {
		return nil, err
	}
	out := &SaidResult{Said: []value.Said{}, Unread: map[string]string{}}
	if o.Once { // what a fork copied was said in an older session
		slices.SortStableFunc(list, func(a, b model.Session) int { return cmp.Compare(a.Began, b.Began) })
		g.seen = map[saidLine]int{}
	}
	whose := f.sessions.Whose()
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.saidIn(&list[i], whose(list[i].Name), g, out); err != nil {
			out.Unread[list[i].Name] = err.Error()
		}
		if out.More {
			break
		}
	}
	return out, nil
}

// saidLine tells a line that was said from others, also in a copy of its conversation.
type saidLine struct {
	at        time.Time
	who, text string
	n         int // of its message's lines, from 1
}

// again reports whether a search has found a line before, and counts it there as a copy. Else it is the next one found.
func (g *grep) again(l saidLine, found []value.Said) bool {
	if g.seen == nil || l.at.IsZero() {
		return false
	}
	i, was := g.seen[l]
	if was {
		found[i].Copies++
	} else {
		g.seen[l] = len(found)
	}
	return was
}

// conversations are the sessions of which something was captured, by name: only one, unless that is "".
func (f *Finder) conversations(only string) ([]model.Session, error) {
	defer f.log.Hold()()
	if err := f.log.LoadSessions(); err != nil {
		return nil, err
	}
	var list []model.Session
	for _, name := range f.log.SessionNames() {
		s := f.log.Session(name)
		readable := s != nil && model.Understood(s.Agent) && !s.Cursor.Transcript.IsZero()
		if readable && (only == "" || only == name) {
			list = append(list, *s)
		}
	}
	return list, nil
}

// saidIn searches one conversation.
func (f *Finder) saidIn(s *model.Session, whose string, g *grep, out *SaidResult) error {
	src, _, err := f.history.Source(s, s.Cursor.Transcript)
	if err != nil {
		return err
	}
	messages, err := transcript.Messages(s.Agent, src, maxMessages)
	if err != nil {
		return err
	}
	title, number := s.Title, f.history.Numbers(s)
	for _, m := range messages {
		if title == "" && m.Who == "user" {
			title = model.OneLine(m.Text)
		}
		if !g.m.in([]byte(m.Text)) {
			continue
		}
		n := 0
		for line := range strings.Lines(m.Text) {
			line, n = strings.TrimSuffix(line, "\n"), n+1
			if !g.m.in([]byte(line)) || g.again(saidLine{m.Time.UTC(), m.Who, line, n}, out.Said) {
				continue
			}
			if out.More = len(out.Said) == g.limit; out.More {
				return nil
			}
			one := value.Said{
				Session: s.Name, Agent: s.Agent, Title: value.Text(title), Turn: number(m.Turn),
				Whose: whose, Who: m.Who, Time: m.Time.UTC(),
			}
			one.Text, one.Cut = shown(value.Text(line))
			out.Said = append(out.Said, one)
		}
	}
	return nil
}
