package oplog

// Memory is what a log knows in memory.
type Memory struct {
	Head          *Head
	Note          StoredNote
	Loaded, Whole bool
	Squashes      int32
}

// Memory is what the log knows in memory.
func (l *Log) Memory() Memory { return Memory{l.known, l.noted, l.loaded, l.whole, l.squashes.Load()} }

// SetMemory has the log know a head and a note.
func (l *Log) SetMemory(head *Head, note StoredNote) { l.known, l.noted = head, note }

// Skips is the log's index of stretches without checkpoints.
func (l *Log) Skips() *skipIndex { return &l.skips }
