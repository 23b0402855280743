package conversation

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/hooks"
	"rewind/internal/clients"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// Import captures those of the agents' sessions of this project that are not known yet, so that they can be cloned and
// forked; code of that time is not captured. A file that cannot be read is in Failed or Passed and stops no other. p
// gets the number of sessions and of bytes so far.
func (cs *Conversations) Import(ctx context.Context, env value.AgentEnv, p model.Progress) (*model.Imported, error) {
	defer cs.log.Hold()()
	if err := cs.ReadySessions(); err != nil {
		return nil, err
	}
	res := &model.Imported{}
	var bytes int64
	for _, agent := range value.Agents() {
		root := clients.Root(env, agent)
		if _, err := os.Stat(root); root == "" || err != nil {
			continue
		}
		paths, passed, err := transcript.Find(agent, unpackedFS{os.DirFS(root)}, cs.log.Project.Root)
		if err != nil {
			res.Failed = append(res.Failed, err)
			continue
		}
		for _, p := range passed {
			why := &value.OpError{Op: "import", Subject: filepath.Join(root, filepath.FromSlash(p.Path)), Err: register.PathCause(p.Why)}
			switch {
			case errors.Is(p.Why, transcript.ErrLink), errors.Is(p.Why, transcript.ErrNoFile),
				errors.Is(p.Why, transcript.ErrNothing), errors.Is(p.Why, transcript.ErrNowhere):
				res.Passed = append(res.Passed, why)
			default:
				res.Failed = append(res.Failed, why)
			}
		}
		for _, rel := range paths {
			if err := ctx.Err(); err != nil {
				return res, err
			}
			s, err := cs.importSession(ctx, agent, filepath.Join(root, filepath.FromSlash(rel)))
			if err != nil {
				res.Failed = append(res.Failed, err)
				continue
			}
			if s == nil {
				continue
			}
			res.Sessions = append(res.Sessions, s.Name)
			bytes += s.Cursor.Length
			if p != nil {
				p(len(res.Sessions), bytes)
			}
		}
	}
	cs.resolveOrigins(ctx)
	return res, nil
}

// importSession captures one session file; nil: the session is known already.
func (cs *Conversations) importSession(
	ctx context.Context, agent transcript.Agent, path string,
) (*model.Session, error) {
	_, id, err := transcript.SessionFile(agent, path)
	if err != nil {
		return nil, err
	}
	if id != "" && cs.log.Session(string(agent)+"/"+id) != nil {
		return nil, nil
	}
	f, err := OpenSession(agent, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &model.Session{Agent: agent, Transcript: strings.TrimSuffix(path, zstdSuffix), Imported: true, Ended: true}
	c := cs.log.Begin()
	tx := c.Tx
	if s.Cursor, err = cs.advance(tx, s, f, maxSession); err == nil {
		err = cs.fillFromTranscript(tx, s, id)
	}
	if err != nil {
		tx.Discard()
		if errors.Is(err, ErrMoving) {
			err = &value.OpError{Op: "import", Subject: path, Err: err}
		}
		return nil, err
	}
	if cs.log.Session(s.Name) != nil {
		tx.Discard()
		return nil, nil
	}
	c.SetSession(s)
	_, err = c.Commit(ctx, kv.Written, func(seq uint64) (refs.Operation, []refs.Update, error) {
		s.Began = seq
		op := refs.Operation{
			Kind: refs.KindImport, Time: cs.log.Now().UnixMilli(), Session: s.Name, Message: path,
			Transcript: s.Cursor.Transcript, Turn: s.Turn,
		}
		return op, nil, nil
	})
	if err != nil {
		return nil, err
	}
	cs.saw(s.Name, f, s.Cursor.TranscriptEnd)
	return s, nil
}

// fillFromTranscript sets the name, the times, the turn and the lineage of a session from its captured transcript.
// named is the id in the file's name.
func (cs *Conversations) fillFromTranscript(tx *objstore.Tx, s *model.Session, named string) error {
	agent := s.Agent
	st, err := OpenTranscript(tx, s.Cursor.Transcript)
	if err != nil {
		return err
	}
	of := transcript.Source{ReaderAt: st, Size: st.Size, Name: s.Transcript, Ended: true}
	all, err := transcript.Scan(agent, of)
	if err != nil {
		return err
	}
	own := all
	if base := s.Cursor.Base; base > 0 { // the records in front are another session's
		of.ReaderAt, of.Size = io.NewSectionReader(st, base, st.Size-base), st.Size-base
		if own, err = transcript.Scan(agent, of); err != nil {
			return err
		}
	}
	id := named
	if agent != transcript.Claude || id == "" { // other agents' ids are those in the file
		id = own.ID
	}
	if !transcript.ValidID(id) {
		return &value.OpError{Op: "import", Subject: s.Transcript, Err: model.Usagef("no id of a session in it")}
	}
	s.Name, s.ID, s.Cwd = model.SessionName(hooks.Event{Agent: s.Agent, Session: id}), id, own.Cwd
	s.First, s.Last, s.Turn = all.First, all.New, uint64(len(all.Turns))
	if cs.log.Config.Detects() && own.Parent.Session != "" && own.Parent.Session != id {
		s.Fork = model.MadeByAgent(agent, own.Parent, own.First)
	}
	return nil
}

// unpackedFS reads files that an agent has compressed as they were before.
type unpackedFS struct{ fs.FS }

// Open implements fs.FS.
func (u unpackedFS) Open(name string) (fs.File, error) {
	f, err := u.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, zstdSuffix) {
		return f, err
	}
	r, err := objstore.NewZstdReader(f)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &unpackedFile{f, r}, nil
}

// Lstat implements fs.ReadLinkFS.
func (u unpackedFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(u.FS, name) }

// ReadLink implements fs.ReadLinkFS.
func (u unpackedFS) ReadLink(name string) (string, error) { return fs.ReadLink(u.FS, name) }

// unpackedFile decompresses a file while it is read.
type unpackedFile struct {
	f fs.File
	r io.ReadCloser
}

func (u *unpackedFile) Read(p []byte) (int, error) { return u.r.Read(p) }

func (u *unpackedFile) Stat() (fs.FileInfo, error) { return u.f.Stat() }

func (u *unpackedFile) Close() error { return errors.Join(u.r.Close(), u.f.Close()) }
