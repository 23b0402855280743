package value

// Overlap is a path that two branches changed since the newest state that both go on from.
type Overlap struct {
	Path    Text           `json:"path"`
	Was     Text           `json:"was,omitempty"` // its path in that state, where one side moved it
	Verdict OverlapVerdict `json:"verdict"`
	Reason  MergeReason    `json:"reason,omitempty"` // of one that collides; A is "here" and B is "the change"
	Places  int            `json:"places,omitempty"` // of a text that collides: where
}

// OverlapVerdict says whether two changes of a path go together.
type OverlapVerdict string

// The verdicts.
const (
	OverlapSame    OverlapVerdict = "same"    // both left it as the same
	OverlapClean   OverlapVerdict = "clean"   // what both changed can be merged
	OverlapCollide OverlapVerdict = "collide" // it cannot, and somebody has to decide
)
