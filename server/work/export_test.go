package work

// Settled reports whether nothing is to be given back soon.
func Settled() bool {
	tight.mu.Lock()
	defer tight.mu.Unlock()
	return tight.timer == nil
}
