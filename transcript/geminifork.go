package transcript

import "strings"

// geminiForker makes a session of its own: sessionId is another one wherever metadata says it, and a line behind all
// says the title.
type geminiForker struct {
	fork Fork
	ids  int
}

func (f *geminiForker) record(l *line, out *output) error {
	if l.Kind == Broken {
		return nil
	}
	var list []splice
	for _, m := range l.marks {
		switch {
		case m.role == geminiSession && m.old != "":
			f.ids++
			list = append(list, splice{start: m.start, end: m.end, with: quoted(f.fork.ID)})
		case m.role == geminiProject && f.fork.movedHash(m.old):
			list = append(list, splice{start: m.start, end: m.end, with: quoted(geminiHash(f.fork.To))})
		}
	}
	return out.copy(l.Offset, l.Offset+l.Size, list...)
}

func (f *geminiForker) end(out *output) error {
	if f.ids == 0 {
		return &Error{Name: out.src.Name, Cause: errGeminiSession}
	}
	if f.fork.Title == "" {
		return nil
	}
	return out.write(`{"$set":{"summary":` + quoted(f.fork.Title) + `,"lastUpdated":` + quoted(stamp(f.fork.Time)) + "}}\n")
}

// movedHash says whether a hash is of the directory that the source was begun in, and the fork is another's.
func (f Fork) movedHash(hash string) bool { return f.To != "" && hash == geminiHash(f.Root) }

// geminiDocForker does so in a document, which it closes behind the last message.
type geminiDocForker struct {
	fork   Fork
	at     int64 // bytes of the source that are written, or left out
	any    bool  // a message is written
	left   bool  // one is left out in front of all of them
	titled bool
}

// head is what a fork changes in the head of a document, and how many ids it has there.
func (f *geminiDocForker) head(l *line) (list []splice, ids int) {
	for _, m := range l.marks {
		switch {
		case m.role == geminiSession && m.old != "":
			ids++
			list = append(list, splice{start: m.start, end: m.end, with: quoted(f.fork.ID)})
		case m.role == geminiProject && f.fork.movedHash(m.old):
			list = append(list, splice{start: m.start, end: m.end, with: quoted(geminiHash(f.fork.To))})
		case m.role == geminiTitle && f.fork.Title != "":
			f.titled = true
			list = append(list, splice{start: m.start, end: m.end, with: quoted(f.fork.Title)})
		}
	}
	return list, ids
}

func (f *geminiDocForker) record(l *line, out *output) error {
	if l.Type == geminiDoc && f.at > 0 {
		return nil // what stands behind the messages
	}
	var list []splice
	if l.Type == geminiDoc {
		ids := 0
		if list, ids = f.head(l); ids == 0 {
			return &Error{Name: out.src.Name, Cause: errGeminiSession}
		}
	}
	start, message := f.at, l.Type != geminiDoc
	f.at = l.Offset + l.Size
	switch {
	case l.Kind == Broken: // with what stands between it and the one before
		f.left = f.left || !f.any
		return nil
	case message && !f.any:
		f.any = true
		if f.left {
			start = l.Offset // the first one that is written has no comma in front
		}
	}
	return out.copy(start, f.at, list...)
}

func (f *geminiDocForker) end(out *output) error {
	if f.at == 0 {
		return &Error{Name: out.src.Name, Cause: errGeminiEnd}
	}
	var b strings.Builder
	b.WriteString("\n  ]")
	if f.fork.Title != "" && !f.titled {
		b.WriteString(",\n  \"summary\": " + quoted(f.fork.Title))
	}
	b.WriteString("\n}\n")
	return out.write(b.String())
}
