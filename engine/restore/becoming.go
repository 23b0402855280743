package restore

import (
	"rewind/engine/capture"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/tree"
)

// becomingContext is how many unchanged lines are around each change of a Becoming.
const becomingContext = 3

// Becoming is what a merge makes of a file: what is there now, and what is to be.
type Becoming struct {
	tree.Change
	Secret bool // on the secret list: the text is not shown
	Text   textdiff.Result
}

// becomes says what a plan makes of the first files that it merges, as many as the options ask for. Only the capture
// has these contents.
func (rs *runner) becomes(c *capture.Capture, r *request, p *Plan) ([]Becoming, error) {
	if r.options.Becomes == 0 || len(p.Merges) == 0 {
		return nil, nil
	}
	steps := map[string]tree.Change{}
	for _, s := range p.Steps {
		steps[s.Path] = s
	}
	secret, err := rs.leaks.SecretFiles()
	if err != nil {
		return nil, err
	}
	var out []Becoming
	for _, m := range p.Merges {
		ch, isSet := steps[string(m.Path)]
		if !isSet || m.Verdict == value.MergeAlready {
			continue
		}
		if len(out) == r.options.Becomes {
			break
		}
		b := Becoming{Change: ch, Secret: secret(ch.Path)}
		if !b.Secret {
			if b.Text, err = capture.TextOf(c.Get, ch, becomingContext); err != nil {
				return nil, err
			}
		}
		out = append(out, b)
	}
	return out, nil
}
