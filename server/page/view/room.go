package view

import (
	"cmp"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rewind/internal/term"
)

// No answer of the page is larger than this, whatever is in the project. What does not fit is asked for piece by piece.
const (
	maxBytes  = 200_000 // of an answer
	maxNodes  = 5_000   // elements of a document
	fileLines = 400     // of a file, in a first answer
	viewLines = 2_000   // of all files, in any answer

	// SkeletonAfter is how long an answer may take before what is to come is drawn in outline.
	SkeletonAfter = 100 * time.Millisecond
)

// Texts are cut where they get longer, in bytes of the document.
const (
	lineWeight  = 4_000 // a line of a file; the rest of it is asked for
	tagWeight   = 60
	titleWeight = 100   // of a document, in a tab
	briefWeight = 300   // a title, a prompt, a name in a list
	proseWeight = 5_000 // a prompt or an answer by itself
)

// Room is what an answer may still have.
type Room struct{ lines, nodes, bytes int }

// Rooms of the parts of views. A document is its frame (6,000 bytes, 130 elements) and at most one log, change and
// talk.
var (
	roomOfList    = Room{nodes: 4_200, bytes: 150_000}                  // the only list of a view
	roomOfChange  = Room{lines: viewLines, nodes: 2_700, bytes: 90_000} // what changed
	roomOfPreview = Room{lines: viewLines, nodes: 600, bytes: 40_000}
	roomOfLines   = Room{lines: viewLines, nodes: 4_200, bytes: 150_000} // lines of one file
	roomOfTalk    = Room{nodes: 700, bytes: 23_000}                      // beside a moment
	roomOfSaid    = Room{nodes: 4_200, bytes: 185_000}                   // a conversation by itself
)

// RoomOfList is that of the only list of a view.
func RoomOfList() Room { return roomOfList }

// Full reports whether there is no room for anything to speak of.
func (r *Room) Full() bool { return r.nodes < 100 || r.bytes < 8_000 }

// take takes so many elements and bytes, and reports whether there was room for them.
func (r *Room) take(nodes, bytes int) bool {
	if nodes > r.nodes || bytes > r.bytes {
		return false
	}
	r.nodes, r.bytes = r.nodes-nodes, r.bytes-bytes
	return true
}

// some is the beginning of a list for which there is room. A list that begins has at least one.
func some[T any](r *Room, list []T, costs func(*T) (nodes, bytes int)) []T {
	if have := fitting(r, list, costs); len(have) > 0 {
		return have
	}
	return list[:min(len(list), 1)]
}

// fitting is the beginning of a list for which there is room; of one of several lists that may be nothing.
func fitting[T any](r *Room, list []T, costs func(*T) (nodes, bytes int)) []T {
	for i := range list {
		if !r.take(costs(&list[i])) {
			return list[:i]
		}
	}
	return list
}

// behind is the list without its first so many.
func behind[T any](list []T, n int) []T { return list[min(max(n, 0), len(list)):] }

// weight is how many bytes a text has in a document at most, with what is escaped in it.
func weight(text string) (n int) {
	for len(text) > 0 {
		w, size := runeWeight(text)
		n, text = n+w, text[size:]
	}
	return n
}

func runeWeight(text string) (weight, size int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case strings.ContainsRune(`<>&"'+`, r):
		return 5, size
	case r == utf8.RuneError && size == 1:
		return 4, size
	case r == '\n' || r == '\t' || unicode.IsPrint(r):
		return size, size
	}
	return 10, size
}

// addressed is how many bytes a text has in an address at most.
func addressed(text string) int { return 3 * len(text) }

// cut is the beginning of a text that has so much weight at most, between two characters.
func cut(text string, most int) string {
	if len(text) <= most/10 {
		return text
	}
	for at := 0; at < len(text); {
		w, size := runeWeight(text[at:])
		if most -= w; most < 0 {
			return text[:at]
		}
		at += size
	}
	return text
}

// clip is a text, or its beginning with a mark that there is more.
func clip(text string, most int) string {
	if short := cut(text, most); len(short) < len(text) {
		return short + "…"
	}
	return text
}

func brief(text string) string { return clip(text, briefWeight) }

func prose(text string) string { return clip(text, proseWeight) }

// briefs are the first of some texts, each of a weight at most.
func briefs(list []string, most, each int) []string {
	out := make([]string, 0, min(len(list), most+1))
	for _, text := range list[:min(len(list), most)] {
		out = append(out, clip(text, each))
	}
	if more := len(list) - len(out); more > 0 {
		out = append(out, "and "+term.Count(more)+" more")
	}
	return out
}

// fair is the weight up to which each of some texts may be shown, so that all together have so much.
func fair(weights []int, all int) int {
	most := all / max(len(weights), 1)
	for range 12 {
		left := all
		larger := 0
		for _, w := range weights {
			left -= min(w, most)
			if w > most {
				larger++
			}
		}
		if larger == 0 || left < larger {
			break
		}
		most += left / larger
	}
	return most
}

// with is an address with other words in its query; "": there is no address.
func with(address string, pairs ...string) string {
	if address == "" {
		return ""
	}
	path, words, _ := strings.Cut(address, "?")
	q, _ := url.ParseQuery(words)
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return path + cmp.Or(map[bool]string{true: "?" + q.Encode()}[len(q) > 0], "")
}
