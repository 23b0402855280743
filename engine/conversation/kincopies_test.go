package conversation_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"rewind/transcript"
)

// copies are the ways in which sessions are made of others.
var copies = map[string]map[string]func(*talks, *talk) *talk{
	"codex-0.169.0": {"fork by reference": byReference, "segment": toSegment, "rolled back": rolledBack},
	"codex-0.125.0": {
		"fork, stamped anew": stampedAnew, "stamped anew, says nothing": stampedSilent, "backtrack": stampedCut,
		"rolled back": rolledBack,
	},
	"droid-0.225.2": {
		"--fork": droidFork, "/rewind-conversation": droidBack, "tool": droidTool,
		"went back in the file": droidWithin,
	},
	"gemini-0.61.0": {"copied under another id": geminiCopy, "$rewindTo": geminiBack, "resumed": geminiResumed},
}

func (f *talks) child(kind string, of *talk, turn int) *talk {
	t := f.talk(kind, of)
	t.parent, t.turn, t.told = of, turn, turn
	return t
}

// byReference names the bytes of the other thread's file.
func byReference(f *talks, of *talk) *talk {
	t := f.child("fork by reference", of, of.told)
	t.base, t.left = of.told, slices.Clone(of.left)
	f.hangs(t, f.fork, of, of, of.told)
	f.more(t, 1+f.rnd.IntN(2))
	return t
}

// hangs writes the line of a file of Codex that goes on behind a turn of another file, which is a thread's.
func (f *talks) hangs(t *talk, line string, of, in *talk, turn int) {
	bytes, ordinal := in.size(turn)
	t.ordinal = ordinal
	f.meta(t, line, of)
	t.list[0].text = strings.Replace(t.list[0].text, `"history_base":{"thread_id":"`+of.id,
		`"history_base":{"thread_id":"`+transcript.CodexBaseID(in.name), 1)
	t.list[0].text = itsMeta.ReplaceAllStringFunc(t.list[0].text, func(s string) string {
		key, _, _ := strings.Cut(s, ":")
		if strings.Contains(key, "byte") {
			return fmt.Sprintf("%s:%d", key, bytes)
		}
		return fmt.Sprintf("%s:%d", key, ordinal)
	})
}

// toSegment has a thread go back, and on in a segment: it stays the same session, and has left a way.
func toSegment(f *talks, of *talk) *talk {
	if of.told-of.base < 2 || of.before != nil {
		return nil
	}
	f.later(20_000)
	old := *of
	turn := of.base + 1 + f.rnd.IntN(of.told-of.base-1)
	for of.wasLeft(turn) {
		turn--
	}
	w := way{after: turn}
	for n := turn + 1; n <= of.told; n++ {
		if !of.wasLeft(n) {
			w.turns = append(w.turns, n)
		}
	}
	*of = talk{
		id: old.id, kind: old.kind, parent: old.parent, turn: old.turn, of: old.of, before: &old, base: old.told,
		told: old.told,
		name: f.fileOf(old.id, f.id()), left: append(slices.Clone(old.left), w),
	}
	slices.SortFunc(of.left, func(a, b way) int { return a.turns[0] - b.turns[0] })
	f.hangs(of, f.segment, of, &old, turn)
	f.different(of, w.turns[0], &old)
	return nil
}

// rolledBack has the client note that it went back some turns.
func rolledBack(f *talks, of *talk) *talk {
	if len(of.left) > 0 || of.told-of.base < 2 {
		return nil
	}
	n := 1 + f.rnd.IntN(of.told-of.base-1)
	of.list = append(of.list, record{f.numbered(of, fmt.Sprintf(
		`{"timestamp":%q,"ordinal":0,"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":%d}}`+"\n",
		f.later(5_000).Format(stamp), n)), of.told})
	if f.version == "0.125.0" {
		l := &of.list[len(of.list)-1].text
		*l = strings.Replace(*l, fmt.Sprintf(`"ordinal":%d,`, of.ordinal-1), "", 1)
	}
	w := way{after: of.told - n}
	for i := range n {
		w.turns = append(w.turns, of.told-n+i+1)
	}
	of.left = append(of.left, w)
	f.different(of, w.turns[0], of)
	return nil
}

// different has a conversation go on with another prompt than a turn has, which stands in a file.
func (f *talks) different(t *talk, from int, in *talk) {
	was := ""
	for _, r := range in.list {
		if r.turn == from {
			was += r.text
		}
	}
	for {
		lines := f.turns[f.rnd.IntN(len(f.turns))]
		if itsPrompt.FindString(strings.Join(lines, "")) != itsPrompt.FindString(was) {
			f.say(t, lines)
			return
		}
	}
}

var itsPrompt = regexp.MustCompile(`[A-Z]+-[A-Z0-9]+ please`)

// stampedAnew copies all records, with the time of the copy, and names the other thread.
func stampedAnew(f *talks, of *talk) *talk {
	return f.stamped("fork, stamped anew", of, of.told, f.fork)
}

// stampedSilent does so as clients do that name it only by its own first line.
func stampedSilent(f *talks, of *talk) *talk {
	return f.stamped("stamped anew, says nothing", of, of.told, f.first)
}

// stampedCut copies the records up to where the person went back to.
func stampedCut(f *talks, of *talk) *talk {
	if len(of.left) > 0 {
		return nil
	}
	return f.stamped("backtrack", of, 1+f.rnd.IntN(of.told), f.fork)
}

func (f *talks) stamped(kind string, of *talk, turn int, first string) *talk {
	t := f.child(kind, of, turn)
	f.meta(t, first, of)
	for _, r := range of.list {
		if r.turn <= turn {
			t.list = append(t.list, record{f.at(r.text, f.now.Sub(timeIn(r.text))), r.turn})
			if f.rnd.IntN(20) == 0 {
				f.now = f.now.Add(time.Millisecond)
			}
		}
	}
	t.left = slices.Clone(of.left)
	f.more(t, 1+f.rnd.IntN(2))
	return t
}

// droidFork is the whole of another session under another id, which names it.
func droidFork(f *talks, of *talk) *talk { return f.droid("--fork", of, of.told, f.fork) }

// droidBack is what /rewind-conversation makes.
func droidBack(f *talks, of *talk) *talk {
	if len(of.left) > 0 {
		return nil
	}
	return f.droid("/rewind-conversation", of, 1+f.rnd.IntN(of.told), f.cut)
}

func (f *talks) droid(kind string, of *talk, turn int, first string) *talk {
	t := f.child(kind, of, turn)
	f.meta(t, first, of)
	for _, r := range of.list[1:] {
		if r.turn <= turn {
			t.list = append(t.list, r)
			if m := itsID.FindStringSubmatch(r.text); m != nil {
				t.last = m[1]
			}
		}
	}
	t.list[0].text = itsAt.ReplaceAllString(t.list[0].text, `"forkedAtMessageId":"`+t.last+`"`)
	t.left = slices.Clone(of.left)
	f.more(t, f.rnd.IntN(3))
	return t
}

// droidTool is a copy by a program that gives all messages other ids and names nothing. The other one goes on first:
// else nobody could tell which is the copy.
func droidTool(f *talks, of *talk) *talk {
	if len(of.left) > 0 {
		return nil
	}
	turn := of.told
	first := of.same(turn)
	f.more(first, 1)
	t := f.child("tool", first, turn)
	t.of = of
	f.meta(t, f.first, nil)
	ids := map[string]string{}
	for _, r := range of.list[1:] {
		if r.turn > turn {
			continue
		}
		for _, m := range itsMessages.FindAllStringSubmatch(r.text, -1) {
			if ids[m[2]] == "" {
				ids[m[2]] = f.id()
			}
		}
		r.text = itsMessages.ReplaceAllStringFunc(r.text, func(s string) string {
			m := itsMessages.FindStringSubmatch(s)
			return m[1] + ids[m[2]]
		})
		t.list = append(t.list, r)
		if m := itsID.FindStringSubmatch(r.text); m != nil {
			t.last = m[1]
		}
	}
	f.more(t, 1+f.rnd.IntN(2))
	return t
}

var itsMessages = regexp.MustCompile(`("(?:id|parentId|turnId)":"(?:context-|todo-suggest-)?)([0-9a-f]{8}-[0-9a-f-]{27})`)

// same is the first session that has the same records as t up to a turn.
func (t *talk) same(turn int) *talk {
	for t.of != nil && turn <= t.turn {
		t = t.of
	}
	return t
}

// droidWithin goes back within the file: a message gets a second child.
func droidWithin(f *talks, of *talk) *talk {
	if len(of.left) > 0 || of.told < 2 {
		return nil
	}
	n := 1 + f.rnd.IntN(of.told-1)
	for _, r := range of.list {
		if m := itsID.FindStringSubmatch(r.text); m != nil && r.turn == of.told-n {
			of.last = m[1]
		}
	}
	w := way{after: of.told - n}
	for i := range n {
		w.turns = append(w.turns, of.told-n+i+1)
	}
	of.left = append(of.left, w)
	f.different(of, w.turns[0], of)
	return nil
}

// geminiCopy is what programs do who want a fork of a session: the client has none.
func geminiCopy(f *talks, of *talk) *talk {
	turn := 1 + f.rnd.IntN(of.told)
	if len(of.left) > 0 {
		turn = of.told
	}
	first := of.same(turn)
	if turn == first.told {
		f.more(first, 1)
	}
	t := f.child("copied under another id", first, turn)
	t.of = of
	for _, r := range of.list {
		if r.turn <= turn {
			t.list = append(t.list, record{strings.ReplaceAll(r.text, of.id, t.id), r.turn})
		}
	}
	t.left = slices.Clone(of.left)
	f.more(t, 1+f.rnd.IntN(2))
	return t
}

// geminiBack goes back within the file.
func geminiBack(f *talks, of *talk) *talk {
	if len(of.left) > 0 || of.told < 2 {
		return nil
	}
	n := 1 + f.rnd.IntN(of.told-1)
	to, w := "", way{after: of.told - n}
	for i := range n {
		w.turns = append(w.turns, of.told-n+i+1)
	}
	for _, r := range of.list {
		if r.turn == w.turns[0] {
			to = geminiID.FindStringSubmatch(r.text)[1]
			break
		}
	}
	of.list = append(of.list, record{`{"$rewindTo":"` + to + `"}` + "\n", of.told})
	of.list = append(of.list, record{f.geminiAll(of, w.after), of.told})
	of.left = append(of.left, w)
	f.different(of, w.turns[0], of)
	return nil
}

var geminiID = regexp.MustCompile(`^\{"id":"([^"]+)"`)

// geminiAll is the record that has all messages up to a turn.
func (f *talks) geminiAll(t *talk, upTo int) string {
	var ids []string
	is := map[string]string{}
	for _, r := range t.list {
		if m := geminiID.FindStringSubmatch(r.text); m != nil && r.turn <= upTo && !t.wasLeft(r.turn) {
			if is[m[1]] == "" {
				ids = append(ids, m[1])
			}
			is[m[1]] = strings.TrimSpace(r.text)
		}
	}
	var all []string
	for _, id := range ids {
		all = append(all, is[id])
	}
	return `{"$set":{"messages":[` + strings.Join(all, ",") + `],"lastUpdated":"` + f.now.Format(stamp) + `"}}` + "\n"
}

func (t *talk) wasLeft(turn int) bool {
	return slices.ContainsFunc(t.left, func(w way) bool { return slices.Contains(w.turns, turn) })
}

// geminiResumed is what the client writes when it opens a session again.
func geminiResumed(f *talks, of *talk) *talk {
	f.later(20_000)
	for _, l := range []string{strings.ReplaceAll(f.first, mine, of.id), f.head[0], f.geminiAll(of, of.told)} {
		of.list = append(of.list, record{f.at2(l), of.told})
	}
	f.more(of, 1)
	return nil
}

// at2 moves only the times of a line that the client writes itself.
func (f *talks) at2(l string) string {
	if strings.Count(l, `"id":`) > 1 {
		return l
	}
	return f.at(l, f.now.Sub(timeIn(l)))
}
