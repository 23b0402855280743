package engine

// TrimCaches gives up memory that makes work faster and can be had again. It may be called while others work.
func (e *Engine) TrimCaches() {
	e.Log.DB.TrimCaches()
	e.Log.TrimCaches()
	e.Leaks.DropRules()
	e.History.TrimCaches()
}

// TrimBlocks gives up the blocks of tables that the store holds, but for the hottest.
func (e *Engine) TrimBlocks() { e.Log.DB.TrimCaches() }

// FlushLog puts what only the store's log holds into tables: for a project that rests.
func (e *Engine) FlushLog() error { return e.Log.DB.FlushLog() }
