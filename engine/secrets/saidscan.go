package secrets

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/leaks"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
	"rewind/transcript/passage"
)

// saidPath is what the rules are told of where a conversation's text is from; some are about files of settings, and
// conversations show these.
const saidPath = "conversation"

// saidScan is a look at what conversations have got since the last.
type saidScan struct {
	*leakScan
	looks map[string]*saidLook // by session, as they will be
	// told has hashes of the findings of this scan: session, turn, rule, part and secret. With them a repeated secret
	// is no new finding. A hash without the part leads to the record that the agent wrote beside the conversation, if
	// the finding is one.
	told map[uint64]int
}

// runSaid looks at the conversations of all operations since the last look, as far as they have gone on.
func (l *leakScan) runSaid(ctx context.Context) error {
	s := &saidScan{leakScan: l, looks: map[string]*saidLook{}, told: map[uint64]int{}}
	l.said = s
	for {
		from := l.saidDone
		ops, last, err := l.next(from, func(op *refs.Operation) bool { return op.Session != "" })
		if err != nil || last == from {
			return err
		}
		for _, op := range ops {
			if err := s.operation(ctx, op); err != nil {
				return err
			}
			l.saidDone = op.Seq
		}
		l.saidDone = last
		l.saidMoved = l.saidMoved || last-from >= OpsAtOnce
	}
}

// operation looks at what a conversation got with an operation.
func (s *saidScan) operation(ctx context.Context, op *refs.Operation) error {
	said := op.Transcript
	if op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety {
		cp, err := s.e.log.Checkpoint(op.Checkpoint)
		if model.IsUnreadable(err) {
			return nil
		}
		if err != nil {
			return err
		}
		said = cp.Conversation.Transcript
	}
	if said.IsZero() {
		return nil
	}
	look, err := s.look(op.Session)
	if err != nil {
		return err
	}
	st, err := conversation.OpenEnd(s.e.log.Objs, said)
	if model.IsUnreadable(err) {
		return nil
	}
	if err != nil || look.Transcript == said && look.At >= st.Size {
		return err
	}
	return s.conversation(ctx, op, look, said, st)
}

// look is how far a session was looked at.
func (s *saidScan) look(session string) (*saidLook, error) {
	if l := s.looks[session]; l != nil {
		return l, nil
	}
	l, err := s.e.storedLook(session)
	if err == nil {
		s.looks[session] = l
	}
	return l, err
}

// conversation looks at the records of a conversation that were not looked at.
func (s *saidScan) conversation(
	ctx context.Context, op *refs.Operation, look *saidLook, said objstore.ID, st *conversation.Stored,
) error {
	agent, _ := model.SplitSession(op.Session)
	if !model.Understood(agent) {
		return nil
	}
	src := transcript.Source{ReaderAt: gapped{st}, Size: st.Size, Ended: true}
	document := transcript.IsDocument(agent, src)
	clean := func(_, _ int64) bool { return false }
	goesOn, err := s.goesOn(look, said, st)
	if err == nil && (!goesOn || document) {
		clean, err = s.anew(look, st)
	}
	if err != nil {
		return err
	}
	look.Transcript = said
	r := &saidRecord{s: s, ctx: ctx, op: op, look: look, st: st, before: look.Records}
	ps := passage.Reader{
		Wants:   func(rec *transcript.Record) bool { return !clean(rec.Offset, rec.Offset+rec.Size) },
		Passage: r.passage,
		Done: func(rec *transcript.Record) error {
			if !document { // of a document nothing can be gone on with
				look.At, look.Records = rec.Offset+rec.Size, r.before+rec.Line
			}
			s.changedSaid[look.Session] = look
			return s.pause(ctx)
		},
	}
	err = ps.Read(agent, src, look.At)
	if err != nil && (ctx.Err() != nil || !s.unreadable(err)) {
		return err
	}
	look.At = st.Size
	s.changedSaid[look.Session] = look
	return nil
}

// unreadable reports whether a conversation could not be read for what it is: damaged, or no conversation.
func (s *saidScan) unreadable(err error) bool {
	var wrong *transcript.Error
	return model.IsUnreadable(err) || errors.As(err, &wrong) && !model.MayPass(err)
}

// goesOn reports whether a conversation begins with all of the one that was looked at last.
func (s *saidScan) goesOn(look *saidLook, said objstore.ID, st *conversation.Stored) (bool, error) {
	if look.Transcript == said {
		return true, nil
	}
	old, err := conversation.OpenEnd(s.e.log.Objs, look.Transcript)
	var goesOn bool
	if err == nil {
		goesOn, err = st.GoesOn(old)
	}
	if model.IsUnreadable(err) {
		return false, nil
	}
	return goesOn, err
}

// anew begins a conversation from its beginning, and gives which parts of it were looked at before: where the blocks
// are the same.
func (s *saidScan) anew(look *saidLook, st *conversation.Stored) (clean func(from, to int64) bool, err error) {
	same, err := s.same(look, st)
	if err != nil {
		return nil, err
	}
	clean = func(from, to int64) bool {
		for k := from / conversation.TranscriptBlock; k*conversation.TranscriptBlock < to; k++ {
			if !same[int(k)] {
				return false
			}
		}
		return true
	}
	for i := range look.Flags {
		if f := &look.Flags[i]; f.Life == look.Life && clean(f.From, f.To) {
			f.Life++
		}
	}
	look.Life, look.At, look.Records = look.Life+1, 0, 0
	return clean, nil
}

// same are the blocks of a conversation that were looked at before, in the one that was looked at last.
func (s *saidScan) same(look *saidLook, st *conversation.Stored) (map[int]bool, error) {
	same := map[int]bool{}
	old, err := conversation.OpenEnd(s.e.log.Objs, look.Transcript)
	switch {
	case err != nil && !model.IsUnreadable(err):
		return nil, err
	case err != nil || old.Size <= 0:
		return same, nil
	}
	const block = conversation.TranscriptBlock
	for k := range int((min(st.Size, old.Size, look.At) + block - 1) / block) {
		a, aerr := st.Block(k)
		b, berr := old.Block(k)
		err := errors.Join(aerr, berr)
		if err != nil && !model.IsUnreadable(err) {
			return nil, err
		}
		whole := int64(k+1)*block <= look.At || look.At == old.Size
		same[k] = whole && err == nil && a == b
	}
	return same, nil
}

// saidRecord is a record that is looked at.
type saidRecord struct {
	s      *saidScan
	ctx    context.Context
	op     *refs.Operation
	look   *saidLook
	st     *conversation.Stored
	before int // records that were looked at before
	turns  []transcript.Turn
	read   bool // turns are
}

// passage asks the rules about a passage.
func (r *saidRecord) passage(rec *transcript.Record, p *passage.Passage) error {
	scanner, err := r.s.e.Scan.scanner()
	if err != nil {
		return err
	}
	list, err := scanner.Matches(r.ctx, saidPath, p.Text)
	if err != nil {
		return err
	}
	for _, m := range list {
		from, to := p.Range(m.Line)
		r.found(m, saidFlag{
			Rule: m.Rule, Part: string(p.Part), Record: r.before + rec.Line, Offset: rec.Offset, From: from, To: to,
			Turn: r.turn(rec.Offset), Operation: r.op.Seq, Life: r.look.Life, In: r.look.Transcript,
		})
	}
	return nil
}

// turn is the turn of the operation; a conversation that was taken in at once, all its turns by one operation, is asked
// itself.
func (r *saidRecord) turn(at int64) uint64 {
	if r.op.Kind != refs.KindImport {
		return r.op.Turn
	}
	if !r.read {
		r.read = true
		agent, _ := model.SplitSession(r.op.Session)
		c, err := transcript.Scan(agent, transcript.Source{ReaderAt: gapped{r.st}, Size: r.st.Size, Ended: true})
		if err == nil {
			r.turns = c.Turns
		}
	}
	turn := 0
	for _, t := range r.turns {
		if t.Start <= at {
			turn = t.Index
		}
	}
	return uint64(turn)
}

// found flags a place. One record is flagged once by a rule and part. What a turn says again in the same part is no
// news, nor is what the agent
// writes down beside it: of that only what stands nowhere else is told.
func (r *saidRecord) found(m leaks.Match, f saidFlag) {
	echo := func(part string) uint64 {
		h := fnv.New64a()
		for _, text := range []string{r.look.Session, strconv.FormatUint(f.Turn, 10), f.Rule, part, m.Secret} {
			_, _ = h.Write([]byte(text + "\x00"))
		}
		return h.Sum64()
	}
	const beside = string(passage.Other)
	any, own := echo(""), echo(f.Part)
	if _, told := r.s.told[own]; told {
		return
	}
	if record, told := r.s.told[any]; told && f.Part == beside {
		return
	} else if told && record > 0 {
		r.look.Flags = slices.DeleteFunc(r.look.Flags, func(was saidFlag) bool {
			return was.Part == beside && was.Rule == f.Rule && was.Record == record
		})
	}
	if len(r.s.told) >= maxLooked {
		clear(r.s.told)
	}
	r.s.told[any], r.s.told[own] = 0, 0
	if f.Part == beside {
		r.s.told[any] = f.Record
	}
	r.keep(f)
}

// keep puts a flag to the others.
func (r *saidRecord) keep(f saidFlag) {
	look := r.look
	i := slices.IndexFunc(look.Flags, func(was saidFlag) bool {
		return was.Rule == f.Rule && was.Part == f.Part && was.Record == f.Record
	})
	switch {
	case i >= 0:
		f.Turn, f.Operation = look.Flags[i].Turn, look.Flags[i].Operation
		look.Flags[i] = f
	case len(look.Flags) >= maxSaid:
		look.More++
	default:
		look.Flags = append(look.Flags, f)
	}
}

// gapped reads a conversation of which blocks were purged: there is white space in their place, and the end of a line.
type gapped struct{ st *conversation.Stored }

// ReadAt implements io.ReaderAt.
func (g gapped) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		room := min(int64(len(p)-n), conversation.TranscriptBlock-off%conversation.TranscriptBlock)
		m, err := g.st.ReadAt(p[n:n+int(room)], off)
		if errors.Is(err, objstore.ErrPurged) {
			m, err = int(min(room, g.st.Size-off)), nil
			for i := range p[n : n+m] {
				p[n+i] = ' '
			}
			if (off+int64(m))%conversation.TranscriptBlock == 0 {
				p[n+m-1] = '\n'
			}
		}
		n, off = n+m, off+int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
