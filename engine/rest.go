package engine

// Rest gives up memory that makes work faster and can be had again. It may be called while others work.
func (e *Engine) Rest() {
	e.Log.DB.TrimCaches()
	e.Leaks.RestLeaks()
}

// FlushLog puts what only the store's log holds into tables: for a project that rests.
func (e *Engine) FlushLog() error { return e.Log.DB.FlushLog() }
