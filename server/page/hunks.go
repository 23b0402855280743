package page

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/server/page/view"
)

// hunks sets what is chosen of one file to a state. What can be chosen is the difference of the two, and a hunk is
// named by its place in it. The API has no dry run of parts, since they were shown when they were chosen: where the
// difference has become another one since, nothing is done. A part names the content that it is of: that holds to the
// end.
func (v *visit) hunks(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	path := api.Text("./" + filepath.ToSlash(q.Path))
	d, err := api.Call(v.Context(), v.page.client, api.Diff, api.DiffRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, From: api.Text(q.Name), Back: true, Paths: []api.Text{path},
		Context: 3,
	}, nil)
	if err != nil {
		return false, err
	}
	list := api.Choices(d.Files)
	if len(list) != 1 {
		v.frame.Hunks(s, &d.From, nil)
		return false, nil
	}
	one := &list[0]
	if one.Why != "" {
		return false, &api.Error{Word: api.WordUsage, Message: "of " + q.Path + " nothing can be chosen: " + one.Why}
	}
	chosen := strings.Split(q.Hunks, ",")
	for i := range one.Pieces {
		one.Pieces[i].Chosen = slices.Contains(chosen, strconv.Itoa(i))
	}
	v.frame.Hunks(s, &d.From, one)
	part := one.Part()
	if part == nil {
		return false, nil // the sheet asks for it
	}
	plan := shownAs(d.Files)
	if dryRun || q.Plan == "" {
		s.Plan = plan
		return false, nil
	}
	if q.Plan != plan {
		return false, &api.Error{Word: api.WordChanged, Message: "the file has changed"}
	}
	return restore(v, api.Checkout, api.CheckoutRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Checkpoint: api.Text(q.Name), Parts: []api.Part{*part},
	}, s)
}
