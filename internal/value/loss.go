package value

// A Loss is what is not in a session's file any more of its captured conversation, and nobody took it out.
type Loss string

// The losses.
const (
	NoLoss   Loss = ""
	LossGone Loss = "gone" // the file is not there
	LossCut  Loss = "cut"  // its end is not there
)
