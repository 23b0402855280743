package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"

	"rewind/api"
	"rewind/server/page/view"
)

// purge takes contents out of the store for good. What would go is shown first. A purge has no plan of its own: what
// was found is looked for again before anything is done, and where that is something else it is shown anew.
func (v *visit) purge(q wish, dryRun bool, s *view.Sheet) (bool, error) {
	req := api.PurgeRequest{Project: v.dir(), Env: v.who.env, DryRun: true}
	req.Text = api.Text(strings.ReplaceAll(q.Text, "\r\n", "\n")) // a form's lines end so
	if q.Found != "" {
		req.Found = []string{q.Found}
	}
	if q.Path != "" {
		req.Paths = []api.Text{api.Text("./" + filepath.ToSlash(q.Path))}
	}
	if s.Text, s.Found = q.Text, q.Found; strings.TrimSpace(q.Text+q.Found+q.Path) == "" {
		return false, nil // the sheet asks for it
	}
	r, err := api.Call(v.Context(), v.page.client, api.Purge, req, nil)
	if err != nil {
		return false, err
	}
	plan := shownAs(r.Purged)
	if dryRun || q.Plan == "" || q.Sure == "" {
		s.Plan = plan
		v.frame.Purge(s, &r)
		return false, nil
	}
	if q.Plan != plan {
		return false, &api.Error{Word: api.WordChanged, Message: "what would be purged has changed"}
	}
	req.DryRun = false
	if r, err = api.Call(v.Context(), v.page.client, api.Purge, req, nil); err != nil {
		return false, err
	}
	v.frame.Purge(s, &r)
	return true, nil
}

// shownAs is a name for what a sheet has shown, to know it again when it is to be done.
func shownAs(what any) string {
	b, _ := json.Marshal(what)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
