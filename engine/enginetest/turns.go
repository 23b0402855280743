package enginetest

// SameTurns fails unless the rows of the turns, which came as the log grew, are those that it folds to now.
func (p *Project) SameTurns(session string) {
	p.T.Helper()
	if _, err := p.E.Ledger.Turns(session); err != nil {
		p.T.Fatalf("turns of %s: %v", session, err)
	}
	differ, err := p.E.Ledger.Check()
	p.Must(err)
	if len(differ) > 0 {
		p.T.Fatalf("folded anew, the turns are others: %v", differ)
	}
}
