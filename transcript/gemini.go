package transcript

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"rewind/internal/jsonscan"
)

// Gemini writes JSON lines (0.61), and wrote one document (0.26). The lines up to a place add up to the conversation
// there. They are metadata and messages; a later message with the same id replaces the earlier one. The "messages" of a
// {"$set":…} replace all messages. {"$rewindTo":id} removes that message and all later ones.
//
// When a session is resumed, $set.messages comes twice: with the context alone, and then with everything. Between them
// it is empty.
var geminiLines = dialect{
	parser:  func() parser { return newGeminiParser() },
	forker:  func(f Fork) forker { return &geminiForker{fork: f} },
	place:   geminiPlace,
	session: geminiSession,
}

// geminiDocument is the same in one JSON document, of which the elements of "messages" are the records.
var geminiDocument = dialect{
	parser:  func() parser { return newGeminiParser() },
	forker:  func(f Fork) forker { return &geminiDocForker{fork: f} },
	place:   geminiPlace,
	session: geminiSession,
	read:    readGeminiDocument,
	cut:     cutGeminiDocument,
}

// Marks of Gemini's records.
const (
	geminiSession = iota + 1 // sessionId, of the metadata and of $set
	geminiTitle              // summary, of a document
	geminiProject            // projectHash
)

const (
	maxAgain    = 16 << 10 // prompts of one $set.messages that are told
	maxMessages = 1 << 18  // messages, and prompts, of which it is known where they are
)

// geminiDialect is the dialect of src: a document begins on lines of its own, JSON lines never do.
func geminiDialect(src Source) *dialect {
	switch {
	case strings.HasSuffix(src.Name, ".jsonl"):
		return &geminiLines
	case strings.HasSuffix(src.Name, ".json"):
		return &geminiDocument
	}
	head := make([]byte, 16)
	// what cannot be read fails when it is read in earnest
	n, _ := src.ReadAt(head[:min(int64(len(head)), max(src.Size, 0))], 0)
	text := strings.TrimPrefix(strings.TrimLeft(string(head[:n]), " \t\r\n"), "{")
	if strings.HasPrefix(text, "\n") || strings.HasPrefix(text, "\r\n") {
		return &geminiDocument
	}
	return &geminiLines
}

// geminiParser reads Gemini's lines, and the elements of its documents.
type geminiParser struct {
	seed    maphash.Seed
	turns   map[uint64]int  // of every message, by its id: how many prompts there are up to it
	prompts []string        // their ids
	open    map[string]bool // calls without a result
	last    geminiMessage   // the newest message
	told    map[uint64]bool // calls that a record has told, by their ids
	empty   bool            // the newest $set.messages has no prompt
	inner   *line           // for the messages of a $set

	replaced *geminiReplaced // by the line that is being read; nothing has become of it while the line may turn out to be broken
}

// geminiReplaced is what a $set.messages leaves.
type geminiReplaced struct {
	open    map[string]bool
	prompts []string
	known   []geminiKnown
	empty   bool
}

// geminiKnown is a message of it, by the hash of its id, and the number of its prompts up to it.
type geminiKnown struct {
	key     uint64
	prompts int
}

// take makes what a $set.messages says what there is.
func (p *geminiParser) take(set *geminiReplaced) {
	p.open, p.last, p.empty = set.open, geminiMessage{}, set.empty
	n := 0
	for _, k := range set.known {
		for ; n < k.prompts; n++ {
			p.prompt(set.prompts[n])
		}
		p.knowKey(k.key)
	}
	for ; n < len(set.prompts); n++ {
		p.prompt(set.prompts[n])
	}
}

// geminiMessage is what the keys of a message say.
type geminiMessage struct {
	id, kind, text string
	calls          []geminiCall
	responses      []string // ids of calls that it answers
	shown          bool     // the text is what the person typed, not what became of it
}

type geminiCall struct {
	Call
	done bool
}

func newGeminiParser() *geminiParser {
	return &geminiParser{
		seed: maphash.MakeSeed(), turns: map[uint64]int{}, open: map[string]bool{}, told: map[uint64]bool{}, inner: newLine(maxText, false),
	}
}

// geminiKeys says which keys a line has: they decide what it is.
type geminiKeys struct {
	rewindTo          string
	set, meta, rewind bool
	kind              string // "main", "subagent"
}

func (p *geminiParser) parse(s *jsonscan.Scanner, l *line) error {
	var k geminiKeys
	var m geminiMessage
	p.replaced = nil
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "$rewindTo":
			k.rewind = s.Next() == '"'
			return l.id(s, &k.rewindTo, 0)
		case "$set":
			k.set = s.Next() == '{'
			return p.set(s, l)
		case "sessionId", "summary", "startTime":
			k.meta = true
			return p.meta(s, l, string(key))
		case "projectHash":
			return p.meta(s, l, string(key))
		case "kind":
			return l.str(s, &k.kind, maxWord)
		}
		return p.message(s, l, &m, key)
	})
	if err != nil {
		return err
	}
	if p.replaced != nil {
		p.take(p.replaced)
	}
	switch {
	case k.rewind:
		p.rewind(l, k.rewindTo)
	case m.id != "":
		p.decide(l, &m)
	case k.set: // p.set has said it all
	case k.meta:
		l.Type, l.Lead, l.Side = "metadata", true, k.kind == "subagent"
	}
	l.Open = p.empty
	return nil
}

// meta reads a member of the metadata.
func (p *geminiParser) meta(s *jsonscan.Scanner, l *line, key string) error {
	switch key {
	case "sessionId":
		return l.id(s, &l.Session, geminiSession)
	case "projectHash":
		return l.id(s, nil, geminiProject)
	case "summary":
		l.TitleRank = 1
		if err := l.str(s, &l.Title, maxTitle); err != nil {
			return err
		}
		l.Title = oneLine(l.Title, maxTitle)
		return nil
	}
	return l.time(s, &l.Time)
}

// rewind says which turns are gone: a message that is no prompt leaves the turn that it is in, one that is not known
// takes all away.
func (p *geminiParser) rewind(l *line, id string) {
	l.Type, l.Kind, l.Lead = "$rewindTo", Rewound, true
	n, ok := p.turns[p.hash(id)]
	switch {
	case !ok || n == 0:
		l.UndoTo = everyTurn
	case p.prompts[n-1] == id:
		l.UndoTo = id
	case n < len(p.prompts):
		l.UndoTo = p.prompts[n]
	}
	for _, call := range slices.Sorted(maps.Keys(p.open)) { // none of those that are gone will be answered
		l.result(call)
	}
	clear(p.open)
	p.last = geminiMessage{}
}

// decide says in l what a message is.
func (p *geminiParser) decide(l *line, m *geminiMessage) {
	l.Type, l.ID = m.kind, m.id
	again := m.id == p.last.id && m.kind == p.last.kind
	switch m.kind {
	case "user":
		p.user(l, m)
	case "gemini":
		l.Kind, l.Message = Reply, m.id
		p.calls(l, m)
		if again && m.text == p.last.text {
			l.says.Reset()
			if len(l.Calls)+len(l.Results) == 0 {
				l.Kind, l.Message = Other, ""
			}
		}
	}
	p.last = geminiMessage{id: m.id, kind: m.kind, text: m.text}
	p.know(m.id)
}

func (p *geminiParser) user(l *line, m *geminiMessage) {
	switch {
	case len(m.responses) > 0:
		l.Kind = Result
		l.says.Reset()
		p.answers(l, m)
	case geminiInjected(m.text):
		l.Kind, l.Hidden, l.Lead = Context, true, true
	case p.isPrompt(m.id): // said again, as the client does when a part of it has changed
	default:
		l.Kind = Prompt
		if p.empty { // what was there before is not there any more
			l.UndoTo, p.empty = everyTurn, false
		}
		p.prompt(m.id)
		clear(p.open)
	}
}

func (p *geminiParser) calls(l *line, m *geminiMessage) {
	for _, call := range m.calls {
		if key := p.hash(call.ID); !p.told[key] {
			l.call(call.Call)
			if len(p.told) < maxMessages {
				p.told[key] = true
			}
		}
		if call.done {
			delete(p.open, call.ID)
			l.result(call.ID)
		} else if len(p.open) < maxOpen {
			p.open[call.ID] = true
		}
	}
}

func (p *geminiParser) answers(l *line, m *geminiMessage) {
	for _, id := range m.responses {
		delete(p.open, id)
		l.result(id)
	}
}

func (p *geminiParser) prompt(id string) {
	if len(p.prompts) < maxMessages && !p.isPrompt(id) {
		p.prompts = append(p.prompts, id)
	}
}

func (p *geminiParser) isPrompt(id string) bool {
	n := p.turns[p.hash(id)]
	return n > 0 && p.prompts[n-1] == id
}

// know notes which turn a message is in.
func (p *geminiParser) know(id string) { p.knowKey(p.hash(id)) }

func (p *geminiParser) knowKey(key uint64) {
	if _, ok := p.turns[key]; !ok && len(p.turns) < maxMessages {
		p.turns[key] = len(p.prompts)
	}
}

func (p *geminiParser) hash(id string) uint64 { return maphash.String(p.seed, id) }

// geminiInjected says whether the client has made a message of the user's.
func geminiInjected(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return strings.HasPrefix(text, "<session_context>") || strings.HasPrefix(text, "<hook_context>") || geminiSummary(text)
}

// geminiSummary says whether text is what a conversation was compressed to.
func geminiSummary(text string) bool { return strings.Contains(text, "<state_snapshot>") }
