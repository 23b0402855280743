package ledger

// InSlices has n operations folded in one batch, until back is called.
func InSlices(n int) (back func()) {
	was := slice
	slice = n
	return func() { slice = was }
}
