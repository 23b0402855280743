package transcript

import (
	"bytes"
	"strings"

	"rewind/internal/jsonscan"
)

// claudeBooks are the types of lines that are not in the chain, whatever they have for an id.
var claudeBooks = map[string]bool{
	"summary": true, "custom-title": true, "ai-title": true, "agent-name": true, "last-prompt": true, "tools-used": true,
	"atis-latch": true,
	"mode":       true, "permission-mode": true, "queue-operation": true, "file-history-snapshot": true, "file-history-delta": true,
	"api-request": true, "api-request-shape": true, "api-request-blob": true, "cost-state": true, "tag": true, "pr-link": true,
}

// claudeLeads are the types of lines that stand ahead of a prompt as well as elsewhere.
var claudeLeads = map[string]bool{
	"mode": true, "permission-mode": true, "atis-latch": true, "tools-used": true, "queue-operation": true,
	"file-history-snapshot": true, "api-request": true, "api-request-shape": true, "api-request-blob": true,
}

// finish says what a line is, once all of it is known.
func (p *claudeParser) finish(l *line) {
	l.Type = p.kind
	if p.sub != "" {
		l.Type += "/" + p.sub
	}
	l.Lead = claudeLeads[p.kind]
	switch p.kind {
	case "custom-title":
		l.Title, l.TitleRank = oneLine(p.custom, maxTitle), 2
	case "ai-title":
		l.Title, l.TitleRank = oneLine(p.auto, maxTitle), 1
	case "progress":
		l.Lead = p.event == "SessionStart" || p.event == "UserPromptSubmit"
	}
	if !inChain(l) {
		l.ID, l.Parent = "", ""
		l.Calls, l.Results = l.Calls[:0], l.Results[:0]
		l.says.Reset()
		return
	}
	switch p.kind {
	case "user":
		p.user(l)
	case "assistant":
		p.reply(l)
	case "system":
		if p.sub == "compact_boundary" {
			l.Kind, l.Open, p.boundary = Compact, true, true
		}
	case "attachment":
		l.Kind = Context
	}
	if l.Kind != Prompt && l.Kind != Reply && l.Kind != Result {
		l.Forked.Message = "" // it names a line, but no message
	}
}

// inChain says whether a line is one of those that parents name.
func inChain(l *line) bool {
	return l.ID != "" && !claudeBooks[l.Type]
}

func (p *claudeParser) user(l *line) {
	boundary := p.boundary
	p.boundary = false
	switch {
	case p.summary && !boundary: // clients that write no boundary have only this
		l.Kind = Compact
	case p.summary:
		l.Kind, l.Hidden = Context, true
	case len(l.Results) > 0:
		l.Kind = Result
	default:
		l.Kind = Prompt
		l.Hidden = !p.typed(l)
		if l.Hidden {
			l.Kind = Context
		} else {
			command(&l.says)
		}
	}
}

// typed says whether a person has typed what a user's line says.
func (p *claudeParser) typed(l *line) bool {
	system := p.meta || p.source == "system"
	if system || p.origin != "" && p.origin != "human" {
		return false
	}
	return p.blocks.typed(l)
}

// reply takes a line of a message of the model. A message that wants a tool is not whole before it has called one, nor
// is one that has only thought.
func (p *claudeParser) reply(l *line) {
	l.Kind, l.Message = Reply, p.messageID
	if l.Side {
		return
	}
	if p.messageID == "" || p.messageID != p.message {
		p.called, p.spoke = false, false
	}
	p.message = p.messageID
	p.called = p.called || len(l.Calls) > 0
	p.spoke = p.spoke || p.hasText
	l.Open = !p.called && (p.stop == "tool_use" || !p.spoke)
}

// command makes the text of a prompt that was given as a command, which Claude writes in tags, what the person typed:
// "/review 158". Any other text stays as it is.
func command(says *jsonscan.Text) {
	if !bytes.HasPrefix(bytes.TrimLeft(says.B, " \t\r\n"), []byte("<command-message>")) {
		return
	}
	name, ok := tagged(says.B, "command-name")
	if !ok || name == "" {
		return
	}
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	if args, ok := tagged(says.B, "command-args"); ok && args != "" {
		name += " " + args
	}
	says.B = append(says.B[:0], name...)
}

// tagged is what stands in a tag, up to the end of the text if that does not close it: it may have been cut.
func tagged(text []byte, tag string) (string, bool) {
	_, rest, ok := bytes.Cut(text, []byte("<"+tag+">"))
	if !ok {
		return "", false
	}
	inner, _, _ := bytes.Cut(rest, []byte("</"+tag+">"))
	return string(bytes.TrimSpace(inner)), true
}
