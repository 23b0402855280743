// Package view makes the page's HTML of what the API answers. It is pure: no requests, no clock of its own, and all
// text goes through html/template.
//
//   - html: the templates
//   - src: script and style, ours alone; bundle makes dist of them, which is committed
package view

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

//go:embed html
var files embed.FS

// templates are parsed when a page is first asked for: most daemons never are.
var templates = sync.OnceValue(func() *template.Template {
	all := template.New("")
	all.Funcs(template.FuncMap{
		// main is the view itself, in what stands around it
		"main": func(p Page) (template.HTML, error) {
			var b strings.Builder
			err := all.ExecuteTemplate(&b, p.name, p)
			return template.HTML(b.String()), err
		},
		"count": count, "size": term.Size, "clean": clean, "short": short, "turn": naming.TurnWords,
		"asset": asset, "dict": dict, "sentence": sentence,
		"int": func(n uint64) int { return int(n) }, "plus": func(n, to int) int { return to + n },
		"long":  long,
		"minus": func(n, from int) int { return from - n },
	})
	entries, _ := fs.ReadDir(files, "html")
	for _, e := range entries {
		b, _ := fs.ReadFile(files, "html/"+e.Name())
		template.Must(all.New(e.Name()).Parse(indent.ReplaceAllString(string(b), "\n")))
	}
	return all
})

// indent is the indentation of a template's lines. It is in no answer: an answer may be 200,000 bytes.
var indent = regexp.MustCompile(`\n[ \t]+`)

// Page is a document, or a part of one.
type Page struct {
	Frame
	Title  string
	Status int // 0: 200
	Data   any
	name   string // of the template
}

// Frame is what stands around every view.
type Frame struct {
	Base string // the beginning of every path of the page
	Zone *time.Location
	Now  time.Time

	Project string // its id; "": none is looked at
	Name    string // of its directory
	Root    string
	At      string // the view that is looked at: timeline, tree, ops, ...
	Query   string // what is searched for
	Since   uint64 // the newest operation of the project that a document tells of
}

// Path is an address in the project.
func (f Frame) Path(parts ...string) string {
	return f.Base + "/p/" + f.Project + strings.Join(append([]string{""}, parts...), "/")
}

// Point is the address of a moment by its name: a checkpoint, or a turn as a whole.
func (f Frame) Point(name string) string {
	if turn, session, ok := strings.Cut(strings.TrimPrefix(name, "turn:"), "@"); ok {
		return f.Path("s", session, "t", turn)
	}
	return f.Path("c", name)
}

// Begin writes how a document begins, whatever is in it: what a browser needs first, so that it fetches that while the
// rest is made.
func (f Frame) Begin(w io.Writer) error { return templates().ExecuteTemplate(w, "begin", f) }

// Waiting writes what stands around every view, for a document that takes long to make; behind it comes WriteBehind.
func (f Frame) Waiting(w io.Writer) error { return Page{Frame: f, name: "begin"}.render(w, "waiting") }

// WriteBehind renders the document behind what Waiting wrote.
func (p Page) WriteBehind(w io.Writer) error { return p.render(w, "behind") }

// Write renders the document behind its beginning, or one of its parts (part-...), for a document that is there
// already.
func (p Page) Write(w io.Writer, part string) error {
	if part = "part-" + part; templates().Lookup(part) != nil {
		return p.render(w, part)
	}
	return p.render(w, "layout")
}

func (p Page) render(w io.Writer, name string) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, p); err != nil {
		return err
	}
	_, err := io.WriteString(w, visible(b.String()))
	return err
}

// visible is a document in whose text nothing is hidden and nothing moves: control characters, and marks that turn the
// direction of what follows, are told as on a terminal. Templates escape '<' and '>' wherever they put text, so that
// these are the ends of tags.
func visible(doc string) string {
	var b strings.Builder
	for doc != "" {
		text, rest, more := strings.Cut(doc, "<")
		b.WriteString(term.SanitizeText(text))
		if !more {
			break
		}
		tag, after, _ := strings.Cut(rest, ">")
		b.WriteString("<" + tag + ">")
		doc = after
	}
	return b.String()
}

// Entrance is the document at the page's address: its script gives the token in, which no server sees in the address.
func Entrance(base string) Page {
	return Page{Frame: Frame{Base: base}, Title: "rewind", name: "entrance"}
}

// Refused says why nothing is shown.
func Refused(base string, status int, why string) Page {
	title := http.StatusText(status)
	if status == http.StatusUnauthorized {
		title = "Not let in"
	}
	return Page{Frame: Frame{Base: base}, Title: title, Status: status, Data: why, name: "refused"}
}

// candidates is how many names are told that one could stand for.
const candidates = 20

// Failed is an error of the API, with its remedy.
func Failed(f Frame, status int, e *api.Error) Page {
	f.At = "" // nothing of the view is there
	short := *e
	short.Message, short.Hint = prose(e.Message), prose(e.Hint)
	short.Candidates = briefs(e.Candidates, candidates, briefWeight)
	return Page{Frame: f, Title: "Not possible", Status: status, Data: &short, name: "failed"}
}

// clean is text for an attribute that is shown, as visible makes it elsewhere.
func clean(v any) string {
	switch t := v.(type) {
	case api.Text:
		return string(t)
	case string:
		return t
	}
	return fmt.Sprint(v)
}

// long reports whether a text may take so many lines or more, so that its box scrolls, also in a narrow window: who has
// no mouse gets there then.
func long(lines int, text string) bool {
	const narrow = 40 // characters of a line
	return len(text) > narrow*lines || strings.Count(text, "\n") >= lines-1
}

// sentence is what the API says of something, as a sentence of its own: with a capital, where it begins with a word.
func sentence(v any) string {
	text := clean(v)
	word, _, _ := strings.Cut(text, " ")
	if word == "" || word == "rewind" || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// short is a session's name as a person tells it from others.
func short(session string) string {
	agent, id, ok := strings.Cut(session, "/")
	if !ok {
		return session
	}
	return agent + " " + id[:min(8, len(id))]
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, y := strings.CutSuffix(one, "y"); y && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return term.Count(n) + " " + stem + "ies"
	}
	for _, es := range []string{"ch", "sh", "s", "x"} {
		if strings.HasSuffix(one, es) {
			return fmt.Sprintf("%s %ses", term.Count(n), one)
		}
	}
	return fmt.Sprintf("%s %ss", term.Count(n), one)
}

// moment is a time as a row tells it: the clock today, the day before it in the last week, else the date.
type moment struct {
	Text  string
	Title string // whole
	ISO   string
}

func (f Frame) moment(t time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	zone := f.Zone
	if zone == nil {
		zone = time.UTC
	}
	t, now := t.In(zone), f.Now.In(zone)
	layout := "2006-01-02"
	switch midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone); {
	case !t.Before(midnight):
		layout = "15:04"
	case !t.Before(midnight.AddDate(0, 0, -6)):
		layout = "Mon 15:04"
	case t.Year() == now.Year():
		layout = "2 Jan"
	}
	return moment{t.Format(layout), t.Format("Monday, 2 January 2006, 15:04:05"), t.Format(time.RFC3339)}
}

// dict gives a template several values.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}
