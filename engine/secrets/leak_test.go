package secrets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/secrets"
	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/record/recordtest"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// token is made when a test runs: nothing in this repository looks like a secret.
func token(n int) string {
	const from = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	r := rand.New(rand.NewPCG(3, uint64(n)))
	b := []byte("gh" + "p_")
	for range 36 {
		b = append(b, from[r.IntN(len(from))])
	}
	return string(b)
}

func lookForSecrets(p *enginetest.Project) {
	p.T.Helper()
	p.Must(p.E.Leaks.ScanForSecrets(enginetest.Bg, false))
}

// leaks is what status tells, a line each.
func leaksOf(p *enginetest.Project) string {
	p.T.Helper()
	s, err := p.E.Status(enginetest.Bg, nil)
	p.Must(err)
	var out []string
	for _, l := range s.Leaks {
		line := fmt.Sprintf("%s %s:%d", l.Path, l.Findings[0].Rule, l.Findings[0].Line)
		if l.Contents > 1 {
			line += fmt.Sprintf(" x%d", l.Contents)
		}
		if l.Skipped {
			line += " skipped"
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

func wantLeaks(p *enginetest.Project, want string) {
	p.T.Helper()
	if got := leaksOf(p); got != want {
		p.T.Fatalf("flagged: %q, want %q", got, want)
	}
}

func TestPromise15ContentThatLooksLikeASecret(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("prod.env", "A=1\nTOKEN="+token(1)+"\n")
	p.Write("src/auth.json", `{"t": "`+token(2)+`"}`)
	p.Write("go.sum", "x "+token(3))
	p.Write("main.go", "package main // the token is read from a file\n")
	p.Write("bin", "\x00"+token(4))
	p.Write("large", token(5)+strings.Repeat("\n", leaks.MaxSize))
	first := p.Save("one")
	wantLeaks(p, "") // not looked at yet: a save does not wait for it
	lookForSecrets(p)
	wantLeaks(p, "prod.env github-pat:2, src/auth.json github-pat:1")

	shown, err := p.E.History.Show(enginetest.Bg, first.ID.String(), nil)
	p.Must(err)
	if len(shown.Leaks) != 2 || shown.Leaks[0].Path != "prod.env" || shown.Leaks[0].Checkpoint != first.ID.String() {
		t.Errorf("show: %+v", shown.Leaks)
	}
	// No key nor value of a flag has any of it.
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: secrets.LeakMarkKey}, func(key, val []byte) error {
		for _, s := range []string{token(1), token(2), token(1)[4:20]} {
			if strings.Contains(string(key)+string(val), s) {
				t.Errorf("a flag has the secret: %q %q", key, val)
			}
		}
		return nil
	}))

	// Clean since: the content before is in the store all the same.
	p.Write("prod.env", "A=1\nTOKEN=$TOKEN\n")
	p.Save("two")
	lookForSecrets(p)
	wantLeaks(p, "prod.env github-pat:2, src/auth.json github-pat:1")
	p.Write("prod.env", "\n\n\n\nTOKEN="+token(7)+"\n")
	p.Save("three")
	lookForSecrets(p)
	wantLeaks(p, "prod.env github-pat:5 x2, src/auth.json github-pat:1")

	p.Purge(purge.Options{Paths: []string{"prod.env"}})
	wantLeaks(p, "src/auth.json github-pat:1")
	p.Set("secrets.allow", "src/*.json")
	wantLeaks(p, "")
	p.Set("secrets.allow")
	p.Set("secrets.mode", project.SecretsOff)
	wantLeaks(p, "")
	p.Set("secrets.mode", project.SecretsFlag)
	wantLeaks(p, "src/auth.json github-pat:1")
}

// TestLookPassesAllowed: of what is allowed nothing is written down, and of a content whose other path is not it is.
func TestLookPassesAllowed(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Set("secrets.allow", "allowed*")
	p.Write("allowed", "TOKEN="+token(1)+"\n")
	p.Write("allowed too", "TOKEN="+token(2)+"\n")
	p.Write("other", "TOKEN="+token(2)+"\n")
	p.Write("large", token(5)+strings.Repeat("\n", leaks.MaxSize-len(token(5)))) // as large as one that is looked at
	p.Save("one")
	lookForSecrets(p)
	wantLeaks(p, "large github-pat:1, other github-pat:1")
	p.Set("secrets.allow")
	wantLeaks(p, "large github-pat:1, other github-pat:1")
}

func TestLookForSecretsOff(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("secrets.mode", project.SecretsOff)
	p.Write("prod.env", "TOKEN="+token(1)+"\n")
	p.Save("one")
	lookForSecrets(p)
	if m, err := p.E.Leaks.ReadLeakCursor(); err != nil || m.Done != 0 {
		t.Errorf("looked up to %d, %v", m.Done, err)
	}
	p.Set("secrets.mode", project.SecretsFlag) // what came meanwhile is looked at then
	lookForSecrets(p)
	wantLeaks(p, "prod.env github-pat:1")
}

// TestPromise15LookKilled: it is interrupted after a few contents, killed, and goes on; everything is found, and little
// is looked at twice.
func TestPromise15LookKilled(t *testing.T) {
	p := enginetest.NewProject(t)
	var want []string
	for i := range 40 {
		text := fmt.Sprintf("x = %d\n", i)
		if i%7 == 0 {
			text += "t = " + token(i) + "\n"
			want = append(want, fmt.Sprintf("d%d/f%02d github-pat:2", i/10, i))
		}
		p.Write(fmt.Sprintf("d%d/f%02d", i/10, i), text)
	}
	p.Save("one")
	for i := 0; ; i++ {
		if i > 200 {
			t.Fatal("it does not come to its end")
		}
		ctx := &stopAfter{Context: enginetest.Bg, left: 1000}
		err := p.E.Leaks.ScanForSecrets(ctx, false)
		// A process that is killed forgets what it knew.
		p.Must(p.E.Close())
		e, oerr := engine.Open(enginetest.Bg, p.Home, p.Root, p.Options())
		p.Must(oerr)
		p.E = e
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	wantLeaks(p, strings.Join(want, ", "))
	if m, err := p.E.Leaks.ReadLeakCursor(); err != nil || m.Path != "" || m.Tree.IsZero() {
		t.Errorf("mark: %+v, %v", m, err)
	}
}

// stopAfter ends after its error was asked for some times.
type stopAfter struct {
	context.Context
	left int
}

func (s *stopAfter) Err() error {
	if s.left--; s.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestLookForSecretsInSteps: no operation is passed over where one look at the log ends and the next begins.
func TestLookForSecretsInSteps(t *testing.T) {
	p := enginetest.NewProject(t)
	for most := range 4 {
		secrets.OpsAtOnce = uint64(most + 1)
		var want []string
		for i := range 5 {
			name := fmt.Sprintf("%d%d", most, i)
			p.Write(name, "TOKEN="+token(100*most+i)+"\n")
			p.Save(name)
			if i == 2 {
				_, err := p.E.History.Tag(enginetest.Bg, "t"+name, "@", false)
				p.Must(err)
			}
			want = append(want, name+" github-pat:1")
		}
		lookForSecrets(p)
		if got := leaksOf(p); !strings.HasSuffix(got, strings.Join(want, ", ")) {
			t.Fatalf("%d at once: %s, want %v", most+1, got, want)
		}
	}
	// How far it got is written down where much was passed over, and else not each time.
	secrets.OpsAtOnce = 3
	tags := func(names ...string) {
		t.Helper()
		for _, name := range names {
			_, err := p.E.History.Tag(enginetest.Bg, name, "@", false)
			p.Must(err)
		}
		lookForSecrets(p)
	}
	mark := func(key []byte) (done uint64) {
		t.Helper()
		p.Must(p.E.Log.DB.View(key, func(raw []byte) error {
			m, err := secrets.DecodeLeakMark(raw)
			if err == nil {
				done = m.Done
			}
			return err
		}))
		return done
	}
	before, last := mark(secrets.LeakMarkKey), p.E.Log.DB.LastSeq()
	if tags("few", "as-few"); before != last || mark(secrets.LeakMarkKey) != last || mark(saidMark) != last {
		t.Errorf("up to %d, then %d and %d", before, mark(secrets.LeakMarkKey), mark(saidMark))
	}
	if tags("more"); mark(secrets.LeakMarkKey) != last+3 || mark(saidMark) != last+3 {
		t.Errorf("up to %d and %d, want %d", mark(secrets.LeakMarkKey), mark(saidMark), last+3)
	}
	put(p, map[string][]byte{string(saidMark): nil})
	if lookForSecrets(p); mark(saidMark) != last+3 {
		t.Errorf("conversations alone: up to %d, want %d", mark(saidMark), last+3)
	}
	secrets.OpsAtOnce = 1024
}

func TestLookForSecretsAfterGC(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a", "TOKEN="+token(1)+"\n")
	p.Save("one")
	lookForSecrets(p)
	// The tree of the mark is not there any more, and other rules would have flagged something else.
	m, err := p.E.Leaks.ReadLeakCursor()
	p.Must(err)
	m.Tree = enginetest.TestID("gone")
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set(secrets.LeakMarkKey, m.Encode()))
	p.Must(b.Set(secrets.LeakKey(enginetest.TestID("other").Key()),
		(&secrets.LeakFlag{Paths: []string{"x"}, Findings: []value.Finding{{Rule: "r", Line: 1}}}).Encode()))
	p.Must(b.Set(secrets.LeakKey(enginetest.TestID("damaged").Key()), []byte("nonsense")))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.E.Leaks.Scan.Flagged.Store(nil)
	p.Write("b", "TOKEN="+token(2)+"\n")
	p.Save("two")
	lookForSecrets(p)
	wantLeaks(p, "a github-pat:1, b github-pat:1")
	p.Verify()
	// A mark that cannot be read, or of other rules: all is looked at anew.
	for _, raw := range [][]byte{[]byte("\xff"), (&secrets.LeakCursor{Rules: "other", Done: 1 << 40}).Encode()} {
		b := p.E.Log.DB.NewBatch()
		p.Must(b.Set(secrets.LeakMarkKey, raw))
		p.Must(b.Delete(secrets.LeakKey(objstore.Sum(objstore.Blob, []byte("TOKEN="+token(2)+"\n")).Key())))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		p.E.Leaks.Scan.Flagged.Store(nil)
		lookForSecrets(p)
		wantLeaks(p, "a github-pat:1, b github-pat:1")
	}
}

func TestSecretsSkip(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("secrets.mode", project.SecretsSkip)
	// A person's save looks before it stores.
	p.Write("before", "TOKEN="+token(20)+"\n")
	p.Write("copy of it", "TOKEN="+token(20)+"\n")
	zero := p.Save("zero")
	if found := p.Holding(token(20)); found != nil {
		t.Fatalf("what was found before it was stored is in %q", found)
	}
	if again := p.Save("again"); again.ID != zero.ID {
		t.Error("nothing changed, and there is another checkpoint")
	}
	wantLeaks(p, "") // nothing of it is in the store
	// An event does not wait for that.
	p.Write("conf", "TOKEN="+token(1)+"\n")
	p.Write("before", "TOKEN="+token(21)+"\n")
	p.Write("other", "1")
	p.Agent("s").Run("1", func() {})
	lookForSecrets(p)
	wantLeaks(p, "conf github-pat:1 skipped")
	if found := p.Holding(token(21)); found != nil {
		t.Fatalf("what is skipped since it was found is in %q", found)
	}

	p.Write("conf", "TOKEN="+token(2)+"\n")
	p.Write("other", "2")
	two := p.Save("two")
	if _, _, err := p.E.History.Cat(enginetest.Bg, two.ID.String(), "conf"); !errors.Is(err, model.ErrNotFound) &&
		!errors.Is(err, tree.ErrNotFound) {
		t.Fatalf("conf in the second checkpoint: %v", err)
	}
	note, err := p.E.Log.Note(two)
	p.Must(err)
	if s, ok := model.Covering(note, "conf"); !ok || s.Reason != tree.ReasonSecret {
		t.Fatalf("noted: %+v", s)
	}
	if found := p.Holding(token(2)); found != nil {
		t.Fatalf("the second secret is in %q", found)
	}
	lookForSecrets(p)
	wantLeaks(p, "conf github-pat:1 skipped")

	// Purged, it stays skipped: the file still has one.
	p.Purge(purge.Options{Paths: []string{"conf"}})
	wantLeaks(p, "")
	p.Write("other", "3")
	p.Save("three")
	if found := p.Holding(token(2)); found != nil {
		t.Fatalf("the second secret is in %q", found)
	}

	// A content without a secret has it captured again.
	p.Write("conf", "TOKEN=$TOKEN\n")
	lookForSecrets(p)
	four := p.Save("four")
	r, _, err := p.E.History.Cat(enginetest.Bg, four.ID.String(), "conf")
	p.Must(err)
	p.Must(r.Close())
	p.Write("conf", "TOKEN="+token(9)+"\n")
	p.Agent("s").Run("2", func() {})
	lookForSecrets(p)
	wantLeaks(p, "conf github-pat:1 skipped")

	// In another mode nothing is skipped, and what is allowed never is.
	p.Set("secrets.mode", project.SecretsFlag)
	wantLeaks(p, "conf github-pat:1")
	p.Set("secrets.mode", project.SecretsSkip)
	p.Set("secrets.allow", "conf")
	six := p.Save("six")
	r, _, err = p.E.History.Cat(enginetest.Bg, six.ID.String(), "conf")
	p.Must(err)
	p.Must(r.Close())
}

func TestLookForSecretsGivesWay(t *testing.T) {
	p := enginetest.NewProject(t)
	for i := range 4 {
		p.Write(fmt.Sprint(i), strings.Repeat("the key of the token\n", 500)+fmt.Sprint(i))
	}
	p.Save("one")
	ctx, cancel := context.WithTimeout(enginetest.Bg, time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if err := p.E.Leaks.ScanForSecrets(ctx, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	// While another look is under way nobody waits for it.
	p.E.Leaks.Scan.Mu.Lock()
	p.Must(p.E.Leaks.ScanForSecrets(enginetest.Bg, true))
	p.E.Leaks.Scan.Mu.Unlock()
	p.Must(p.E.Leaks.ScanForSecrets(enginetest.Bg, true))
	p.E.Leaks.Scan.Mu.Lock()
	if p.E.Leaks.DropRules(); p.E.Leaks.Scan.Scanner == nil {
		t.Error("the rules are gone while somebody asks them")
	}
	p.E.Leaks.Scan.Mu.Unlock()
	if p.E.TrimCaches(); p.E.Leaks.Scan.Scanner != nil {
		t.Error("the rules are kept at rest")
	}
}

func sampleLeakFlag() *secrets.LeakFlag {
	return &secrets.LeakFlag{
		Paths: []string{"a", "b\xff"}, Checkpoint: enginetest.TestID("c"),
		Findings: []value.Finding{{Rule: "r", Line: 3}}, Free: []string{"a"},
	}
}

// The bytes on disk, docs/format.md#flag.
func TestLeakFlagGolden(t *testing.T) {
	c := enginetest.TestID("c")
	want := "\x01\x05\x01a\x02b\xff" + "\x02\x20" + string(c[:]) + "\x03\x07\x06\x01\x01r\x02\x01\x03" + "\x04\x02\x01a"
	if got := sampleLeakFlag().Encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	m := secrets.LeakCursor{Rules: "v", Done: 300, Tree: c, Path: "p"}
	if got, want := m.Encode(), "\x01\x01v"+"\x02\x02\xac\x02"+"\x03\x20"+string(c[:])+"\x04\x01p"; string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	recordtest.Documented(t, sampleLeakFlag().Encode(), "Flag", 0)
	recordtest.Documented(t, m.Encode(), "Flag", 1)
}

func FuzzLeakFlag(f *testing.F) {
	f.Add(sampleLeakFlag().Encode())
	f.Add((&secrets.LeakCursor{Rules: "v", Done: 1, Path: "p"}).Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if flag, err := secrets.DecodeLeakFlag(raw); err == nil && !bytes.Equal(flag.Encode(), raw) {
			t.Errorf("decoded %x, encoded %x", raw, flag.Encode())
		}
		if mark, err := secrets.DecodeLeakMark(raw); err == nil && !bytes.Equal(mark.Encode(), raw) {
			t.Errorf("decoded %x, encoded %x", raw, mark.Encode())
		}
	})
}

// TestLookPassesDamage: an operation that cannot be read is passed over, and a look that is ended says just that.
func TestLookPassesDamage(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a", token(1))
	cp := p.Save("one")
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set(kv.OperationKey(p.E.Log.DB.LastSeq()+1), []byte("garbage")))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	ctx, cancel := context.WithCancel(enginetest.Bg)
	cancel()
	if err := p.E.Leaks.ScanForSecrets(ctx,
		false); err != context.Canceled { //nolint:errorlint // nothing is said with it
		t.Errorf("a look that is ended: %v", err)
	}
	lookForSecrets(p)
	if list, err := p.E.Leaks.Leaks(cp.Tree); err != nil || len(list) != 1 || list[0].Path != "a" {
		t.Errorf("%+v, %v", list, err)
	}
}
