package history

import (
	"context"
	"slices"
	"sync"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/cache"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/transcript"
)

// talks are the captured conversations that were read last, since a command asks for one several times; the newest of a
// session goes on when more of it is captured. Safe for concurrent use.
type talks struct {
	mu       sync.Mutex
	rewrites uint64 // of the log, when the first was read
	read     *cache.Cache[objstore.ID, *transcript.Conversation]
	newest   *cache.Cache[string, *talk] // by session; one that goes on is not there meanwhile
	lacks    *cache.Cache[lack, struct{}]
	learnt   map[string]*talk // by session, what the store is to have
}

// A talk is a conversation that can be read on.
type talk struct {
	said objstore.ID // the transcript
	size int64
	is   *transcript.Conversation
	on   *transcript.Reading
	kept int64 // how long it was as the store has it
}

// A lack is a transcript, and a place in it, around which a call was looked for in vain.
type lack struct {
	said objstore.ID
	at   int64
	call string
}

const (
	talksMemory = 16 << 20 // bytes, of each of the two caches
	maxLacks    = 256
	longTalk    = 4 << 20  // bytes, from which a conversation is stored as it was read; again when so much has come
	maxState    = 16 << 20 // bytes of what is stored of one
	// callNear is how far from the end of a conversation, as it was when a call's hook came, the record of that call
	// stands at most: agents write it around that time.
	callNear = 2 << 20
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
	k.lacks = cache.New[lack, struct{}](maxLacks, nil)
	k.learnt = map[string]*talk{}
}

// forget gives up what is kept: it is read again when somebody asks. What is being read on meanwhile is kept when it is
// done.
func (k *talks) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read != nil {
		k.read.Clear()
		k.newest.Clear()
		k.lacks.Clear()
		clear(k.learnt)
	}
}

// TrimCaches gives up the conversations that were read, and what a list of all turns has summed up.
func (h *talkReader) TrimCaches() {
	h.talks.forget()
	h.sums.trim()
}

// Conversation is what a transcript of a session says, parsed. It is shared: nobody changes it. Of one that goes on
// from the newest that was read of the session only what comes behind that is read.
func (h *talkReader) Conversation(s *model.Session, said objstore.ID) (*transcript.Conversation, error) {
	c, was, rewrites := h.talks.take(s.Name, said, h.log.Rewrites)
	if c != nil {
		return c, nil
	}
	if was == nil {
		was = h.storedTalk(s)
	}
	next, err := h.readOn(s, said, was)
	h.talks.keep(s, rewrites, was, next)
	if err != nil {
		return nil, err
	}
	return next.is, nil
}

// take is a conversation that was read, or else the newest one of the session, to be read on: nobody else has that one
// until it is kept. Both are nil where there is none. rewrites are those of the log then.
func (k *talks) take(
	session string, said objstore.ID, now func() uint64,
) (c *transcript.Conversation, was *talk, rewrites uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.begin(now()) // asked with the lock: who comes later has no older number
	if c, ok := k.read.Get(said); ok {
		return c, nil, k.rewrites
	}
	was, _ = k.newest.Get(session)
	if was != nil && was.said == said {
		return was.is, nil, k.rewrites
	}
	k.newest.Drop(session)
	return nil, was, k.rewrites
}

// keep keeps what was read of a session, and what it went on from; next is nil where that failed. If something was
// taken out of the log meanwhile nothing is kept.
func (k *talks) keep(s *model.Session, rewrites uint64, was, next *talk) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rewrites != rewrites {
		return
	}
	if next == nil {
		if was != nil {
			k.newest.Put(s.Name, was)
		}
		return
	}
	newest := next.said == s.Cursor.Transcript
	if goesOn := was == nil || next.on == was.on; !newest && !goesOn {
		k.read.Put(next.said, next.is)
		k.newest.Put(s.Name, was)
		return
	}
	k.newest.Put(s.Name, next)
	if newest && next.size-next.kept >= longTalk && !s.Purged {
		k.learnt[s.Name] = next
	}
}

// storedTalk is how the store has the conversation of a session; nil: it has it not.
func (h *talkReader) storedTalk(s *model.Session) *talk {
	if s.Cursor.Length < longTalk {
		return nil
	}
	var t *talk
	_ = h.log.DB.View(model.TalkKey(s.Name), func(raw []byte) error {
		stored, err := model.DecodeTalk(raw)
		if err != nil || stored.Read != transcript.ReadingVersion {
			return nil //nolint:nilerr // it is read again
		}
		if on, is := transcript.ResumeReading(s.Agent, stored.State); on != nil {
			t = &talk{said: stored.Transcript, size: stored.Length, is: is, on: on, kept: stored.Length}
		}
		return nil
	})
	return t
}

// keepTalks stores what was read of long conversations. The log's lock is held. An error is dropped: they are read
// again.
func (h *talkReader) keepTalks(ctx context.Context) {
	k := &h.talks
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.learnt) == 0 {
		return
	}
	defer clear(k.learnt)
	if k.rewrites != h.log.Rewrites() || h.log.Damage() != nil || h.log.CheckWhole() != nil {
		return
	}
	b := h.log.DB.NewBatch()
	defer b.Close() //nolint:errcheck // after a commit there is nothing to close
	for name, t := range k.learnt {
		if now, _ := k.newest.Get(name); now != t || h.log.Session(name) == nil || h.log.Session(name).Purged {
			continue // it is being read on
		}
		state := t.on.State()
		if state == nil || len(state) > maxState {
			continue
		}
		stored := model.Talk{Read: transcript.ReadingVersion, Transcript: t.said, Length: t.size, State: string(state)}
		if b.Set(model.TalkKey(name), stored.Encode()) != nil {
			return
		}
		t.kept = t.size
	}
	if from, to := model.OldTalks(); b.DeleteRange(from, to) == nil {
		_ = b.Commit(ctx, kv.Written)
	}
}

// readOn reads a transcript: of one that begins with was the rest.
func (h *talkReader) readOn(s *model.Session, said objstore.ID, was *talk) (*talk, error) {
	st, err := conversation.OpenEnd(h.log.Objs, said)
	if err != nil {
		return nil, err
	}
	t := &talk{said: said, size: st.Size}
	if was != nil {
		if _, begins, err := st.BeginsWith(was.said); err == nil && begins {
			t.on, t.kept = was.on, was.kept
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
func (h *talkReader) turnsTo(s *model.Session, said objstore.ID) ([]transcript.Turn, error) {
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
func (h *talkReader) turnsIn(s *model.Session, said objstore.ID) (int, error) {
	turns, err := h.turnsTo(s, said)
	return len(turns), err
}

// hasCall reports whether a transcript has a call, whose hook came when the conversation ended at a place in it.
func (h *talkReader) hasCall(s *model.Session, said objstore.ID, at int64, call string) (bool, error) {
	if said.IsZero() {
		return false, nil
	}
	k, key := &h.talks, lack{said, at, call}
	k.mu.Lock()
	k.begin(h.log.Rewrites())
	lacks := k.lacks
	_, not := lacks.Get(key)
	k.mu.Unlock()
	if not {
		return false, nil
	}
	st, err := conversation.OpenEnd(h.log.Objs, said)
	if err != nil {
		return false, err
	}
	has, err := transcript.HasCall(s.Agent, sourceOf(s, st), at, callNear, call)
	if err == nil && !has {
		k.mu.Lock()
		defer k.mu.Unlock()
		lacks.Put(key, struct{}{})
	}
	return has, err
}
