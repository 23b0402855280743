package page

import (
	"slices"

	"rewind/api"
	"rewind/server/page/view"
)

// save takes a checkpoint of the files as they are, with a message, and gives it a name where one is asked for. Shown
// first is what has changed since the newest one.
func (v *visit) save(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	if taken, err := v.nameTaken(q, s); taken || err != nil {
		return false, err
	}
	if dryRun {
		r, err := api.Call(v.Context(), v.page.client, api.Diff, api.DiffRequest{Project: v.dir(), NoHunks: true}, nil)
		if err == nil {
			v.frame.Unsaved(s, &r)
		}
		return true, err
	}
	r, err := api.Call(v.Context(), v.page.client, api.Save, api.SaveRequest{
		Project: v.dir(), Message: api.Text(q.Message),
	}, nil)
	if err != nil {
		return false, err
	}
	if v.frame.Saved(s, &r); q.Tag == "" {
		return true, nil
	}
	if _, err = v.setTag(q, api.Text(r.Checkpoint.ID), s); err != nil { // it is saved all the same
		v.frame.Unnamed(s, err)
	}
	return true, nil
}

// tag gives a moment a name.
func (v *visit) tag(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	taken, err := v.nameTaken(q, s)
	if err != nil {
		return false, err
	}
	if dryRun || q.Tag == "" || taken { // the sheet asks for it
		r, err := v.show(q.Name, "", 0)
		if err == nil {
			v.frame.Tagged(s, &r.Checkpoint)
		}
		return false, err
	}
	return v.setTag(q, api.Text(q.Name), s)
}

func (v *visit) setTag(q wish, checkpoint api.Text, s *view.Sheet) (bool, error) {
	r, err := api.Call(v.Context(), v.page.client, api.Tag, api.TagRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Tag: api.Text(q.Tag), Checkpoint: checkpoint,
		Force: q.Force != "",
	}, nil)
	if err != nil {
		return false, err
	}
	v.frame.Tagged(s, r.Checkpoint)
	return true, nil
}

// nameTaken reports whether the name that is asked for is another moment's, which the sheet then asks about.
func (v *visit) nameTaken(q wish, s *view.Sheet) (bool, error) {
	if q.Tag == "" || q.Force != "" {
		return false, nil
	}
	r, err := api.Call(v.Context(), v.page.client, api.Tags, api.TagsRequest{Project: v.dir()}, nil)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(r.Tags, func(t api.TagResponse) bool { return t.Tag == q.Tag })
	if i < 0 {
		return false, nil
	}
	v.frame.NameTaken(s, r.Tags[i].Checkpoint)
	return true, nil
}

// untag takes a name away. The checkpoint stays.
func (v *visit) untag(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	if s.Target = q.Tag; dryRun {
		return true, nil
	}
	_, err := api.Call(v.Context(), v.page.client, api.Tag, api.TagRequest{
		Project: v.dir(), Tag: api.Text(q.Tag), Delete: true,
	}, nil)
	return err == nil, err
}

// revert takes a change out of the files, and keeps what came after it.
func (v *visit) revert(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	return restore(v, api.Revert, api.MergeRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Env: v.who.env, Change: api.Text(q.Name), DryRun: dryRun,
		Plan: q.Plan, Merge: q.Merge != "", Becomes: view.Becoming,
	}, s)
}
