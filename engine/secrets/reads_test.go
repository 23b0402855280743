package secrets_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/project"
	"rewind/engine/secrets"
	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/tree"
)

// saidMark is the key of how far conversations were looked at.
var saidMark = []byte{kv.PrefixLeak, 's'}

// told is what the room tells of contents and of conversations, as text: what the store has of it.
func told(p *enginetest.Project) (string, error) {
	p.E.Leaks.Forget()
	cp, err := p.E.History.Resolve("@")
	if err != nil {
		return "", err
	}
	files, err := p.E.Leaks.Leaks(cp.Tree)
	if err != nil {
		return "", err
	}
	said, err := p.E.Leaks.Said()
	if err != nil {
		return "", err
	}
	at, err := p.E.Leaks.ReadLeakCursor()
	return fmt.Sprintln(files, said, at.Done, at.Tree), err
}

// failing is a project in whose files and conversations secrets were captured, two that were not looked at yet.
func failing(t *testing.T) (*enginetest.Project, *enginetest.Talker) {
	t.Helper()
	p, k := spoken(t)
	p.Write("prod.env", "TOKEN="+token(6))
	p.Write("d/other", "TOKEN="+token(7))
	p.Save("one")
	lookForSecrets(p)
	p.Write("d/other", "none\n\nTOKEN="+token(8))
	p.Write("prod.env", "none")
	p.Save("two")
	k.Take("more "+token(9), nil)
	p.Settle()
	return p, k
}

// TestLookWhileReadsFail: a look at contents and conversations of which a read of the store fails flags all the same,
// or fails and is done by the next one.
func TestLookWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, _ := failing(t)
	rules, err := leaks.New()
	p.Must(err)
	look := func(what string, tell func(q *enginetest.Project) (string, error)) {
		p.ReadFails(what, torture.Points(60, math.MaxInt32), func(q *enginetest.Project) (string, error) {
			q.E.Leaks.Scan.Scanner = rules // to read them takes longer than all else
			q.E.Leaks.Forget()
			if err := q.E.Leaks.ScanForSecrets(enginetest.Bg, false); err != nil {
				return "", err
			}
			return tell(q)
		})
	}
	look("a look", told)
	put(p, map[string][]byte{string(secrets.LeakMarkKey): nil, string(saidMark): nil})
	look("a look anew", told)
	forgotten := map[string][]byte{}
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: secrets.LeakMarkKey}, func(key, _ []byte) error {
		forgotten[string(key)] = nil
		return nil
	}))
	put(p, forgotten)
	look("the first look", told)
	// Files that were left out are looked at, too: one has no secret any more.
	p.Set("secrets.mode", project.SecretsSkip)
	lookForSecrets(p)
	p.Write("d/other", "none")
	look("a look at files", func(q *enginetest.Project) (string, error) {
		q.E.Leaks.Forget()
		secret, err := q.E.Leaks.SecretFiles()
		if err != nil {
			return "", err
		}
		return fmt.Sprint(secret("prod.env"), secret("d/other")), nil
	})
}

// TestFirstLookWhileReadsFail: so does a look at contents that were never looked at.
func TestFirstLookWhileReadsFail(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	for n, name := range []string{"prod.env", "d/other", "d/none", "e/copy"} {
		p.Write(name, []string{"TOKEN=" + token(0), "TOKEN=" + token(1), "none", "TOKEN=" + token(0)}[n])
		if n > 0 {
			p.Save(name)
		}
	}
	rules, err := leaks.New()
	p.Must(err)
	p.ReadFails("the first look", math.MaxInt32, func(q *enginetest.Project) (string, error) {
		q.E.Leaks.Scan.Scanner = rules
		if err := q.E.Leaks.ScanForSecrets(enginetest.Bg, false); err != nil {
			return "", err
		}
		return told(q)
	})
}

// TestListsWhileReadsFail: a list of what looks like a secret is whole, or an error.
func TestListsWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := failing(t)
	lookForSecrets(p)
	said, err := p.E.Leaks.Said()
	p.Must(err)
	list := p.Listed()
	one := slices.IndexFunc(list, func(l history.Listed) bool { return l.Cause.Message == "one" })
	changes := func(q *enginetest.Project) (all []tree.Change, err error) {
		err = tree.Diff(q.E.Log.Objs, list[one+1].Tree, list[one].Tree, func(ch tree.Change) error {
			all = append(all, ch)
			return nil
		})
		return all, err
	}
	asks := map[string]func(q *enginetest.Project) (string, error){
		"all": told,
		"a turn": func(q *enginetest.Project) (string, error) {
			list, err := q.E.Leaks.SaidIn(k.Name(), 3)
			return fmt.Sprint(list), err
		},
		"a session": func(q *enginetest.Project) (string, error) {
			list, err := q.E.Leaks.SaidBy(k.Name(), 0, said[0].Operation)
			return fmt.Sprint(list), err
		},
		"a secret": func(q *enginetest.Project) (string, error) {
			return q.E.Leaks.SaidSecret(enginetest.Bg, said[len(said)-1].Found)
		},
		"a step": func(q *enginetest.Project) (string, error) {
			brought, err := changes(q)
			var list []value.Leak
			if err == nil {
				list, err = q.E.Leaks.Added(enginetest.Bg, brought, nil)
			}
			return fmt.Sprint(list), err
		},
	}
	for name, ask := range asks {
		p.ReadFails(name, math.MaxInt32, ask)
	}
}
