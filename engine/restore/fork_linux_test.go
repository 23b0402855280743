package restore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/transcript"
)

// held are the session files of a project that this process has open.
func held(p *enginetest.Project) (list []string) {
	p.T.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	p.Must(err)
	for _, e := range all {
		path, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err == nil && strings.HasPrefix(path, p.User()+"/") {
			list = append(list, path)
		}
	}
	return list
}

// No session file stays open, whatever comes of a fork or a restore: a daemon would run out of files, and a client
// would count as running on it.
func TestNoSessionFileStaysOpen(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	elsewhere := restore.Options{Env: value.AgentEnv{Home: value.Text(t.TempDir())}}
	of := func(set func(o *restore.Options)) restore.Options {
		o := restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: k.Name()}}
		set(&o)
		return o
	}
	dry := of(func(o *restore.Options) { o.DryRun = true })
	cut := of(func(o *restore.Options) { o.DryRun, o.InPlace = true, true })
	plain := of(func(*restore.Options) {})
	forks := func(name string, o restore.Options) func() error {
		return func() error { _, err := p.E.Restorer.Fork(enginetest.Bg, name, o); return err }
	}
	goes := func(name string, o restore.Options) func() error {
		return func() error { _, err := p.E.Restorer.Checkout(enginetest.Bg, name, o); return err }
	}
	rewritten := func(do func() error) func() error {
		return func() error {
			was := p.Slurp(k.File)
			p.Must(os.WriteFile(k.File, []byte(strings.Replace(was, "one", "two", 1)), 0o600))
			defer func() { p.Must(os.WriteFile(k.File, []byte(was), 0o600)) }()
			return do()
		}
	}
	for name, c := range map[string]struct {
		do    func() error
		fails bool
	}{
		"a fork":                {forks("turn:1", plain), false},
		"a dry run":             {forks("turn:1", dry), false},
		"one that is tried":     {forks("turn:1", of(func(o *restore.Options) { o.SelfTest = true })), false},
		"of a file that is new": {rewritten(forks("turn:1", dry)), false},
		"in no folder of his":   {forks("turn:1", elsewhere), true},
		"a checkout, dry":       {goes("turn:1", dry), false},
		"a cut, dry":            {goes("turn:1", cut), false},
		"a checkout elsewhere":  {goes("turn:1", elsewhere), false},
		"the same, alone": {goes("turn:1", restore.Options{
			Env: elsewhere.Env, Session: plain.Session, Scope: refs.Scope{ContextOnly: true},
		}), true},
	} {
		if err := c.do(); (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if list := held(p); len(list) > 0 {
			t.Errorf("%s: %q is open", name, list)
		}
	}
	p.Write("f", "unsaved")
	if p.Fork("@", plain); len(held(p)) > 0 {
		t.Errorf("with what is unsaved: %q is open", held(p))
	}
	for n, tt := range agentSamples {
		if tt.agent == transcript.Gemini && strings.HasSuffix(tt.file, ".json") {
			d := newSampled(t, n)
			d.stop()
			if d.Fork("turn:1", restore.Options{}); len(held(d.Project)) > 0 {
				t.Errorf("of a document: %q is open", held(d.Project))
			}
		}
	}
}
