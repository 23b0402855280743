package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/secrets"
	"rewind/internal/kv"
	"rewind/internal/leaks"
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

func (p *fixture) lookForSecrets() {
	p.t.Helper()
	p.must(p.e.Leaks.ScanForSecrets(bg, false))
}

// leaks is what status tells, a line each.
func (p *fixture) leaks() string {
	p.t.Helper()
	s, err := p.e.Status(bg, nil)
	p.must(err)
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

func (p *fixture) wantLeaks(want string) {
	p.t.Helper()
	if got := p.leaks(); got != want {
		p.t.Fatalf("flagged: %q, want %q", got, want)
	}
}

func TestPromise15ContentThatLooksLikeASecret(t *testing.T) {
	p := newProject(t)
	p.write("prod.env", "A=1\nTOKEN="+token(1)+"\n")
	p.write("src/auth.json", `{"t": "`+token(2)+`"}`)
	p.write("go.sum", "x "+token(3))
	p.write("main.go", "package main // the token is read from a file\n")
	p.write("bin", "\x00"+token(4))
	p.write("large", token(5)+strings.Repeat("\n", leaks.MaxSize))
	first := p.save("one")
	p.wantLeaks("") // not looked at yet: a save does not wait for it
	p.lookForSecrets()
	p.wantLeaks("prod.env github-pat:2, src/auth.json github-pat:1")

	shown, err := p.e.History.Show(bg, first.ID.String(), nil)
	p.must(err)
	if len(shown.Leaks) != 2 || shown.Leaks[0].Path != "prod.env" || shown.Leaks[0].Checkpoint != first.ID.String() {
		t.Errorf("show: %+v", shown.Leaks)
	}
	// No key nor value of a flag has any of it.
	p.must(p.e.Log.DB.Scan(kv.Range{Prefix: secrets.LeakMarkKey}, func(key, val []byte) error {
		for _, s := range []string{token(1), token(2), token(1)[4:20]} {
			if strings.Contains(string(key)+string(val), s) {
				t.Errorf("a flag has the secret: %q %q", key, val)
			}
		}
		return nil
	}))

	// Clean since: the content before is in the store all the same.
	p.write("prod.env", "A=1\nTOKEN=$TOKEN\n")
	p.save("two")
	p.lookForSecrets()
	p.wantLeaks("prod.env github-pat:2, src/auth.json github-pat:1")
	p.write("prod.env", "\n\n\n\nTOKEN="+token(7)+"\n")
	p.save("three")
	p.lookForSecrets()
	p.wantLeaks("prod.env github-pat:5 x2, src/auth.json github-pat:1")

	p.purge(purge.Options{Paths: []string{"prod.env"}})
	p.wantLeaks("src/auth.json github-pat:1")
	p.set("secrets.allow", "src/*.json")
	p.wantLeaks("")
	p.set("secrets.allow")
	p.set("secrets.mode", project.SecretsOff)
	p.wantLeaks("")
	p.set("secrets.mode", project.SecretsFlag)
	p.wantLeaks("src/auth.json github-pat:1")
}

func TestLookForSecretsOff(t *testing.T) {
	p := newProject(t)
	p.set("secrets.mode", project.SecretsOff)
	p.write("prod.env", "TOKEN="+token(1)+"\n")
	p.save("one")
	p.lookForSecrets()
	if m, err := p.e.Leaks.ReadLeakCursor(); err != nil || m.Done != 0 {
		t.Errorf("looked up to %d, %v", m.Done, err)
	}
	p.set("secrets.mode", project.SecretsFlag) // what came meanwhile is looked at then
	p.lookForSecrets()
	p.wantLeaks("prod.env github-pat:1")
}

// TestPromise15LookKilled: it is interrupted after a few contents, killed, and goes on; everything is found, and little is looked at twice.
func TestPromise15LookKilled(t *testing.T) {
	p := newProject(t)
	var want []string
	for i := range 40 {
		text := fmt.Sprintf("x = %d\n", i)
		if i%7 == 0 {
			text += "t = " + token(i) + "\n"
			want = append(want, fmt.Sprintf("d%d/f%02d github-pat:2", i/10, i))
		}
		p.write(fmt.Sprintf("d%d/f%02d", i/10, i), text)
	}
	p.save("one")
	for i := 0; ; i++ {
		if i > 200 {
			t.Fatal("it does not come to its end")
		}
		ctx := &stopAfter{Context: bg, left: 1000}
		err := p.e.Leaks.ScanForSecrets(ctx, false)
		// A process that is killed forgets what it knew.
		p.must(p.e.Close())
		e, oerr := Open(bg, p.home, p.root, p.options())
		p.must(oerr)
		p.e = e
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	p.wantLeaks(strings.Join(want, ", "))
	if m, err := p.e.Leaks.ReadLeakCursor(); err != nil || m.Path != "" || m.Tree.IsZero() {
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
	p := newProject(t)
	for most := range 4 {
		secrets.OpsAtOnce = uint64(most + 1)
		var want []string
		for i := range 5 {
			name := fmt.Sprintf("%d%d", most, i)
			p.write(name, "TOKEN="+token(100*most+i)+"\n")
			p.save(name)
			if i == 2 {
				_, err := p.e.History.Tag(bg, "t"+name, "@", false)
				p.must(err)
			}
			want = append(want, name+" github-pat:1")
		}
		p.lookForSecrets()
		if got := p.leaks(); !strings.HasSuffix(got, strings.Join(want, ", ")) {
			t.Fatalf("%d at once: %s, want %v", most+1, got, want)
		}
	}
	secrets.OpsAtOnce = 1024
}

func TestLookForSecretsAfterGC(t *testing.T) {
	p := newProject(t)
	p.write("a", "TOKEN="+token(1)+"\n")
	p.save("one")
	p.lookForSecrets()
	// The tree of the mark is not there any more, and other rules would have flagged something else.
	m, err := p.e.Leaks.ReadLeakCursor()
	p.must(err)
	m.Tree = testID("gone")
	b := p.e.Log.DB.NewBatch()
	p.must(b.Set(secrets.LeakMarkKey, m.Encode()))
	p.must(b.Set(secrets.LeakKey(testID("other").Key()), (&secrets.LeakFlag{Paths: []string{"x"}, Findings: []value.Finding{{Rule: "r", Line: 1}}}).Encode()))
	p.must(b.Set(secrets.LeakKey(testID("damaged").Key()), []byte("nonsense")))
	p.must(b.Commit(bg, kv.Written))
	p.e.Leaks.Scan.Flagged.Store(nil)
	p.write("b", "TOKEN="+token(2)+"\n")
	p.save("two")
	p.lookForSecrets()
	p.wantLeaks("a github-pat:1, b github-pat:1")
	p.verify()
	// A mark that cannot be read, or of other rules: all is looked at anew.
	for _, raw := range [][]byte{[]byte("\xff"), (&secrets.LeakCursor{Rules: "other", Done: 1 << 40}).Encode()} {
		b := p.e.Log.DB.NewBatch()
		p.must(b.Set(secrets.LeakMarkKey, raw))
		p.must(b.Delete(secrets.LeakKey(objstore.Sum(objstore.Blob, []byte("TOKEN="+token(2)+"\n")).Key())))
		p.must(b.Commit(bg, kv.Written))
		p.e.Leaks.Scan.Flagged.Store(nil)
		p.lookForSecrets()
		p.wantLeaks("a github-pat:1, b github-pat:1")
	}
}

func TestSecretsSkip(t *testing.T) {
	p := newProject(t)
	p.set("secrets.mode", project.SecretsSkip)
	// A person's save looks before it stores.
	p.write("before", "TOKEN="+token(20)+"\n")
	p.write("copy of it", "TOKEN="+token(20)+"\n")
	zero := p.save("zero")
	if found := p.holding(token(20)); found != nil {
		t.Fatalf("what was found before it was stored is in %q", found)
	}
	if again := p.save("again"); again.ID != zero.ID {
		t.Error("nothing changed, and there is another checkpoint")
	}
	p.wantLeaks("") // nothing of it is in the store
	// An event does not wait for that.
	p.write("conf", "TOKEN="+token(1)+"\n")
	p.write("before", "TOKEN="+token(21)+"\n")
	p.write("other", "1")
	p.agent("s").run("1", func() {})
	p.lookForSecrets()
	p.wantLeaks("conf github-pat:1 skipped")
	if found := p.holding(token(21)); found != nil {
		t.Fatalf("what is skipped since it was found is in %q", found)
	}

	p.write("conf", "TOKEN="+token(2)+"\n")
	p.write("other", "2")
	two := p.save("two")
	if _, _, err := p.e.History.Cat(bg, two.ID.String(), "conf"); !errors.Is(err, model.ErrNotFound) && !errors.Is(err, tree.ErrNotFound) {
		t.Fatalf("conf in the second checkpoint: %v", err)
	}
	note, err := p.e.Log.Note(two)
	p.must(err)
	if s, ok := model.Covering(note, "conf"); !ok || s.Reason != tree.ReasonSecret {
		t.Fatalf("noted: %+v", s)
	}
	if found := p.holding(token(2)); found != nil {
		t.Fatalf("the second secret is in %q", found)
	}
	p.lookForSecrets()
	p.wantLeaks("conf github-pat:1 skipped")

	// Purged, it stays skipped: the file still has one.
	p.purge(purge.Options{Paths: []string{"conf"}})
	p.wantLeaks("")
	p.write("other", "3")
	p.save("three")
	if found := p.holding(token(2)); found != nil {
		t.Fatalf("the second secret is in %q", found)
	}

	// A content without a secret has it captured again.
	p.write("conf", "TOKEN=$TOKEN\n")
	p.lookForSecrets()
	four := p.save("four")
	r, _, err := p.e.History.Cat(bg, four.ID.String(), "conf")
	p.must(err)
	p.must(r.Close())
	p.write("conf", "TOKEN="+token(9)+"\n")
	p.agent("s").run("2", func() {})
	p.lookForSecrets()
	p.wantLeaks("conf github-pat:1 skipped")

	// In another mode nothing is skipped, and what is allowed never is.
	p.set("secrets.mode", project.SecretsFlag)
	p.wantLeaks("conf github-pat:1")
	p.set("secrets.mode", project.SecretsSkip)
	p.set("secrets.allow", "conf")
	six := p.save("six")
	r, _, err = p.e.History.Cat(bg, six.ID.String(), "conf")
	p.must(err)
	p.must(r.Close())
}

func TestLookForSecretsGivesWay(t *testing.T) {
	p := newProject(t)
	for i := range 20 {
		p.write(fmt.Sprint(i), strings.Repeat("the key of the token\n", 2000)+fmt.Sprint(i))
	}
	p.save("one")
	ctx, cancel := context.WithTimeout(bg, time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if err := p.e.Leaks.ScanForSecrets(ctx, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	// While another look is under way nobody waits for it.
	p.e.Leaks.Scan.Mu.Lock()
	p.must(p.e.Leaks.ScanForSecrets(bg, true))
	p.e.Leaks.Scan.Mu.Unlock()
	p.must(p.e.Leaks.ScanForSecrets(bg, true))
	if p.e.TrimCaches(); p.e.Leaks.Scan.Scanner != nil {
		t.Error("the rules are kept at rest")
	}
}

func sampleLeakFlag() *secrets.LeakFlag {
	return &secrets.LeakFlag{Paths: []string{"a", "b\xff"}, Checkpoint: testID("c"), Findings: []value.Finding{{Rule: "r", Line: 3}}, Free: []string{"a"}}
}

// The bytes on disk, docs/format.md#flag.
func TestLeakFlagGolden(t *testing.T) {
	c := testID("c")
	want := "\x01\x05\x01a\x02b\xff" + "\x02\x20" + string(c[:]) + "\x03\x07\x06\x01\x01r\x02\x01\x03" + "\x04\x02\x01a"
	if got := sampleLeakFlag().Encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	m := secrets.LeakCursor{Rules: "v", Done: 300, Tree: c, Path: "p"}
	if got, want := m.Encode(), "\x01\x01v"+"\x02\x02\xac\x02"+"\x03\x20"+string(c[:])+"\x04\x01p"; string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
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
