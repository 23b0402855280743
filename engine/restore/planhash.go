package restore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"

	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/tree"
)

// The parts of a plan, each with a hash of its own: the hash of the plan is these, so that one which is not met any
// more says what changed.
var planParts = [...]value.PlanPart{value.PlanPlace, value.PlanFiles, value.PlanKept, value.PlanConversation}

// partDigits is how many hex digits a part of a plan's hash has.
const partDigits = 16

// PlanChangedError is returned when a request names a plan, and what would be done is another one. Nothing was done.
type PlanChangedError struct{ value.PlanChange }

func (e *PlanChangedError) Error() string {
	return "changed since it was shown: " + e.Words() + "; nothing was done"
}

// Is makes it an ErrMeanwhile.
func (e *PlanChangedError) Is(target error) bool { return target == ErrMeanwhile }

// planLine is what a plan says of one path, or of something that has none.
type planLine struct{ path, said string }

// shownPlan is the plan of the newest dry run, for who then asks for it and is refused: only the names of what changed
// need it.
type shownPlan struct {
	hash  string
	lines []planLine
}

// maxShown bounds the lines of a plan that is kept in memory.
const maxShown = 4096

// settlePlan gives a dry run the hash of its plan, and fails with a *PlanChangedError if the request names another one.
// The hash depends only on what would be done. It does not depend on random names, on times, or on text that is only
// shown. Nor does it depend on names in the request, a tag or a title: a person may choose one after seeing the plan.
func (rs *runner) settlePlan(r *request, res *Result, conv *conversationPlan, successor string) error {
	if !r.options.DryRun && r.options.Plan == "" {
		return nil // nobody asks
	}
	if conv != nil && conv.fork != nil {
		successor = "" // its name is drawn anew
	}
	place := fmt.Sprintf("%v %q %s %s %s %q %v %d %q", r.Kind, r.Session, res.Plan.Target.ID, r.Before, r.After, r.saveOn, r.Exact,
		r.Undoes, successor)
	return rs.matchPlan(r.options, res, [len(planParts)][]planLine{
		{{said: place}}, fileLines(res.Plan), keptLines(res.Plan), conv.planLines(r),
	})
}

// matchPlan sets the hash of a plan that is made of these lines, and compares it with the one that is asked for.
func (rs *runner) matchPlan(o Options, res *Result, parts [len(planParts)][]planLine) error {
	if !o.DryRun && o.Plan == "" {
		return nil // nobody asks
	}
	for _, lines := range parts {
		res.PlanHash += hashLines(lines)
	}
	if o.Plan != "" && o.Plan != res.PlanHash {
		if b, err := hex.DecodeString(o.Plan); err != nil || len(b) != len(planParts)*partDigits/2 {
			return model.Usagef("plan %q: want the plan of a dry run", o.Plan)
		}
		change := value.PlanChange{Plan: res.PlanHash}
		for i, part := range planParts {
			if at := i * partDigits; o.Plan[at:at+partDigits] != res.PlanHash[at:at+partDigits] {
				change.Parts = append(change.Parts, part)
			}
		}
		if rs.shown.hash == o.Plan {
			change.Paths = value.Texts(changedLines(rs.shown.lines, slices.Concat(parts[:]...)))
		}
		return &PlanChangedError{change}
	}
	if lines := slices.Concat(parts[:]...); o.DryRun && len(lines) <= maxShown {
		rs.shown = shownPlan{res.PlanHash, lines}
	}
	return nil
}

func hashLines(lines []planLine) string {
	h := sha256.New()
	var b []byte
	for _, l := range lines {
		b = append(strconv.AppendQuote(b[:0], l.path), ' ')
		_, _ = h.Write(append(append(b, l.said...), '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))[:partDigits]
}

// changedLines are the paths of which one plan says what the other one does not, sorted.
func changedLines(was, is []planLine) []string {
	in, changed := map[planLine]bool{}, map[string]bool{}
	for _, l := range was {
		in[l] = true
	}
	for _, l := range is {
		if !in[l] {
			changed[l.path] = true
		}
		delete(in, l)
	}
	for l := range in {
		changed[l.path] = true
	}
	delete(changed, "")
	return sortedPaths(changed)
}

func sortedPaths(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	slices.SortFunc(out, tree.ComparePaths)
	return out
}

// fileLines are the steps of a plan: of each path what is expected and what it becomes.
func fileLines(p *Plan) []planLine {
	lines := make([]planLine, 0, len(p.Steps)+len(p.Replaced)+1)
	if len(p.Steps) > 0 || len(p.Paths) > 0 {
		lines = append(lines, planLine{said: fmt.Sprintf("%q", []string(p.Paths))})
	}
	for _, s := range p.Steps {
		lines = append(lines, planLine{s.Path, entryText(s.Old) + " " + entryText(s.New)})
	}
	for _, path := range p.Replaced {
		lines = append(lines, planLine{path, "replaced"})
	}
	return lines
}

// entryText says what is at a path; of a directory not what is in it, which has lines of its own.
func entryText(e *tree.Entry) string {
	switch {
	case e == nil:
		return "-"
	case e.Type == tree.TypeDir:
		return fmt.Sprintf("dir %o", e.Perm)
	}
	return fmt.Sprintf("%d %o %s", e.Type, e.Perm, e.ID)
}

func keptLines(p *Plan) (lines []planLine) {
	for _, k := range p.Kept {
		what := fmt.Sprintf("%v %q %q %v %q %v", k.Dir, k.Reason, k.By, k.Shared, k.Conflict, k.Gone)
		lines = append(lines, planLine{string(k.Path), what})
	}
	return lines
}

// planLines say what becomes of the conversation, and how long the session files are now that go or change. The plan
// may be nil.
func (t *conversationPlan) planLines(r *request) (lines []planLine) {
	if t == nil {
		return nil
	}
	c := &t.conversation
	mode := c.Mode
	if mode == model.ConversationOriginal && r.options.InPlace {
		mode = model.ConversationInPlace // a dry run does not read on to see that nothing has to be cut
	}
	add := func(path, format string, args ...any) {
		lines = append(lines, planLine{path, string(mode) + " " + fmt.Sprintf(format, args...)})
	}
	for _, path := range c.Removed {
		add(path, "removed at %d", sizeOf(path))
	}
	for _, path := range c.Kept {
		add(path, "kept")
	}
	switch {
	case t.fork != nil:
		cut := t.fork.Cut
		add("", "%q %d %d %q", t.fork.parent.Name, cut.Offset, cut.Messages, cut.LastMessage)
	case mode == model.ConversationInPlace:
		add(c.Path, "%q to turn %d at %d", c.Session, c.Turn, sizeOf(c.Path))
	case mode == model.ConversationBack:
		for _, f := range t.files {
			add(f.Path, "%s at %d", f.To, sizeOf(f.Path))
		}
		add("", "%q", c.Session)
	case mode != model.ConversationNone:
		add("", "%q %d", c.Session, c.Turn)
	default:
		add("", "")
	}
	return lines
}

// sizeOf is a file's size; -1: it is not there.
func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// settleManaged is settlePlan for an operation on sessions.
func (rs *runner) settleManaged(p *manage.Plan, hash string) (string, error) {
	var lines []planLine
	for _, m := range p.Managed {
		lines = append(lines, planLine{said: fmt.Sprintf("%q %d %d %q %q", m.Session, m.Was, m.Now, m.WasTitle, m.Title)})
	}
	for _, f := range p.Files {
		lines = append(lines, planLine{f.Path, fmt.Sprintf("to be set at %d", sizeOf(f.Path))})
	}
	place := fmt.Sprint(p.Kind)
	if p.Undoes != nil {
		place += fmt.Sprintf(" %d", p.Undoes.Seq)
	}
	res := &Result{}
	err := rs.matchPlan(Options{DryRun: p.DryRun, Plan: hash}, res, [len(planParts)][]planLine{{{said: place}}, nil, nil, lines})
	return res.PlanHash, err
}
