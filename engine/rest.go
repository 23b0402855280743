package engine

// Rest gives up memory that makes work faster and can be had again. It may be called while others work.
func (e *Engine) Rest() {
	e.db.Rest()
	e.restLeaks()
}
