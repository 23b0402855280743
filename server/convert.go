package server

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

func checkpoint(l history.Listed) api.Checkpoint {
	c := api.Checkpoint{
		ID: l.ID.String(), Short: l.Short, Seq: l.Seq, Time: l.Time.UTC(), Session: l.Session, Event: l.Cause.Event,
		Message: api.Text(l.Cause.Message), Tree: l.Tree.String(), Parents: []string{}, Git: head(l.Git),
		Files: l.Counts.Files,
		Bytes: l.Counts.Bytes,
		Added: l.Counts.Added, Modified: l.Counts.Modified, Deleted: l.Counts.Deleted, Skipped: l.Counts.Skipped,
		Current: l.Current, Safety: l.Safety, Aside: l.Aside, Tags: l.Tags,
		Turn: l.Cause.Turn, Prompt: api.Text(l.Cause.Prompt), By: l.Authors(), Late: l.Late, Minor: l.Minor,
		Merged: l.Merged, Target: api.Text(l.Target), Whose: l.Whose,
	}
	if len(l.Messages) > 0 {
		c.Notes = value.Texts(l.Messages)
	}
	c.Agent, _ = model.SplitSession(l.Session)
	if l.Cause.Tool != "" {
		c.Tool = &api.Tool{Name: api.Text(l.Cause.Tool), Call: api.Text(l.Cause.Call)}
	}
	for _, p := range l.Parents {
		c.Parents = append(c.Parents, p.String())
	}
	return c
}

// listed dresses a checkpoint; nil stays nil.
func listed(e *engine.Engine, cp *model.Checkpoint) (*api.Checkpoint, error) {
	if cp == nil {
		return nil, nil
	}
	l, err := e.History.Listing(cp)
	if err != nil {
		return nil, err
	}
	c := checkpoint(l)
	return &c, nil
}

// head is nil where there was none.
func head(h api.Head) *api.Head {
	if h == (api.Head{}) {
		return nil
	}
	return &h
}

// mode is git's notation of an entry's type and permission bits; empty for an absent one.
func mode(e *tree.Entry) string {
	switch {
	case e == nil:
		return ""
	case e.Type == tree.TypeSymlink:
		return "120000"
	case e.Type == tree.TypeDir:
		return fmt.Sprintf("04%04o", e.Perm)
	}
	return fmt.Sprintf("10%04o", e.Perm)
}

func change(path string, from, to *tree.Entry) api.Change {
	c := api.Change{Path: api.Text(path), OldMode: mode(from), NewMode: mode(to)}
	switch {
	case from == nil:
		c.Status = "added"
	case to == nil:
		c.Status = "deleted"
	case from.Type != to.Type:
		c.Status = "type"
	case from.Type == tree.TypeDir || from.ID == to.ID:
		c.Status = "mode"
	default:
		c.Status = "modified"
	}
	if from != nil {
		c.OldSize = from.Size
	}
	if to != nil {
		c.NewSize = to.Size
	}
	return c
}

// changes leaves out directories that come or go with what is in them; of a rename one row is left. What is missing
// because it was skipped, by the note of the newer side, is not deleted.
func changes(list []tree.Change, newer []tree.Skip) []api.Change {
	out := []api.Change{}
	renames, rest := tree.Renames(list)
	for _, r := range renames {
		c := change(r.To.Path, r.From.Old, r.To.New)
		c.Status, c.RenamedFrom = "renamed", api.Text(r.From.Path)
		out = append(out, c)
	}
	for _, ch := range rest {
		if ch.Path == ".agent" {
			continue // where the marker is
		}
		if (isDir(ch.Old) && ch.New == nil || isDir(ch.New) && ch.Old == nil) && anyBelow(list, ch.Path) {
			continue
		}
		c, told := changeBeside(ch, newer)
		if n := len(out); told && n > 0 && out[n-1].Path == c.Path {
			continue // a list has what is below a directory in a row
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b api.Change) int { return tree.ComparePaths(string(a.Path), string(b.Path)) })
	return out
}

// changeBeside is a change beside the note of the newer side. Of what lies in a directory that is another's by now,
// such as git's, which older versions captured, the directory is told, for all of it.
func changeBeside(ch tree.Change, newer []tree.Skip) (c api.Change, all bool) {
	s, covered := model.Covering(newer, ch.Path)
	switch {
	case ch.New != nil || !covered:
		return change(ch.Path, ch.Old, ch.New), false
	case s.Foreign():
		return api.Change{
			Path: api.Text(s.Path), Status: "uncaptured",
			OldMode: mode(&tree.Entry{Type: tree.TypeDir}),
		}, true
	}
	c = change(ch.Path, ch.Old, ch.New)
	c.Status = "uncaptured"
	return c, false
}

// anyBelow reports whether a list in the order of a walk has a path below dir: it would follow dir at once.
func anyBelow(list []tree.Change, dir string) bool {
	i, _ := slices.BinarySearchFunc(list, dir,
		func(c tree.Change, p string) int { return tree.ComparePaths(c.Path, p) })
	return i+1 < len(list) && strings.HasPrefix(list[i+1].Path, dir+"/")
}

func isDir(e *tree.Entry) bool { return e != nil && e.Type == tree.TypeDir }

func skips(list []tree.Skip) []api.Skip {
	out := []api.Skip{}
	for _, s := range capture.Visible(list) {
		out = append(out, api.Skip{Path: api.Text(s.Path), Reason: s.Word(), Size: s.Bytes()})
	}
	return out
}

func idText(id objstore.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func operation(op *refs.Operation) api.Operation {
	o := api.Operation{
		Seq: op.Seq, Time: time.UnixMilli(op.Time).UTC(), Kind: op.Kind.String(), Session: op.Session,
		Checkpoint: idText(op.Checkpoint), Message: api.Text(op.Message), CanUndo: op.Kind.CanUndo() &&
			op.Restore != nil && !op.Thinned,
		Turn: op.Turn,
	}
	if op.Kind != refs.KindCheckpoint { // it stands in the checkpoint
		o.Event = op.Cause.Event
	}
	o.Agent, _ = model.SplitSession(op.Session)
	if op.EventID != 0 {
		o.EventID = fmt.Sprintf("%016x", op.EventID)
	}
	if op.Cause.Tool != "" {
		o.Tool = &api.Tool{Name: api.Text(op.Cause.Tool), Call: api.Text(op.Cause.Call)}
	}
	if r := op.Restore; r != nil {
		o.Target, o.Safety, o.Paths, o.Exact = idText(r.Target), idText(r.Safety), value.Texts(r.Paths), r.Exact
		o.Undoes, o.Changed, o.Kept, o.Goes, o.Managed = r.Undoes, r.Changed, r.Kept-r.Beside, r.Goes, r.Managed
		o.What = op.What()
	}
	return o
}

func listedOperation(o *history.Operation, canUndo bool) api.Operation {
	op := operation(&o.Operation)
	op.Undone, op.CanUndo, op.TookBack = o.Undone, canUndo, o.TookBack
	if o.From != nil {
		from := moment(*o.From)
		op.From = &from
	}
	if o.To != nil {
		to := moment(*o.To)
		op.To = &to
	}
	return op
}

func fileDiff(d engine.FileDiff) api.FileDiff {
	f := api.FileDiff{Change: change(d.Path, d.Old, d.New)}
	if d.RenamedFrom != "" {
		f.Status, f.RenamedFrom = "renamed", api.Text(d.RenamedFrom)
	}
	f.Gone = d.Gone
	switch {
	case d.Secret:
		f.Note = "secret"
	case d.Gone != "":
		f.Note = d.Gone
	case d.Text.Kind == textdiff.Binary:
		f.Note = "binary"
	case d.Text.Kind == textdiff.TooLarge:
		f.Note = "too_large"
	}
	f.Added, f.Removed = textdiff.Stat(d.Text.Hunks)
	f.Hunks = textdiff.Detach(d.Text.Hunks)
	return f
}

// parts reads what was chosen of a diff.
func parts(list []api.Part) (out []restore.Part, err error) {
	for _, p := range list {
		part := restore.Part{Path: string(p.Path), Whole: p.Whole, Mode: p.Mode, Hunks: p.Hunks}
		if part.Was, err = entry(p.OldMode, p.OldID); err != nil {
			return nil, &value.OpError{Op: "part", Subject: part.Path, Typed: true, Err: model.Usagef("%w", err)}
		}
		out = append(out, part)
	}
	return out, nil
}

// entry is the reverse of mode, with the id of a content; nil for none.
func entry(mode, id string) (*tree.Entry, error) {
	if mode == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return nil, err
	}
	e := &tree.Entry{Type: tree.TypeFile, Perm: uint16(n & 0o7777)}
	if n>>12 == 0o12 {
		e.Type, e.Perm = tree.TypeSymlink, 0
	}
	e.ID, err = objstore.ParseID(id)
	return e, err
}

func restoreResponse(e *engine.Engine, kind refs.Kind, dryRun bool, r *restore.Result) (api.RestoreResponse, error) {
	target, err := listed(e, r.Plan.Target)
	if err != nil {
		return api.RestoreResponse{}, err
	}
	out := api.RestoreResponse{
		Kind: kind.String(), Target: *target, DryRun: dryRun, Changed: r.Changed,
		Replaced: value.Texts(r.Plan.Replaced), Yours: value.Texts(r.Plan.Yours),
		Returned:  value.Texts(r.Plan.Returned),
		TakenBack: value.Text(r.Prompt), TakenToo: value.Texts(r.Prompts),
		TakenMore: r.MorePrompts,
		KeptDirs:  value.Texts(r.KeptDirs), GitThen: head(r.Plan.Git.Then), GitNow: head(r.Plan.Git.Now),
		GitState: r.Plan.Git.State,
		GitGone:  r.Plan.Git.Gone,
		Partial:  len(r.Conflicts) > 0, Conversation: conversationOf(e, r.Conversation), Notices: e.Project().Notices,
	}
	if out.Safety, err = listed(e, r.Safety); err != nil {
		return out, err
	}
	if out.Saved, err = listed(e, r.Saved); err != nil {
		return out, err
	}
	if r.Operation != nil {
		out.Operation, out.Kind = r.Operation.Seq, r.Operation.Kind.String()
	}
	if r.Of != "" {
		out.Whose = e.Sessions.Whose()(r.Of)
	}
	out.AtWork, out.Managed, out.Plan = r.AtWork, r.Managed, r.PlanHash
	if dryRun {
		if err := withoutUnmade(e, &out); err != nil {
			return out, err
		}
	}
	out.Behind, out.KeptFor = r.Behind, value.Text(r.KeptFor)
	out.Changes = changes(r.Plan.Steps, nil)
	for _, k := range r.Plan.Kept {
		out.Partial = out.Partial || k.Reason.Incomplete()
	}
	for _, m := range r.Plan.Merges {
		out.Partial = out.Partial || m.Verdict == value.MergeConflict
	}
	out.Merges, out.Mergeable = r.Plan.Merges, r.Plan.Mergeable
	for _, b := range r.Becomes {
		out.Becomes = append(out.Becomes, fileDiff(engine.FileDiff{Change: b.Change, Secret: b.Secret, Text: b.Text}))
	}
	out.Kept, out.Taken, out.Without, out.Conflicts = r.Plan.Kept, r.Plan.Taken, without(r.Without), r.Conflicts
	if len(r.Plan.Missing) > 0 {
		out.Missing = skips(r.Plan.Missing)
	}
	out.NotCaptured = e.PlaceEdits(r.Plan.Uncaptured)
	return out, nil
}

// without puts what two looks found in order.
func without(list []api.Without) []api.Without {
	return slices.SortedStableFunc(slices.Values(list),
		func(a, b api.Without) int { return tree.ComparePaths(string(a.Path), string(b.Path)) })
}

// statusSessions is how many sessions a status has, the newest; whoever wants all of them asks for the sessions.
const statusSessions = 20

// sessionsOf gives the newest of the agents' sessions, and those with edits that no checkpoint has, which are to be
// told.
func sessionsOf(e *engine.Engine, list []model.Session) []api.Session {
	var out []api.Session
	for i, s := range list {
		if i >= statusSessions && len(s.Uncaptured) == 0 {
			continue
		}
		v := api.Session{
			Session: s.Name, Agent: s.Agent, Turn: s.Turn,
			Prompt:     api.Text(cmp.Or(s.Prompt, e.History.Untold(&list[i], s.Turn))),
			Transcript: api.Text(s.Transcript),
			Dir:        api.Text(s.Cwd),
			First:      s.First.UTC(), Last: s.Last.UTC(), Event: s.Event, Busy: s.TurnRuns(), Ended: s.Ended,
			Captured: s.Cursor.Length,
		}
		for _, edit := range s.Edits() {
			v.NotCaptured = append(v.NotCaptured, api.Uncaptured{Path: api.Text(edit.Path), Reason: edit.Word()})
			if edit.Reason == 0 {
				v.Outside = append(v.Outside, api.Text(edit.Path))
			}
		}
		v.NotCaptured = e.PlaceEdits(v.NotCaptured)
		for _, c := range s.OpenCalls() {
			v.Running = append(v.Running, api.Tool{Name: api.Text(c.Tool), Call: api.Text(c.ID)})
		}
		out = append(out, v)
	}
	return out
}
