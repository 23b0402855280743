package detach

const rootDir = `\`

// Narrow does nothing: there is no umask.
func Narrow() {}

// Own does nothing: there is no umask.
func Own() {}

// Raise does nothing: a job's limits are not this process's to raise.
func Raise() {}

func reset() {}

func fileSize() (uint64, bool) { return 0, false }

func limitsHere() []Limit { return nil }
