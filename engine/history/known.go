package history

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/osfile"
	"rewind/objstore"
	"rewind/transcript"
)

// knowing is what lists of sessions have learnt of session files: the store has the same, so that a daemon begins with
// it. Safe for concurrent use.
type knowing struct {
	mu       sync.Mutex
	rewrites uint64                  // of the log, when it was loaded
	is       map[string]*model.Known // by session; nil: not loaded
	learnt   map[string]*model.Known // what the store has not yet; nil: to be removed
}

// loadKnown reads what the store knows of session files, once until something is taken out of the log. What cannot be
// read is not known. The log's lock is held, and the records are loaded.
func (h *talkReader) loadKnown() error {
	k := &h.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.is != nil && k.rewrites == h.log.Rewrites() {
		return nil
	}
	is, learnt, rewrites := map[string]*model.Known{}, map[string]*model.Known{}, h.log.Rewrites()
	all := kv.Range{Prefix: []byte{kv.PrefixKnown}, From: model.KnownFrom()}
	err := h.log.DB.Scan(all, func(key, raw []byte) error {
		name := string(key[1:])
		known, err := model.DecodeKnown(raw)
		if err != nil || h.log.Session(name) == nil {
			learnt[name] = nil
			return nil //nolint:nilerr // it is learnt again
		}
		is[name] = known
		return nil
	})
	if err == nil {
		k.is, k.learnt, k.rewrites = is, learnt, rewrites
	}
	return err
}

func (k *knowing) of(session string) *model.Known {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.is[session]
}

// learn notes what a session's file says. A file that is being written may change at once (settled: no), but has its
// title by then. It is known by that title, is read again at the next question, and is not stored. Nothing that
// somebody purged from a session comes back into the store by its title.
func (k *knowing) learn(s *model.Session, known *model.Known, settled bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.is == nil { // who asks for all begins with what the store has
		return
	}
	if !settled {
		passing := *known
		passing.Stamp = osfile.Stamp{}
		k.is[s.Name] = &passing
		return
	}
	k.is[s.Name] = known
	if !s.Purged {
		k.learnt[s.Name] = known
	}
}

// keepKnown stores what was learnt. The log's lock is held. An error is dropped: it will be learnt again.
func (h *talkReader) keepKnown(ctx context.Context) {
	k := &h.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.learnt) == 0 || h.log.Damage() != nil || h.log.CheckWhole() != nil {
		return
	}
	b := h.log.DB.NewBatch()
	defer b.Close() //nolint:errcheck // after a commit there is nothing to close
	for name, known := range k.learnt {
		var err error
		if known == nil {
			err = b.Delete(model.KnownKey(name))
		} else {
			err = b.Set(model.KnownKey(name), known.Encode())
		}
		if err != nil {
			return
		}
	}
	if b.Commit(ctx, kv.Written) == nil {
		clear(k.learnt)
	}
}

// know is what a session's file says, or what is stored of it if it is not there (at nil), or begins in another file.
// Only a file that is not known as it is is read. nil: there is nothing to read.
func (h *talkReader) know(s *model.Session, at fs.FileInfo) (*model.Known, error) {
	known := h.known.of(s.Name)
	if at == nil || s.Cursor.Base > 0 {
		if s.Cursor.Transcript.IsZero() {
			return nil, nil
		}
		if known.Is(s.Transcript, osfile.Stamp{}, s.Cursor.Transcript) {
			return known, nil
		}
		c, err := h.Conversation(s, s.Cursor.Transcript)
		if err != nil {
			return nil, err
		}
		known = knownOf(c, s.Transcript, s.Cursor.Length)
		known.Transcript = s.Cursor.Transcript
		h.known.learn(s, known, true)
		return known, nil
	}
	if stamp := osfile.StampOf(at); stamp != (osfile.Stamp{}) && known.Is(s.Transcript, stamp, objstore.ID{}) {
		return known, nil
	}
	if at.Size() >= longTalk && at.Size() == s.Cursor.Length &&
		h.conversations.Files[s.Name].Same(s.Cursor.TranscriptEnd, s.Transcript, at) {
		if c, err := h.Conversation(s, s.Cursor.Transcript); err == nil {
			known = knownOf(c, s.Transcript, at.Size())
			known.Stamp = osfile.StampOf(at)
			h.known.learn(s, known, known.Stamp != (osfile.Stamp{}) && !known.Stamp.Young(time.Now()))
			return known, nil
		}
	}
	return h.readKnown(s)
}

// readKnown reads a session's file, and learns what it says.
func (h *talkReader) readKnown(s *model.Session) (*model.Known, error) {
	began := time.Now()
	f, err := conversation.OpenSession(s.Agent, s.Transcript)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src := f.Source(f.Info.Size())
	src.Ended = true // a last line that is half there is left out all the same
	c, err := transcript.Scan(s.Agent, src)
	if err != nil {
		return nil, err
	}
	known := knownOf(c, s.Transcript, f.Info.Size())
	known.Stamp = osfile.StampOf(f.Info)
	after, err := f.Stat()
	still := err == nil && known.Stamp != (osfile.Stamp{}) && osfile.StampOf(after) == known.Stamp
	h.known.learn(s, known, still && !known.Stamp.Young(began))
	return known, nil
}

func knownOf(c *transcript.Conversation, path string, size int64) *model.Known {
	return &model.Known{
		Read: model.KnownRead, Path: path, Turns: len(c.Turns), Messages: c.Messages, Bytes: size, Title: c.Title, Parent: c.Parent,
		First: c.First.Truncate(time.Millisecond), Branches: transcript.Branches(c.Turns),
	}
}
