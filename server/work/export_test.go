package work

// Settled reports whether nothing is to be given back soon.
func Settled() bool {
	tight.mu.Lock()
	defer tight.mu.Unlock()
	return tight.timer == nil
}

// Forget has nothing be known of what was in use when something was last given back.
func Forget() {
	tight.mu.Lock()
	defer tight.mu.Unlock()
	tight.kept = 0
}
