package transcript

import (
	"slices"
	"strings"
)

// claudeFork writes a fork as the agent's SDK does (forkSession). It has the lines of the chain except a subagent's,
// each with a fresh uuid and with forkedFrom. Lines that name the agent's own backups of files stay between them. Then
// come the newest atis-latch and tools-used, then the title. The last message gets the fork's time: by that the agent's
// list is ordered, and what was made last is what a person looks for.
type claudeFork struct {
	f     Fork
	left  map[string]string // of a line of the chain that is left out: the nearest ancestor that is not; "": none
	books map[string]kept   // the newest line of each of carried
	held  []kept            // the newest message, and the lines of the chain behind it
	known [2][2]string      // the newest ids that were made anew, each behind the old one: a line names the one before
}

// carried are the types of lines that a fork ends with, in this order, if the source has them.
var carried = []string{"atis-latch", "tools-used", "last-prompt"}

// claudeBackups are the types of lines that say which of the agent's backups of files belong to which message: its own
// rewind looks for them.
var claudeBackups = map[string]bool{"file-history-snapshot": true, "file-history-delta": true}

// kept is a line to be copied later.
type kept struct {
	start, end int64
	splices    []splice
	time       mark // where its time stands; the zero value: nowhere
}

// at is the line with another time.
func (k kept) at(time string) kept {
	if k.time.end == 0 {
		return k
	}
	i := 0
	for i < len(k.splices) && k.splices[i].start < k.time.start {
		i++
	}
	k.splices = slices.Insert(slices.Clone(k.splices), i, splice{k.time.start, k.time.end, quoted(time)})
	return k
}

func newClaudeFork(f Fork) *claudeFork {
	return &claudeFork{f: f, left: map[string]string{}, books: map[string]kept{}}
}

func (c *claudeFork) record(l *line, out *output) error {
	if l.Kind == Broken {
		return nil
	}
	for _, kind := range carried {
		if l.Type == kind {
			c.books[kind] = c.keep(l)
			return nil
		}
	}
	if claudeBackups[l.Type] {
		return c.backup(l, out)
	}
	if !inChain(l) {
		return nil
	}
	if l.Side {
		if len(c.left) < maxLeft {
			c.left[l.ID] = c.ancestor(l.Parent)
		}
		return nil
	}
	delete(c.books, "last-prompt") // it names the end of the chain as it was
	if message := l.Type == "user" || l.Type == "assistant"; message || len(c.held) == maxHeld {
		if err := c.release(out); err != nil {
			return err
		}
		if message {
			c.held = append(c.held, c.keep(l))
			return nil
		}
	}
	if len(c.held) > 0 {
		c.held = append(c.held, c.keep(l))
		return nil
	}
	return out.copy(l.Offset, l.Offset+l.Size, c.splices(l)...)
}

// keep notes a line to be copied later.
func (c *claudeFork) keep(l *line) kept {
	k := kept{start: l.Offset, end: l.Offset + l.Size, splices: c.splices(l)}
	for _, m := range l.marks {
		if m.role == roleTime {
			k.time = m
		}
	}
	return k
}

// release copies what is held.
func (c *claudeFork) release(out *output) error {
	for _, k := range c.held {
		if err := out.copy(k.start, k.end, k.splices...); err != nil {
			return err
		}
	}
	c.held = c.held[:0]
	return nil
}

func (c *claudeFork) end(out *output) error {
	if len(c.held) > 0 {
		c.held[0] = c.held[0].at(stamp(c.f.Time))
	}
	if err := c.release(out); err != nil {
		return err
	}
	for _, kind := range carried {
		if k, ok := c.books[kind]; ok {
			if err := out.copy(k.start, k.end, k.splices...); err != nil {
				return err
			}
		}
	}
	if c.f.Title == "" {
		return nil
	}
	return out.write(`{"type":"custom-title","sessionId":` + quoted(c.f.ID) + `,"customTitle":` + quoted(c.f.Title) +
		`,"uuid":` + quoted(derivedID(c.f.ID, "custom-title")) + `,"timestamp":` + quoted(stamp(c.f.Time)) + "}\n")
}

// ancestor is the nearest kept line from id on upwards.
func (c *claudeFork) ancestor(id string) string {
	if up, ok := c.left[id]; ok {
		return up
	}
	return id
}

// backup takes a record that says where files are kept: it stays behind what is held.
func (c *claudeFork) backup(l *line, out *output) error {
	if len(c.held) > 0 && len(c.held) < maxHeld {
		c.held = append(c.held, c.keep(l))
		return nil
	}
	if err := c.release(out); err != nil {
		return err
	}
	return out.copy(l.Offset, l.Offset+l.Size, c.splices(l)...)
}

// entrypoint is what a fork says made it: the agent's list hides what was made by sdk-cli. "": nothing else.
func entrypoint(old string) string {
	if old == "sdk-cli" {
		return `"cli"`
	}
	return ""
}

// splices is what a fork changes in a line.
func (c *claudeFork) splices(l *line) []splice {
	splices := make([]splice, 0, len(l.marks))
	forked := false
	for _, m := range l.marks {
		with := ""
		switch m.role {
		case roleUUID, roleReference:
			with = c.fresh(m.old)
		case roleParent:
			if with = c.fresh(c.ancestor(m.old)); with == "" && m.old != "" {
				with = "null"
			}
		case roleSession:
			if m.old != "" {
				with = quoted(c.f.ID)
			}
		case roleEntry:
			with = entrypoint(m.old)
		case roleDir:
			with = c.f.moved(m.old)
		case roleForked:
			forked = true
			with = c.from(l)
		case roleClose:
			if from := c.from(l); !forked && from != "" {
				with, m.end = `,"forkedFrom":`+from, m.start
			}
		}
		if with != "" {
			splices = append(splices, splice{m.start, m.end, with})
		}
	}
	return splices
}

// fresh is the new uuid in quotes, or "" if there is none.
func (c *claudeFork) fresh(old string) string {
	if old == "" || strings.Trim(old, "0-") == "" {
		return ""
	}
	for i := range c.known {
		if c.known[i][0] == old {
			return c.known[i][1]
		}
	}
	made := quoted(derivedID(c.f.ID, old))
	c.known[1], c.known[0] = c.known[0], [2]string{old, made}
	return made
}

// from is the value of forkedFrom, or "" if the line has none of its own.
func (c *claudeFork) from(l *line) string {
	if c.f.Clone || !inChain(l) {
		return ""
	}
	return `{"sessionId":` + quoted(c.f.From) + `,"messageUuid":` + quoted(l.ID) + `}`
}
