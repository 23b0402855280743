package ledger

// InSlices has a ledger fold n operations in one batch.
func InSlices(l *Ledger, n int) { l.slice = n }
