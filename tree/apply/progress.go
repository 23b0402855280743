package apply

// tellEach is how many steps are done between two calls of Progress; a small file takes some 50 µs.
const tellEach = 16

// begin begins a phase of total steps; 0: they are not counted.
func (a *applier) begin(phase string, total int) {
	a.phase, a.total = phase, total
	a.done.Store(0)
	if a.Progress != nil {
		a.Progress(phase, 0, total)
	}
}

// advance counts one step of the phase. Safe for concurrent use.
func (a *applier) advance() {
	if n := int(a.done.Add(1)); a.Progress != nil && a.total > 0 && (n%tellEach == 0 || n == a.total) {
		a.Progress(a.phase, min(n, a.total), a.total)
	}
}

// countToSet is how many steps are carried out in the tree one by one, not with a new directory.
func (a *applier) countToSet() int {
	n := 0
	for _, j := range a.jobs {
		if j.state == jobPending && j.inside == nil {
			n++
		}
	}
	return n
}
