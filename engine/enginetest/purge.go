package enginetest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/objstore/objtest"
)

// pieces of a secret: a file that has a piece has not forgotten it.
func pieces(secret string) (out [][]byte) {
	for i := 0; i+24 <= len(secret); i += 24 + len(secret)/24 {
		out = append(out, []byte(secret[i:i+24]))
	}
	return out
}

// Holding lists where a secret is: in which bytes of which file of the store, of rewind's home and of the project's
// marker, and, as far as these are compressed, in which stored values.
func (p *Project) Holding(secret string) (found []string) {
	p.T.Helper()
	h := purge.NewHaystack(pieces(secret))
	p.eachStoreFile(p.E.Log.Project.Store, func(path string, b []byte) {
		if h.In(b) {
			found = append(found, path)
		}
	})
	for _, dir := range []string{p.Home.Dir, p.Path(project.MarkerDir)} {
		p.Must(filepath.WalkDir(dir, func(path string, ent fs.DirEntry, err error) error {
			if err != nil || !ent.Type().IsRegular() {
				return err
			}
			if b, err := os.ReadFile(path); err != nil || h.In(b) {
				found = append(found, path)
			}
			return nil
		}))
	}
	p.Must(p.E.Log.DB.Scan(kv.Range{}, func(key, val []byte) error {
		if h.In(key) || h.In(val) {
			found = append(found, fmt.Sprintf("key %.20q", key))
		}
		return nil
	}))
	for _, k := range objtest.Kinds() {
		p.Must(p.E.Log.Objs.Keys(Bg, k, func(key objstore.Key, _ objstore.Info) error {
			id, err := p.E.Log.Objs.IDOf(k, key)
			var raw []byte
			if err == nil {
				raw, err = p.E.Log.Objs.Get(k, id)
			}
			if h.In(raw) {
				found = append(found, fmt.Sprintf("%s %s", k, key.Short()))
			}
			return err
		}))
	}
	return found
}

func (p *Project) eachStoreFile(dir string, fn func(path string, b []byte)) {
	names, err := p.FS.List(dir)
	p.Must(err)
	for _, name := range names {
		path := p.FS.PathJoin(dir, name)
		info, err := p.FS.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		p.Must(err)
		if info.IsDir() {
			p.eachStoreFile(path, fn)
			continue
		}
		f, err := p.FS.Open(path)
		if errors.Is(err, fs.ErrNotExist) { // the database has just taken it away
			continue
		}
		p.Must(err)
		b, err := io.ReadAll(f)
		p.Must(errors.Join(err, f.Close()))
		fn(path, b)
	}
}

// Purge purges, and fails the test if that fails.
func (p *Project) Purge(o purge.Options) *value.Purged {
	p.T.Helper()
	r, err := p.E.Purger.Purge(Bg, o)
	if err != nil {
		p.T.Fatalf("purge: %v", err)
	}
	return r
}
