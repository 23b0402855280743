package transcript

import (
	"rewind/internal/jsonscan"
)

// claudeDialect: Claude Code, JSON lines. Lines with a uuid are a tree by parentUuid, the chain; those without keep
// books. One message of the model is a line for each of its blocks, with the same message.id.
var claudeDialect = dialect{
	parser: func() parser { return new(claudeParser) },
	within: func() parser { return new(claudeParser) },
	forker: func(f Fork) forker { return newClaudeFork(f) },
	place:  claudePlace, chain: true, strict: true, newestID: true, answers: true, session: roleSession,
}

// Roles of the places in a line that a fork rewrites.
const (
	roleUUID      = iota + 1 // uuid
	roleParent               // parentUuid
	roleReference            // the uuid of another line
	roleSession              // sessionId, session_id
	roleForked               // the value of forkedFrom
	roleEntry                // entrypoint
	roleClose                // the line's last bracket
	roleTime                 // timestamp
	roleDir                  // cwd
)

// claudeParser reads one line at a time.
type claudeParser struct {
	claudeLine
	message  string // the one that the newest reply is a part of
	called   bool   // that message has called a tool
	spoke    bool   // or has a text
	boundary bool   // the newest line of the chain is a compact_boundary
}

// claudeLine is what a line says, whatever the order.
type claudeLine struct {
	kind, sub                     string
	meta, summary                 bool
	origin, source, event         string
	messageID, stop, custom, auto string
	blocks
}

func (p *claudeParser) parse(s *jsonscan.Scanner, l *line) error {
	p.claudeLine = claudeLine{}
	if err := s.Object(func(key []byte) error { return p.member(s, l, key) }); err != nil {
		return err
	}
	if err := l.mark(s, roleClose, s.Offset()-1, ""); err != nil {
		return err
	}
	p.finish(l)
	return nil
}

// member reads a member of a record: what it is, and which others it names.
func (p *claudeParser) member(s *jsonscan.Scanner, l *line, key []byte) error {
	switch string(key) {
	case "type":
		return l.str(s, &p.kind, maxWord)
	case "subtype":
		return l.str(s, &p.sub, maxWord)
	case "uuid":
		return l.id(s, &l.ID, roleUUID)
	case "parentUuid":
		l.Root = s.Next() == 'n'
		return l.id(s, &l.Parent, roleParent)
	case "leafUuid":
		return l.id(s, &l.Summed, roleReference)
	case "logicalParentUuid", "sourceToolAssistantUUID", "messageId", "snapshotMessageId":
		return l.id(s, nil, roleReference)
	case "snapshot":
		return member(s, "messageId", func() error { return l.id(s, nil, roleReference) })
	case "compactMetadata", "microcompactMetadata", "snipMetadata":
		return references(s, l)
	case "sessionId":
		return l.id(s, &l.Session, roleSession)
	case "session_id":
		return l.id(s, nil, roleSession)
	case "forkedFrom":
		return p.forked(s, l)
	case "requestSessionId":
		return l.str(s, &l.Asked, maxWord)
	}
	return p.memberOf(s, l, key)
}

// memberOf reads a member of a record: when and where it was written, and what it holds.
func (p *claudeParser) memberOf(s *jsonscan.Scanner, l *line, key []byte) error {
	switch string(key) {
	case "entrypoint":
		return l.id(s, nil, roleEntry)
	case "timestamp":
		return p.timestamp(s, l)
	case "cwd":
		return l.path(s, &l.Cwd, roleDir)
	case "version":
		return l.str(s, &l.Version, maxWord)
	case "isSidechain":
		return l.flag(s, &l.Side)
	case "isMeta":
		return l.flag(s, &p.meta)
	case "isCompactSummary":
		return l.flag(s, &p.summary)
	case "promptSource":
		return l.str(s, &p.source, maxWord)
	case "origin":
		return member(s, "kind", func() error { return l.str(s, &p.origin, maxWord) })
	case "data":
		return member(s, "hookEvent", func() error { return l.str(s, &p.event, maxWord) })
	case "customTitle":
		return l.str(s, &p.custom, maxTitle)
	case "aiTitle":
		return l.str(s, &p.auto, maxTitle)
	case "message":
		return p.readMessage(s, l)
	case "attachment":
		return p.readAttachment(s, l)
	}
	return s.Skip()
}

func (p *claudeParser) timestamp(s *jsonscan.Scanner, l *line) error {
	s.Next()
	start := s.Offset()
	if err := l.time(s, &l.Time); err != nil {
		return err
	}
	return l.mark(s, roleTime, start, "")
}

// member reads one member of a value that should be an object.
func member(s *jsonscan.Scanner, name string, read func() error) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		if string(key) == name {
			return read()
		}
		return s.Skip()
	})
}

// references marks every string in a value that is a uuid, without recursion by depth: what is nested too deeply names
// no lines.
func references(s *jsonscan.Scanner, l *line) error {
	if !l.marking {
		return s.Skip()
	}
	return referencesIn(s, l, 8)
}

func referencesIn(s *jsonscan.Scanner, l *line, depth int) error {
	switch c := s.Next(); {
	case c == '"':
		start := s.Offset()
		text, cut, err := l.text(s, len(uuid([16]byte{}, 4)))
		if err != nil || cut || !ValidID(text) {
			return err
		}
		return l.mark(s, roleReference, start, text)
	case c == '{' && depth > 0:
		return s.Object(func([]byte) error { return referencesIn(s, l, depth-1) })
	case c == '[' && depth > 0:
		return s.Array(func(int) error { return referencesIn(s, l, depth-1) })
	}
	return s.Skip()
}

func (p *claudeParser) forked(s *jsonscan.Scanner, l *line) error {
	l.Forked = Parent{}
	s.Next()
	start := s.Offset()
	if s.Next() != '{' {
		return l.value(s, roleForked)
	}
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "sessionId":
			return l.id(s, &l.Forked.Session, 0)
		case "messageUuid":
			return l.id(s, &l.Forked.Message, 0)
		}
		return s.Skip()
	})
	if err != nil {
		return err
	}
	return l.mark(s, roleForked, start, "")
}

func (p *claudeParser) readMessage(s *jsonscan.Scanner, l *line) error {
	p.blocks.reset(l)
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		switch string(key) {
		case "id":
			return l.id(s, &p.messageID, 0)
		case "stop_reason":
			return l.str(s, &p.stop, maxWord)
		case "content":
			return p.blocks.read(s, l)
		}
		return s.Skip()
	})
}

func (p *claudeParser) readAttachment(s *jsonscan.Scanner, l *line) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		switch string(key) {
		case "type":
			return l.str(s, &p.sub, maxWord)
		case "prompt":
			return sayBlocks(s, l)
		}
		return s.Skip()
	})
}
