package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/project"
	"rewind/engine/secrets"
	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// saidMark is the key of how far conversations were looked at.
var saidMark = []byte{kv.PrefixLeak, 's'}

// told is what the room tells of contents and of conversations, and what the store has of it but how far it got: that
// is not written down each time.
func told(p *enginetest.Project) (string, error) {
	p.E.Leaks.Forget()
	text, err := lists(p)
	if err != nil {
		return "", err
	}
	err = p.E.Log.DB.Scan(kv.Range{Prefix: secrets.LeakMarkKey}, func(key, val []byte) error {
		if len(key) > len(saidMark) {
			text += fmt.Sprintf("%q %q\n", key, val)
		}
		return nil
	})
	return text, err
}

// lists is what the room tells.
func lists(p *enginetest.Project) (string, error) {
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
	secret, err := p.E.Leaks.SecretFiles()
	if err != nil {
		return "", err
	}
	at, err := p.E.Leaks.ReadLeakCursor()
	return fmt.Sprintln(files, said, secret("prod.env"), secret("d/other"), at), err
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
	look := func(what string, most int) {
		p.ReadFails(what, most, func(q *enginetest.Project) (string, error) {
			q.E.Leaks.Scan.Scanner = rules // to read them takes longer than all else
			q.E.Leaks.Forget()
			if err := q.E.Leaks.ScanForSecrets(enginetest.Bg, false); err != nil {
				return "", err
			}
			return told(q)
		})
	}
	look("a look", math.MaxInt32)
	put(p, map[string][]byte{string(secrets.LeakMarkKey): nil, string(saidMark): nil})
	look("a look anew", 30)
	forgotten := map[string][]byte{}
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: secrets.LeakMarkKey}, func(key, _ []byte) error {
		forgotten[string(key)] = nil
		return nil
	}))
	put(p, forgotten)
	look("the first look", math.MaxInt32)
	// Files that were left out are looked at, too: one has no secret any more.
	p.Set("secrets.mode", project.SecretsSkip)
	lookForSecrets(p)
	p.Write("d/other", "none")
	look("a look at files", math.MaxInt32)
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

// TestLookEnded: a look that is ended at any point says that it was, and the process knows then what the store has. The
// next one ends with what one has that was not ended.
func TestLookEnded(t *testing.T) {
	t.Parallel()
	rules, err := leaks.New()
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, p *enginetest.Project, between int) {
		disk := p.FS.Clone(100, 1)
		// ended gives how often the look asked whether it is ended, and what is known when it was looked at all.
		ended := func(after int) (int, string) {
			q := p.Copied(disk, nil)
			defer q.Close()
			q.E.Leaks.Scan.Scanner = rules
			ctx := &stopAfter{Context: enginetest.Bg, left: after}
			err := q.E.Leaks.ScanForSecrets(ctx, false)
			if (ctx.left < 0) != errors.Is(err, context.Canceled) || ctx.left >= 0 && err != nil {
				t.Fatalf("%s, ended at %d: %v", what, after, err)
			}
			known, err := lists(q)
			p.Must(err)
			q.E.Leaks.Forget()
			stored, err := lists(q)
			if p.Must(err); known != stored {
				t.Fatalf("%s, ended at %d: it knows\n%s\nand the store has\n%s", what, after, known, stored)
			}
			lookForSecrets(q)
			text, err := told(q)
			p.Must(err)
			return after - ctx.left, text
		}
		asked, want := ended(math.MaxInt32)
		for at := 0; at < asked; at++ {
			if at%between != 0 && at < asked-5 {
				continue // the rules are asked
			}
			if _, got := ended(at); got != want {
				t.Fatalf("%s, ended at %d of %d:\n%s\nwant\n%s", what, at, asked, got, want)
			}
		}
	}
	// Files that no rule is asked about, and flags of other rules.
	p := enginetest.NewProject(t)
	other := map[string][]byte{}
	for _, name := range []string{"d/other", "prod.env"} {
		p.Write(name, "\x00"+name)
		flag := secrets.LeakFlag{Paths: []string{name}, Findings: []value.Finding{{Rule: "r", Line: 1}}}
		if name == "prod.env" {
			flag.Paths = append(flag.Paths, "two")
		}
		other[string(secrets.LeakKey(objstore.Sum(objstore.Blob, []byte("\x00"+name)).Key()))] = flag.Encode()
	}
	p.Save("one")
	p.Set("secrets.mode", project.SecretsSkip)
	put(p, other)
	look("files", p, 1)
	talks := enginetest.NewProject(t)
	talks.Save("one")
	taken(talks, "claude/1", spokenLine(token(1))+spokenLine("none"))
	taken(talks, "claude/1", spokenLine(token(1))+spokenLine("none")+spokenLine(token(2)))
	look("conversations", talks, 61)
}

// TestLookTellsOfReads: a look that cannot read how far it got, or what came since, says so: it does not begin as if
// nothing was known.
func TestLookTellsOfReads(t *testing.T) {
	t.Parallel()
	p, _ := failing(t)
	disk := p.FS.Clone(100, 1)
	for fail := 1; fail <= 10; fail++ {
		n := -fail - 1<<20 // while nothing is looked at
		q := p.Copied(disk, func() error {
			if n++; n == 0 {
				return syscall.EIO
			}
			return nil
		})
		n = -fail
		if err := q.E.Leaks.ScanForSecrets(enginetest.Bg, false); !errors.Is(err, syscall.EIO) {
			t.Errorf("read %d fails: %v", fail, err)
		}
		q.Close()
	}
}

// TestLookAtWhatMayOnlyBeRead: a look at a store that may only be read fails, and the process knows what the store has.
func TestLookAtWhatMayOnlyBeRead(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("a", "TOKEN="+token(1))
	p.Save("one")
	disk := p.FS.Clone(100, 1)
	q := *p
	q.FS = disk
	var err error
	q.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: disk, ReadOnly: true}})
	p.Must(err)
	defer q.Close()
	if err := q.E.Leaks.ScanForSecrets(enginetest.Bg, false); !errors.Is(err, kv.ErrReadOnly) {
		t.Errorf("a look: %v", err)
	}
	if list, err := q.E.Leaks.Leaks(objstore.ID{}); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestLookReadsOnlyWhatIsAskedAbout: what is empty, too large or allowed is not read.
func TestLookReadsOnlyWhatIsAskedAbout(t *testing.T) {
	t.Parallel()
	reads := func(name, content string) (n int) {
		p := enginetest.NewProject(t)
		p.Set("secrets.allow", "allowed")
		p.Write(name, content)
		p.Save("one")
		q := p.Copied(p.FS.Clone(100, 1), func() error { n++; return nil })
		defer q.Close()
		n = 0
		lookForSecrets(q)
		return n
	}
	read := reads("f", "content")
	for _, c := range []struct {
		name, content string
		read          bool
	}{
		{"f", "c", true},
		{"f", "", false},
		{"f", strings.Repeat("\n", leaks.MaxSize+1), false},
		{"allowed", "content", false},
	} {
		if n := reads(c.name, c.content); (n == read) != c.read || n > read {
			t.Errorf("%s of %d bytes: %d reads, and %d where it is read", c.name, len(c.content), n, read)
		}
	}
}
