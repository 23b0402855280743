package history

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Left is how many sessions a list leaves out.
type Left struct {
	Hidden int // archived and deleted ones
	Older  int // than those up to the limit
}

// SessionList lists the sessions of agents, the one with the newest event first: at most limit (0: all), and with all
// archived and deleted ones, too.
func (h *forkReader) SessionList(
	ctx context.Context, all bool, limit int,
) (list []model.SessionInfo, left Left, err error) {
	defer h.log.Hold()()
	n := 0
	list, err = h.sessionList(ctx, func(info *model.SessionInfo) bool {
		switch {
		case !all && info.Hidden():
			left.Hidden++
		case limit > 0 && n == limit:
			left.Older++
		default:
			n++
			return true
		}
		return false
	})
	return list, left, err
}

// sessionList is SessionList for those that want says; the log's lock is held. Of what want is given only the record is
// there, whether an agent is at it, and, of a deleted one, whether its file is missing. A session that a fork made, and
// whose file went away before anybody opened it, is none.
func (h *forkReader) sessionList(ctx context.Context, want func(*model.SessionInfo) bool) ([]model.SessionInfo, error) {
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	at, err := h.sessions.Position()
	if err == nil {
		err = h.loadKnown()
	}
	if err != nil {
		return nil, err
	}
	newest, err := h.newestSteps()
	if err != nil {
		return nil, err
	}
	var list []model.SessionInfo
	for _, s := range h.log.ListSessions() {
		if h.Unseen(&s) {
			continue
		}
		info := model.SessionInfo{
			Session: s, Title: s.Title, Current: s.Name == at.Session, Imported: s.Imported, Problem: s.Problem,
		}
		info.Running = h.sessions.OpenIn(&s, h.log.Processes()) != ""
		info.Missing = s.Standing == value.Deleted && sessions.FileMissing(&s)
		if !want(&info) {
			continue
		}
		info.Loss = h.toldLoss(&s)
		if tip := newest[refs.Session(s.Name)]; !tip.IsZero() && !s.Imported {
			info.Newest = tip.String()
		}
		list = append(list, info)
	}
	h.catchUpLong(ctx, list)
	err = h.readAll(ctx, list)
	h.keepKnown(ctx)
	h.keepTalks(ctx)
	for i := range list {
		if info := &list[i]; info.Fork != nil {
			h.resolveFork(ctx, info)
		}
	}
	return list, err
}

// newestSteps are the newest steps of sessions, by the names of their refs.
func (h *forkReader) newestSteps() (map[refs.Name]objstore.ID, error) {
	tips, err := h.log.Refs.List(refs.Sessions)
	newest := make(map[refs.Name]objstore.ID, len(tips))
	for _, tip := range tips {
		newest[tip.Name] = tip.ID
	}
	return newest, err
}

// resolveFork completes what is known of where a fork came from.
func (h *forkReader) resolveFork(ctx context.Context, info *model.SessionInfo) {
	if !info.Fork.Resolved() {
		h.conversations.ResolveOrigin(ctx, info.Name)
		if s := h.log.Session(info.Name); s.Fork.Resolved() {
			info.Fork = s.Fork
		}
	}
	info.Fork = h.completed(ctx, info.Name, *info.Fork)
}

// toldLoss is what an agent has lost of a session, unless a person has put that away.
func (h *talkReader) toldLoss(s *model.Session) value.Loss {
	if s.Away() {
		return value.NoLoss
	}
	loss, _ := h.conversations.Loss(s)
	return loss
}

// catchUpLong captures what has come of long conversations, so that only that is read. The log's lock is held.
func (h *talkReader) catchUpLong(ctx context.Context, list []model.SessionInfo) {
	if h.log.CheckWhole() != nil || h.log.Damage() != nil {
		return
	}
	for i := range list {
		s := &list[i].Session
		if s.Cursor.Length < longTalk || s.Cursor.Path != s.Transcript || s.Cursor.Base > 0 {
			continue
		}
		at, err := sessions.StatSession(s)
		if err == nil && at.Size() >= s.Cursor.Length && !h.known.of(s.Name).Is(s.Transcript, osfile.StampOf(at), objstore.ID{}) &&
			h.CatchUp(ctx, s.Name) == nil {
			list[i].Session = *h.log.Session(s.Name)
		}
	}
}

// Unseen reports whether a session is none that a person knows of: only opened, or made by a restore or a fork and
// taken away again.
func (h *talkReader) Unseen(s *model.Session) bool {
	return (s.Fork != nil && s.Fork.Kind != model.ByAgent && s.Event == "" || s.Turn == 0 && s.Cursor.Transcript.IsZero()) &&
		model.Understood(s.Agent) && sessions.FileMissing(s)
}

// readAll reads what the conversations of sessions say, several at a time: the files where they are there, for they are
// the newest.
func (h *forkReader) readAll(ctx context.Context, list []model.SessionInfo) error {
	next := make(chan *model.SessionInfo)
	var wg sync.WaitGroup
	for range min(len(list), max(2, runtime.GOMAXPROCS(0))) {
		wg.Go(func() {
			for info := range next {
				fi, err := sessions.StatSession(&info.Session)
				if err != nil {
					fi, info.Missing = nil, model.Understood(info.Agent)
				}
				if err := h.readInfo(info, fi); err != nil {
					info.Problem = err.Error()
				}
			}
		})
	}
	for i := range list {
		if ctx.Err() == nil {
			next <- &list[i]
		}
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// readInfo completes info by what the session's file says, at as it was looked at; nil: it is missing.
func (h *talkReader) readInfo(info *model.SessionInfo, at fs.FileInfo) error {
	if !model.Understood(info.Agent) {
		return nil
	}
	c, err := h.know(&info.Session, at)
	if err != nil || c == nil {
		return err
	}
	info.Turns, info.Messages, info.Bytes = c.Turns, c.Messages, c.Bytes
	if c.Title != "" && (info.Agent != transcript.Codex || info.Title == "") {
		info.Title = c.Title
	}
	if info.Fork == nil && h.log.Config.Detects() && c.Parent.Session != "" && c.Parent.Session != info.ID {
		info.Fork = model.MadeByAgent(info.Agent, c.Parent, c.First)
	}
	return nil
}

// Forks lists the forks, newest first, each with all that it comes from; name limits it to one, of which git is asked,
// too, where no code was captured. A fork that an agent made by itself is one.
func (h *forkReader) Forks(ctx context.Context, _ value.AgentEnv, name string) ([]model.ForkInfo, error) {
	list, err := h.knownForks(ctx, name)
	if err != nil || name == "" {
		return list, err
	}
	if f := &list[0]; len(f.Lineage) > 0 { // else it names itself
		h.commitsThen(f.Lineage)
		f.Fork = &f.Lineage[0]
	}
	return list, nil
}

// forksWith are a session, if it is a fork, and the branches within it; from is what each session was made of.
func (h *forkReader) forksWith(s *model.SessionInfo, from map[string]*model.Lineage) (list []model.ForkInfo) {
	var before []model.Lineage
	seen := []string{s.Name}
	for l := s.Fork; l != nil && !slices.Contains(seen, l.Session); l = from[l.Session] {
		before = append(before, *l)
		seen = append(seen, l.Session)
	}
	if s.Fork != nil {
		own := max(s.Turns+s.Fork.Unsaid-s.Fork.Both, 0)
		list = append(list, model.ForkInfo{SessionInfo: *s, Own: own, Branch: s.Name, Lineage: before})
	}
	ways := h.ways(&s.Session)
	for k := range ways {
		list = append(list, h.wayInfo(s, ways, &ways[k], before))
	}
	return list
}

// knownForks is Forks without git.
func (h *forkReader) knownForks(ctx context.Context, name string) ([]model.ForkInfo, error) {
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	only, err := h.Way(ctx, name)
	if err == nil && name != "" && only == "" {
		only, err = h.sessions.FindSession(name)
	}
	if err != nil {
		return nil, err
	}
	all, err := h.sessionList(ctx, func(*model.SessionInfo) bool { return true })
	if err != nil {
		return nil, err
	}
	from := map[string]*model.Lineage{}
	for _, s := range all {
		from[s.Name] = s.Fork
	}
	var out []model.ForkInfo
	for i := range all {
		for _, f := range h.forksWith(&all[i], from) {
			if only == "" || f.Branch == only {
				out = append(out, f)
			}
		}
	}
	if only != "" && len(out) == 0 {
		return nil, &value.OpError{Op: "session", Subject: only, Err: fmt.Errorf("%w: it is no fork", model.ErrNotFound)}
	}
	return out, nil
}
