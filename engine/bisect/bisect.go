package bisect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/objstore"
)

// Options are what a session begins with.
type Options struct {
	Bad     string   // the name of a checkpoint that fails; "": the worktree as it is
	Good    []string // names of checkpoints that pass
	Hand    bool     // a person leads it, from answer to answer; else a command, which tries the ends first
	Newer   bool     // of a command: the newest that passes is looked for, backwards; no good one is known
	Links   []string // paths of directories that are linked into the scratch directory, besides those ignored at the root
	NoLinks bool     // neither
	Mounts  Mounts
}

// Result is where a session stands.
type Result struct {
	Session string
	Dir     string          // the scratch directory; "": nothing is laid out
	Test    *history.Listed // what is laid out there, and asked about; nil: nothing is
	End     bool            // to be sure of an end of the line
	Seeks   bool            // the oldest fails, too: a good one is looked for, backwards in steps that double
	Left    int             // checkpoints that are not told yet, between a bad and a good one
	Asks    int             // about how many of them will be asked about
	Wants   Verdict         // a checkpoint of this kind has to be named first; "": none
	Links   []Link
	Mounts  []string // of them, those that who runs the command mounts for what is laid out
	Answer  *Answer
	Log     []Logged
	Notices []string // what was skipped without asking
}

// Logged is an entry with its checkpoint as people know it; nil: it is gone.
type Logged struct {
	Time       time.Time
	Checkpoint objstore.ID
	As         Verdict
	Why        string
	Listed     *history.Listed
}

// Start begins a session and lays out what is asked about first. A person's takes the place of the one before.
func (b *Bisector) Start(ctx context.Context, o Options, p model.Progress) (*Result, error) {
	if err := b.sweep(); err != nil {
		return nil, err
	}
	session := fmt.Sprintf("run-%d-%d", model.AskerOf(ctx).Process, time.Now().UnixNano())
	r := &record{Order: fromEnds, Asked: o.Links, NoLinks: o.NoLinks, Mounts: b.mountable(o.Mounts)}
	switch {
	case o.Hand:
		session, r.Order = Manual, byHand
	case o.Newer:
		r.Order = fromNewer
	}
	defer b.hold(session)()
	if err := b.begin(ctx, r, o, p); err != nil {
		return nil, err
	}
	if err := b.remove(session); err != nil {
		return nil, err
	}
	res, err := b.next(ctx, session, r)
	if err != nil && session != Manual {
		err = errors.Join(err, b.remove(session))
	}
	return res, err
}

// begin fills in what a session begins with.
func (b *Bisector) begin(ctx context.Context, r *record, o Options, p model.Progress) error {
	if o.Bad == "" && o.Hand && len(o.Good) == 0 {
		return nil // it is to be told
	}
	tip, err := b.named(ctx, r, o.Bad, p)
	if err != nil {
		return err
	}
	var goods []*model.Checkpoint
	for _, name := range o.Good {
		cp, err := b.history.Resolve(name)
		if err != nil {
			return err
		}
		goods = append(goods, cp)
	}
	if o.Hand {
		if err := b.tell(ctx, r, tip, Bad, ""); err != nil {
			return err
		}
		for _, cp := range goods {
			if err := b.tell(ctx, r, cp, Good, ""); err != nil {
				return err
			}
		}
		return nil
	}
	if len(goods) > 0 {
		r.End = goods[0].ID
	}
	return b.draw(ctx, r, tip)
}

// named is the checkpoint of a name; "" is the worktree as it is, which is in no list for that.
func (b *Bisector) named(ctx context.Context, r *record, name string, p model.Progress) (*model.Checkpoint, error) {
	if name != "" {
		return b.history.Resolve(name)
	}
	cp, err := b.worktree.AsItIs(ctx, p)
	if err == nil && cp.Cause.Event == model.EventSafety {
		r.Unsaved = append(r.Unsaved, cp.ID)
	}
	return cp, err
}

// Pinned calls ref for the objects that the store must keep for what is under way: unsaved states, which no operation
// names.
func (b *Bisector) Pinned(ref func(objstore.Kind, objstore.ID) error) error {
	all, err := os.ReadDir(b.home())
	if err != nil {
		return nil //nolint:nilerr // nothing is under way
	}
	for _, dir := range all {
		r, err := b.load(dir.Name())
		if err != nil {
			continue // it is ended by 'bisect reset', and asks about nothing
		}
		for _, id := range r.Unsaved {
			if err := ref(objstore.Checkpoint, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw makes the line that ends in tip, and puts on it what was told so far.
func (b *Bisector) draw(ctx context.Context, r *record, tip *model.Checkpoint) (err error) {
	w := b.walker(ctx)
	if r.Line, err = w.line(tip, r.End); err != nil {
		return err
	}
	r.Assumed = nil
	if !r.End.IsZero() {
		end, err := b.log.Checkpoint(r.End)
		if err != nil {
			return err
		}
		at, err := w.meets(end, r.Line)
		if err != nil {
			return err
		}
		if at < 0 {
			return fmt.Errorf("bisect: %w", model.Usagef("%s and %s have no state in common", end.ID.Short(), tip.ID.Short()))
		}
		if r.Line[at].Tree != end.Tree {
			r.assume(end, r.Line[at].Checkpoint)
		}
		r.Line = r.Line[:at+1]
	}
	was := r.Links
	if r.Links, err = b.links(tip, r); err != nil {
		return err
	}
	for i := range r.Links {
		l := &r.Links[i]
		if at := slices.IndexFunc(was, func(o Link) bool { return o.Path == l.Path }); at >= 0 && l.How == "" {
			*l = was[at] // what is shown stays so
		}
	}
	log := r.Log
	r.Log = nil
	for _, e := range log {
		cp, err := b.log.Checkpoint(e.Checkpoint)
		if err != nil {
			r.Log = append(r.Log, e) // gc has merged it with another
			continue
		}
		if err := b.put(w, r, cp, e); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) assume(cp *model.Checkpoint, meets objstore.ID) {
	const text = "%s does not lie on the way; taken for %s, where its way meets it"
	r.Assumed = append(r.Assumed, fmt.Sprintf(text, cp.ID.Short(), meets.Short()))
}

// tell takes a verdict in.
func (b *Bisector) tell(ctx context.Context, r *record, cp *model.Checkpoint, as Verdict, why string) error {
	e := entry{Time: b.log.Now().UTC(), Checkpoint: cp.ID, As: as, Why: why}
	if as == Bad && r.at(cp) < 0 {
		r.Log = append(r.Log, e)
		return b.draw(ctx, r, cp)
	}
	return b.put(b.walker(ctx), r, cp, e)
}

// put puts a verdict into the log, and on the line if there is one: on the point itself, or, if a good one does not lie
// on it, on the state where its way meets the line.
func (b *Bisector) put(w *walker, r *record, cp *model.Checkpoint, e entry) error {
	r.Log = append(r.Log, e)
	if len(r.Line) == 0 {
		return nil
	}
	at := r.at(cp)
	if at < 0 && e.As == Good {
		var err error
		if at, err = w.meets(cp, r.Line); err != nil {
			return err
		}
		if at >= 0 {
			r.assume(cp, r.Line[at].Checkpoint)
		}
	}
	if at >= 0 {
		r.mark(at, e.As)
	}
	return nil
}

// Said is a verdict as somebody gives it.
type Said struct {
	Checkpoint string // its name; "": the one that is laid out, or, where none is, the worktree as it is
	As         Verdict
	Why        string    // is told in the log
	At         time.Time // when; zero: it is about what is asked now
}

// Mark takes a verdict in and lays out what is asked about next. Errors: ErrOvertaken.
func (b *Bisector) Mark(ctx context.Context, session string, said Said, p model.Progress) (*Result, error) {
	if err := checkName(session); err != nil {
		return nil, err
	}
	defer b.hold(session)()
	r, err := b.load(session)
	if err != nil {
		return nil, err
	}
	if said.Checkpoint == "" && b.overtaken(session, r, said.At) {
		return nil, fmt.Errorf("bisect: %w", ErrOvertaken)
	}
	var cp *model.Checkpoint
	if said.Checkpoint == "" && !r.At.IsZero() {
		cp, err = b.log.Checkpoint(r.At)
	} else {
		cp, err = b.named(ctx, r, said.Checkpoint, p)
	}
	if err != nil {
		return nil, err
	}
	if err := b.tell(ctx, r, cp, said.As, said.Why); err != nil {
		return nil, err
	}
	return b.next(ctx, session, r)
}

// overtaken reports whether something else was asked when an answer was said: since then another answer was taken in,
// or what it led to was laid out. Where the clock was set back, that cannot be told.
func (b *Bisector) overtaken(session string, r *record, said time.Time) bool {
	after := func(t time.Time) bool { return t.After(said) && !t.After(b.log.Now()) }
	if said.IsZero() {
		return false
	}
	at := b.readLaid(session)
	if len(r.Log) > 0 && after(r.Log[len(r.Log)-1].Time) {
		return true
	}
	return at != nil && after(time.Unix(0, at.Since))
}

// Show says where a session stands. What is asked about is laid out, if that was cut short.
func (b *Bisector) Show(ctx context.Context, session string) (*Result, error) {
	if err := checkName(session); err != nil {
		return nil, err
	}
	defer b.hold(session)()
	r, err := b.load(session)
	if err != nil {
		return nil, err
	}
	where := b.result
	if c := choose(r.verdicts(), r.Order); c.ask >= 0 {
		if at := b.readLaid(session); at == nil || at.Tree != r.Line[c.ask].Tree {
			where = func(session string, r *record) (*Result, error) { return b.next(ctx, session, r) }
		}
	}
	res, err := where(session, r)
	if err != nil {
		return nil, err
	}
	for _, e := range r.Log {
		l := Logged{Time: e.Time, Checkpoint: e.Checkpoint, As: e.As, Why: e.Why}
		if cp, err := b.log.Checkpoint(e.Checkpoint); err == nil {
			dressed, err := b.history.Listing(cp)
			if err != nil {
				return nil, err
			}
			l.Listed = &dressed
		}
		res.Log = append(res.Log, l)
	}
	return res, nil
}

// Reset ends a session: nothing is left of it. One that is not there is ErrNone.
func (b *Bisector) Reset(session string) error {
	if err := checkName(session); err != nil {
		return err
	}
	defer b.hold(session)()
	if _, err := b.load(session); errors.Is(err, ErrNone) {
		return err
	}
	return b.remove(session)
}

// next lays out what is asked about next, and keeps the session so. What cannot be laid out is skipped.
func (b *Bisector) next(ctx context.Context, session string, r *record) (*Result, error) {
	var notices []string
	for {
		c := choose(r.verdicts(), r.Order)
		if r.At = (objstore.ID{}); c.ask >= 0 {
			r.At = r.Line[c.ask].Checkpoint
		}
		if err := b.save(session, r); err != nil { // first: who is killed now leaves what the next can clear
			return nil, err
		}
		if c.ask < 0 {
			break
		}
		was := fmt.Sprint(r.Links, r.Mounted)
		left, err := b.layOut(ctx, session, r, r.Line[c.ask])
		var gone *goneError
		if errors.As(err, &gone) {
			why := gone.Error()
			notices = append(notices, fmt.Sprintf("%s is skipped: %s", r.At.Short(), why))
			r.Log = append(r.Log, entry{Time: time.Now().UTC(), Checkpoint: r.At, As: Skip, Why: why})
			r.mark(c.ask, Skip)
			continue
		}
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(path string) bool { return slices.Contains(r.Left, path) })
		if len(left) == 0 && was == fmt.Sprint(r.Links, r.Mounted) {
			break
		}
		for _, path := range left {
			notices = append(notices, fmt.Sprintf("%q is not there where it was purged from the store", path))
		}
		r.Left = append(r.Left, left...)
		if err := b.save(session, r); err != nil {
			return nil, err
		}
		break
	}
	res, err := b.result(session, r)
	if err == nil {
		res.Notices = notices
	}
	return res, err
}
