package secrets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/leaks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
	"rewind/transcript/passage"
)

// Said lists what was said and looks like a secret, the newest first, as far as the store has it.
func (k *Leaks) Said() ([]value.SaidLeak, error) {
	return k.saidWhere(func(string, *saidFlag) bool { return true })
}

// SaidIn is what Said lists of a turn.
func (k *Leaks) SaidIn(session string, turn uint64) ([]value.SaidLeak, error) {
	count := k.log.Count()
	return k.saidWhere(func(of string, f *saidFlag) bool {
		return of == session && turn > 0 && count(of, f.Turn, f.Operation) == turn
	})
}

// SaidBy is what Said lists of one session's operations, of those behind one and up to another.
func (k *Leaks) SaidBy(session string, behind, upTo uint64) ([]value.SaidLeak, error) {
	return k.saidWhere(func(of string, f *saidFlag) bool {
		return of == session && f.Operation > behind && f.Operation <= upTo
	})
}

func (k *Leaks) saidWhere(want func(session string, f *saidFlag) bool) (out []value.SaidLeak, err error) {
	if k.log.Config.SecretsMode() == project.SecretsOff {
		return nil, nil
	}
	looks, err := k.saidLooks()
	if err != nil {
		return nil, err
	}
	count := k.log.Count()
	for _, l := range looks {
		there := saidThere{objs: k.log.Objs, of: map[objstore.ID]*conversation.Stored{}}
		for i := range l.Flags {
			f := &l.Flags[i]
			if !want(l.Session, f) {
				continue
			}
			switch has, err := there.has(l, f); {
			case err != nil:
				return nil, fmt.Errorf("what was said: %w", err)
			case has:
				out = append(out, l.value(f, count(l.Session, f.Turn, f.Operation)))
			}
		}
	}
	slices.SortFunc(out, func(a, b value.SaidLeak) int {
		return cmp.Or(cmp.Compare(b.Operation, a.Operation), cmp.Compare(a.Session, b.Session), cmp.Compare(b.Record, a.Record),
			cmp.Compare(a.Part, b.Part), cmp.Compare(a.Rule, b.Rule))
	})
	return out, nil
}

// saidThere tells whether the store has what was found: in the conversation as it is, or as it was then.
type saidThere struct {
	objs *objstore.Store
	of   map[objstore.ID]*conversation.Stored // nil: it is gone, or damaged
}

func (t *saidThere) has(l *saidLook, f *saidFlag) (bool, error) {
	if f.Life == l.Life {
		if has, err := t.in(l.Transcript, f); err != nil || has {
			return has, err
		}
	}
	return t.in(f.In, f)
}

func (t *saidThere) in(id objstore.ID, f *saidFlag) (bool, error) {
	st, known := t.of[id]
	if !known {
		var err error
		if st, err = conversation.OpenEnd(t.objs, id); err != nil && !model.IsLost(err) {
			return false, err
		}
		t.of[id] = st
	}
	if st == nil || st.Size < f.To {
		return false, nil
	}
	for at := f.From; at < max(f.To, f.From+1); at += conversation.TranscriptBlock - at%conversation.TranscriptBlock {
		has, err := st.IsThere(int(at/conversation.TranscriptBlock), t.objs.HasKey)
		if model.IsLost(err) {
			return false, nil
		}
		if err != nil || !has {
			return false, err
		}
	}
	return true, nil
}

// SaidSecret is what was found at a place that Said lists, for who takes it out of the store: nothing to show. found
// may be the beginning of its
// name.
func (k *Leaks) SaidSecret(ctx context.Context, found string) (string, error) {
	looks, err := k.saidLooks()
	if err != nil {
		return "", err
	}
	var in *saidLook
	var flag *saidFlag
	for _, l := range looks {
		for i := range l.Flags {
			if name := l.found(&l.Flags[i]); len(found) < 4 || !strings.HasPrefix(name, strings.ToLower(found)) {
				continue
			}
			if flag != nil {
				return "", model.Usagef("%.20q is the beginning of several findings", found)
			}
			in, flag = l, &l.Flags[i]
		}
	}
	if flag == nil {
		return "", fmt.Errorf("finding %.20q: %w", found, model.ErrNotFound)
	}
	for _, id := range []objstore.ID{flag.In, in.Transcript} {
		if secret := k.saidAgain(ctx, in.Session, id, flag); secret != "" {
			return secret, nil
		}
	}
	return "", fmt.Errorf("finding %.20q: it is not in the store any more: %w", found, model.ErrNotFound)
}

// saidAgain finds again what was flagged; "" if it is not there.
func (k *Leaks) saidAgain(ctx context.Context, session string, said objstore.ID, f *saidFlag) (secret string) {
	st, err := conversation.OpenEnd(k.log.Objs, said)
	if err != nil {
		return ""
	}
	scanner, err := leaks.New()
	if err != nil {
		return ""
	}
	agent, _ := model.SplitSession(session)
	src := transcript.Source{ReaderAt: gapped{st}, Size: st.Size, Ended: true}
	from := f.Offset
	if transcript.IsDocument(agent, src) {
		from = 0
	}
	ps := passage.Reader{
		Wants: func(rec *transcript.Record) bool { return rec.Offset == f.Offset },
		Passage: func(_ *transcript.Record, p *passage.Passage) error {
			list, err := scanner.Matches(ctx, saidPath, p.Text)
			for _, m := range list {
				if at, _ := p.Range(m.Line); m.Rule == f.Rule && string(p.Part) == f.Part && at == f.From {
					secret = m.Secret
				}
			}
			return err
		},
		Done: func(rec *transcript.Record) error {
			if rec.Offset >= f.Offset {
				return errEnough
			}
			return nil
		},
	}
	if err := ps.Read(agent, src, from); err != nil && !errors.Is(err, errEnough) {
		return ""
	}
	return secret
}

// errEnough ends the reading of a conversation.
var errEnough = errors.New("enough")
