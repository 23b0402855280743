package history

import (
	"slices"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/transcript"
)

// numbers tell which turn of a conversation has which number in the log. They are the same, but for prompts that never
// came into the conversation: another hook refused one, or the agent was killed before it wrote it. Such a turn has a
// number, under which its code is found, and those behind it have a higher one than their place in the conversation.
// The zero value is of a conversation without such turns.
type numbers struct {
	silent []uint64 // the numbers of turns that the conversation does not have, in order; first those of its summary
}

// of is the number of the turn at a place of the conversation, from 1; 0: of none.
func (n numbers) of(place int) uint64 {
	number := uint64(max(place, 0))
	for _, s := range n.silent {
		if number == 0 || s > number {
			break
		}
		number++
	}
	return number
}

// place is where the conversation has the turn with a number, or will have it. Of a turn that it does not have: where
// the one before it is, and said is false.
func (n numbers) place(number uint64) (place int, said bool) {
	i, silent := slices.BinarySearch(n.silent, number)
	if silent {
		i++
	}
	return int(number) - i, !silent
}

// numbersNow are the numbers of a session's conversation as it is.
func (h *turnReader) numbersNow(s *model.Session, turns []transcript.Turn) (numbers, error) {
	if n := below(s); s == nil || s.Turn <= n.of(len(turns)) {
		return n, nil
	}
	l, err := h.readTurns(turnAt{session: s.Name})
	if err != nil {
		return numbers{}, err
	}
	return l.numbers(turns, s.Turn)
}

// numbers finds which turns up to last a conversation does not have. Where that does not tell all by which the log has
// more turns, as when the file was cut by nobody's wish, places are numbers.
func (l *turnLog) numbers(turns []transcript.Turn, last uint64) (numbers, error) {
	first := below(l.record)
	left := len(turns) // whose numbers are not found yet
	var silent []uint64
	for n := last; n > uint64(len(first.silent)+left); n-- { // in front of that each has its own
		is, writing, err := l.isSilent(n, turns[:left])
		switch {
		case err != nil:
			return numbers{}, err
		case is && writing && n == last: // the agent may write its prompt yet
		case is:
			silent = append(silent, n)
		case left == 0:
			return first, nil
		default:
			left--
		}
	}
	slices.Reverse(silent)
	return numbers{append(first.silent, silent...)}, nil
}

// below are the numbers of a conversation that begins with a summary of turns, which have the first ones.
func below(s *model.Session) numbers {
	silent := make([]uint64, s.InSummary())
	for i := range silent {
		silent[i] = uint64(i + 1)
	}
	return numbers{silent}
}

// isSilent reports whether a conversation lacks turn n: at the end of turn n it ended with the same turn as at the end
// of the turn before. turns are those of the conversation that may be turn n or an earlier one. Where none was captured
// at one of the two, words tell. writing: the turn is not over.
func (l *turnLog) isSilent(n uint64, turns []transcript.Turn) (is, writing bool, err error) {
	f, err := l.factsOf(n)
	if err != nil || !f.toldToItsEnd() {
		return false, false, err
	}
	now, known, err := l.turnsAtEnd(f)
	if err != nil {
		return false, false, err
	}
	before := &turnFacts{At: &turnMoment{}}
	if n > 1 {
		before, err = l.factsOf(n - 1)
		if ended := before != nil && before.At != nil; !ended || err != nil {
			return false, false, err
		}
	}
	was, knew, err := l.turnsAtEnd(before)
	if err != nil {
		return false, false, err
	}
	if knew = knew || n == 1; known && knew {
		return endAlike(now, was), !f.Over, nil
	}
	return len(turns) == 0 || !f.begins(&turns[len(turns)-1]), !f.Over, nil
}

// endAlike reports whether two versions of a conversation end with the same turn.
func endAlike(a, b []transcript.Turn) bool {
	last := len(a) - 1
	if last < 0 || len(a) != len(b) {
		return len(a) == len(b)
	}
	return a[last].User == b[last].User && a[last].Start == b[last].Start
}

// toldToItsEnd reports whether the log has the prompt of a turn, and where it ends up to now.
func (f *turnFacts) toldToItsEnd() bool { return f != nil && f.At != nil && f.Prompt != "" }

// turnsAtEnd are the turns that the conversation had at the end of a turn that has one.
func (l *turnLog) turnsAtEnd(f *turnFacts) (turns []transcript.Turn, known bool, err error) {
	if l.record == nil {
		return nil, false, nil
	}
	said, err := l.transcriptAt(f)
	if err != nil || said.IsZero() {
		return nil, false, err
	}
	turns, err = l.e.turnsTo(l.record, said)
	return turns, err == nil, err
}

// numbered are the turns of a conversation under their numbers, with those that it does not have, as their hooks told.
// Those of its summary are another session's.
func (l *turnLog) numbered(turns []transcript.Turn, num numbers) ([]model.TurnInfo, error) {
	first := l.record.InSummary()
	out := make([]model.TurnInfo, len(turns)+len(num.silent)-first)
	for i := range out {
		out[i].Number = uint64(first + i + 1)
		place, said := num.place(out[i].Number)
		if said {
			out[i].Turn = turns[place-1]
			continue
		}
		f, err := l.factsOf(out[i].Number)
		if err != nil {
			return nil, err
		}
		out[i].Turn = f.told()
	}
	return out, nil
}

// told is a turn as its hook told it.
func (f *turnFacts) told() transcript.Turn {
	return transcript.Turn{Summary: model.OneLine(f.Prompt), Time: f.Began}
}

// Number is the number, in lists and names, of the turn at a place of a session's conversation as it is; the place
// where that cannot be read. The records are loaded.
func (h *turnReader) Number(s *model.Session, place int) uint64 { return h.Numbers(s)(place) }

// Numbers is Number for many places of a session.
func (h *turnReader) Numbers(s *model.Session) func(place int) uint64 {
	if s == nil || !hasTalk(s) {
		return numbers{}.of
	}
	turns, err := h.turnsTo(s, s.Cursor.Transcript)
	if err != nil {
		return numbers{}.of
	}
	n, err := h.numbersNow(s, turns)
	if err != nil {
		return numbers{}.of
	}
	return n.of
}

// saidTurns are the turns of a session's conversation as it is, and the place where it has turn n, from 1; 0: it has no
// such turn, or cannot be read.
func (h *turnReader) saidTurns(s *model.Session, n uint64) (turns []transcript.Turn, place int) {
	if s == nil || n == 0 {
		return nil, 0
	}
	turns, num, err := h.numbered(s)
	if place, said := num.place(n); err == nil && said && place <= len(turns) {
		return turns, place
	}
	return nil, 0
}

// Untold is how turn n of a session begins, as its conversation has it, where no hook told: of a turn that began in
// another project. "": it is not known.
func (h *turnReader) Untold(s *model.Session, n uint64) string {
	if s == nil || s.Imported {
		return ""
	}
	turns, place := h.saidTurns(s, n)
	if place == 0 {
		return ""
	}
	return turns[place-1].Summary
}

// numberMessages gives messages of a conversation the numbers of their turns for places.
func (h *turnReader) numberMessages(s *model.Session, said objstore.ID, list []transcript.Message) error {
	turns, err := h.turnsTo(s, s.Cursor.Transcript)
	if err != nil {
		return err
	}
	n, err := h.numbersNow(s, turns)
	if err != nil || len(n.silent) == 0 {
		return err
	}
	on, err := h.GoesOn(s.Cursor.Transcript, said)
	if err != nil || !on {
		return err // it was cut since
	}
	for i := range list {
		list[i].Turn = int(n.of(list[i].Turn))
	}
	return nil
}

// lastSaid is the number of the last turn that a session's conversation has, be it in a summary; 0: it has none.
func (h *turnReader) lastSaid(s *model.Session) (uint64, error) {
	if s == nil || !hasTalk(s) {
		return 0, nil
	}
	turns, err := h.turnsTo(s, s.Cursor.Transcript)
	if err != nil {
		return 0, err
	}
	n, err := h.numbersNow(s, turns)
	return max(n.of(len(turns)), uint64(s.InSummary())), err
}

// NumberBefore is the number of the last turn of a conversation that a session's file had before an operation. The
// records are loaded.
func (h *turnReader) NumberBefore(s *model.Session, said objstore.ID, seq uint64) (int, error) {
	n, turns, err := h.numbersBefore(s, said, seq)
	return int(n.of(turns)), err
}

// numbersBefore are the numbers of a conversation that a session's file had before an operation, and how many turns
// it has.
func (h *turnReader) numbersBefore(s *model.Session, said objstore.ID, seq uint64) (n numbers, count int, err error) {
	turns, err := h.turnsTo(s, said)
	if err != nil {
		return n, 0, err
	}
	l, err := h.readTurns(turnAt{session: s.Name, forked: seq - 1})
	if err == nil {
		n, err = l.numbersThen(turns)
	}
	return n, len(turns), err
}

// numbersThen are the numbers of a conversation as it was where the log ends.
func (l *turnLog) numbersThen(turns []transcript.Turn) (numbers, error) {
	if len(l.rows) == 0 {
		return numbers{}, nil
	}
	return l.numbers(turns, l.rows[len(l.rows)-1].Number)
}
