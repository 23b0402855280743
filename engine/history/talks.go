package history

import (
	"slices"
	"sync"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/cache"
	"rewind/objstore"
	"rewind/transcript"
)

// talks are the captured conversations that were read last, since a command asks for one several times; the newest of a session goes on
// when more of it is captured. Safe for concurrent use.
type talks struct {
	mu       sync.Mutex
	rewrites uint64 // of the log, when the first was read
	read     *cache.Cache[objstore.ID, *transcript.Conversation]
	newest   *cache.Cache[string, *talk] // by session; one that goes on is not there meanwhile
	lacks    *cache.Cache[string, lack]
}

// A talk is a conversation that can be read on.
type talk struct {
	said objstore.ID // the transcript
	size int64
	is   *transcript.Conversation
	on   *transcript.Reading
}

// A lack is a transcript, and its length, in which a call was looked for in vain.
type lack struct {
	said objstore.ID
	size int64
}

const (
	talksMemory = 16 << 20 // bytes, of each of the two caches
	maxLacks    = 256
)

// weight is about how many bytes a conversation has in memory.
func weight(c *transcript.Conversation) int { return 1<<10 + 350*len(c.Turns) }

// begin makes the caches, or forgets them, since something was taken out of the log. k.mu is held.
func (k *talks) begin(rewrites uint64) {
	if k.read != nil && k.rewrites == rewrites {
		return
	}
	k.rewrites = rewrites
	k.read = cache.New[objstore.ID](talksMemory, weight)
	k.newest = cache.New[string](talksMemory, func(t *talk) int { return weight(t.is) + 64*t.is.Records })
	k.lacks = cache.New[string, lack](maxLacks, nil)
}

// forget gives up what is kept: it is read again when somebody asks. What is being read on meanwhile is kept when it is done.
func (k *talks) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read != nil {
		k.read.Clear()
		k.newest.Clear()
		k.lacks.Clear()
	}
}

// TrimCaches gives up the conversations that were read.
func (h *History) TrimCaches() { h.talks.forget() }

// Conversation is what a transcript of a session says, parsed. It is shared: nobody changes it. Of one that goes on from the newest that
// was read of the session only what comes behind that is read.
func (h *History) Conversation(s *model.Session, said objstore.ID) (*transcript.Conversation, error) {
	k := &h.talks
	k.mu.Lock()
	k.begin(h.log.Rewrites())
	rewrites := k.rewrites
	c, ok := k.read.Get(said)
	was, _ := k.newest.Get(s.Name)
	if ok || was != nil && was.said == said {
		k.mu.Unlock()
		if !ok {
			c = was.is
		}
		return c, nil
	}
	k.newest.Drop(s.Name)
	k.mu.Unlock()

	next, err := h.readOn(s, said, was)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rewrites != rewrites {
		if err != nil {
			return nil, err
		}
		return next.is, nil
	}
	keep := was
	if err == nil && (was == nil || next.on == was.on || said == s.Cursor.Transcript) {
		keep = next
	} else if err == nil {
		k.read.Put(said, next.is)
	}
	if keep != nil {
		k.newest.Put(s.Name, keep)
	}
	if err != nil {
		return nil, err
	}
	return next.is, nil
}

// readOn reads a transcript: of one that begins with was the rest.
func (h *History) readOn(s *model.Session, said objstore.ID, was *talk) (*talk, error) {
	st, err := conversation.OpenEnd(h.log.Objs, said)
	if err != nil {
		return nil, err
	}
	t := &talk{said: said, size: st.Size}
	if was != nil {
		if _, begins, err := st.BeginsWith(was.said); err == nil && begins {
			t.on = was.on
		}
	}
	if t.on == nil {
		if st, err = conversation.OpenTranscript(h.log.Objs, said); err != nil {
			return nil, err
		}
		t.on = transcript.NewReading(s.Agent)
	}
	t.is, err = t.on.On(sourceOf(s, st))
	if err != nil {
		return nil, err
	}
	return t, nil
}

// turnsTo are the turns of a transcript of a session; what is told of the last one may have come later.
func (h *History) turnsTo(s *model.Session, said objstore.ID) ([]transcript.Turn, error) {
	now := s.Cursor.Transcript
	if said != now && !now.IsZero() {
		st, err := conversation.OpenEnd(h.log.Objs, now)
		if err == nil {
			var length int64
			var begins bool
			if length, begins, err = st.BeginsWith(said); err == nil && begins {
				if c, err := h.Conversation(s, now); err == nil {
					return turnsBefore(c.Turns, length), nil
				}
			}
		}
	}
	c, err := h.Conversation(s, said)
	if err != nil {
		return nil, err
	}
	return c.Turns, nil
}

// turnsBefore are the turns that begin in front of an offset.
func turnsBefore(turns []transcript.Turn, length int64) []transcript.Turn {
	k, _ := slices.BinarySearchFunc(turns, length, func(t transcript.Turn, at int64) int {
		if t.At < at {
			return -1
		}
		return 1
	})
	return turns[:k]
}

// turnsIn counts the turns of a transcript.
func (h *History) turnsIn(s *model.Session, said objstore.ID) (int, error) {
	turns, err := h.turnsTo(s, said)
	return len(turns), err
}

// hasCall reports whether a transcript has a call. One that goes on from where it was not found is read from there.
func (h *History) hasCall(s *model.Session, said objstore.ID, call string) (bool, error) {
	if said.IsZero() {
		return false, nil
	}
	k := &h.talks
	k.mu.Lock()
	k.begin(h.log.Rewrites())
	key := s.Name + "\x00" + call
	not, looked := k.lacks.Get(key)
	k.mu.Unlock()
	if looked && not.said == said {
		return false, nil
	}
	st, err := conversation.OpenEnd(h.log.Objs, said)
	if err != nil {
		return false, err
	}
	from := int64(0)
	if looked && !conversation.IsDocument(sourceOf(s, st).Name) {
		if _, begins, err := st.BeginsWith(not.said); err == nil && begins {
			from = not.size
		}
	}
	has, err := transcript.HasCall(s.Agent, sourceOf(s, st), from, call)
	if err != nil || has {
		return has, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lacks != nil && not.size <= st.Size {
		k.lacks.Put(key, lack{said, st.Size})
	}
	return false, nil
}
