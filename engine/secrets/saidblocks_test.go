package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/objstore"
	"rewind/refs"
)

// wholeBlock is lines of a conversation behind one that fills their block up.
func wholeBlock(lines string) string {
	fill := conversation.TranscriptBlock - len(lines) - len(spokenLine(""))
	return spokenLine(strings.Repeat("x", fill)) + lines
}

// nodeAbove is the record of a conversation's block before the last, and that block.
func nodeAbove(p *enginetest.Project, id objstore.ID) (above, block objstore.ID) {
	p.T.Helper()
	node := func(id objstore.ID) *conversation.Node {
		raw, err := p.E.Log.Objs.Get(objstore.Transcript, id)
		p.Must(err)
		n, err := conversation.DecodeNode(id, raw)
		p.Must(err)
		return n
	}
	above = node(id).Parent
	return above, node(above).Tail
}

// TestSaidOfWhatIsLeft: of a conversation of which damage took a part, what was found in the other is told, and its
// secret is given: no more of the conversation is read than is wanted.
func TestSaidOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	const first, second = "1 turn 2 record 2 prompt github-pat", "1 turn 3 record 3 prompt github-pat"
	for name, c := range map[string]struct {
		kind objstore.Kind
		of   func(above, block, last objstore.ID) objstore.ID
		want []string
	}{
		"nothing": {
			objstore.Blob, func(_, _, _ objstore.ID) objstore.ID { return enginetest.TestID("none") },
			[]string{first, second},
		},
		"the first block": {
			objstore.Blob, func(_, block, _ objstore.ID) objstore.ID { return block }, []string{second},
		},
		"the first block's record": {
			objstore.Transcript, func(above, _, _ objstore.ID) objstore.ID { return above }, []string{second},
		},
		"the last block": {objstore.Blob, func(_, _, last objstore.ID) objstore.ID { return last }, []string{first}},
	} {
		p := enginetest.NewProject(t)
		last, id := taken(p, "claude/1", wholeBlock(spokenLine(token(1))), spokenLine(token(2)))
		lookForSecrets(p)
		all, err := p.E.Leaks.Said()
		if p.Must(err); len(all) != 2 || len(all[0].Found) != 10 {
			t.Fatalf("%+v", all)
		}
		above, block := nodeAbove(p, id)
		dropped(p, c.kind, c.of(above, block, last))
		if got := said(p); got != strings.Join(c.want, ", ") {
			t.Errorf("without %s: %s, want %q", name, got, c.want)
		}
		for n, l := range all { // the newest is first
			secret, err := p.E.Leaks.SaidSecret(enginetest.Bg, l.Found)
			there := strings.Contains(strings.Join(c.want, " "), []string{second, first}[n])
			if there && secret != token(2-n) || !there && !errors.Is(err, model.ErrNotFound) {
				t.Errorf("without %s: of record %d %d bytes, %v", name, l.Record, len(secret), err)
			}
		}
	}
}

// TestSaidOfAnotherLife: what was found in a conversation that has gone on since is in what it has become, too; where
// it is another one since, only in what it was.
func TestSaidOfAnotherLife(t *testing.T) {
	t.Parallel()
	for _, goesOn := range []bool{true, false} {
		p := enginetest.NewProject(t)
		_, was := taken(p, "claude/1", spokenLine(token(1)))
		lookForSecrets(p)
		text := spokenLine("another, that is longer than the one before it") + spokenLine("and more")
		if goesOn {
			text = spokenLine(token(1)) + text
		}
		taken(p, "claude/1", text)
		lookForSecrets(p)
		const found = "1 turn 1 record 1 prompt github-pat"
		wantSaid(p, found)
		dropped(p, objstore.Transcript, was)
		if goesOn {
			wantSaid(p, found)
		} else {
			wantSaid(p)
		}
	}
}

// TestSaidOfADocument: a conversation that is one document, which is written anew each time, is looked at again, and
// each finding has its secret.
func TestSaidOfADocument(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	message := func(kind, text string) string {
		const form = `{"id":%q,"timestamp":"2026-11-20T10:12:48.341Z","type":%q,"content":%q}`
		return fmt.Sprintf(form, text[:1], kind, text)
	}
	document := func(messages ...string) string {
		return "{\n" + `"sessionId":"x","projectHash":"p","messages":[` + strings.Join(messages, ",\n") + "]\n}"
	}
	first, second := message("user", "a "+token(1)), message("gemini", "b "+token(2))
	third := message("user", "c "+token(3))
	for n, text := range []string{
		document(first), document(first, second), document(first, second, third),
	} {
		taken(p, "gemini/1", text)
		lookForSecrets(p)
		list, err := p.E.Leaks.Said()
		p.Must(err)
		if len(list) != n+1 {
			t.Errorf("document %d: %+v", n, list)
		}
		for _, l := range list {
			secret, err := p.E.Leaks.SaidSecret(enginetest.Bg, l.Found)
			if want := token(l.Record); err != nil || secret != want {
				t.Errorf("document %d, record %d: %d bytes, %v", n, l.Record, len(secret), err)
			}
		}
	}
}

// TestSaidOfAStoppedLook: where a conversation is another one since a look at it was stopped, all that was not looked
// at is, and what was looked at is not again.
func TestSaidOfAStoppedLook(t *testing.T) {
	t.Parallel()
	first := wholeBlock(strings.Repeat(spokenLine("none"), 20))
	rest := spokenLine(strings.Repeat("y", conversation.TranscriptBlock/2))
	room := conversation.TranscriptBlock - len(rest) - len(spokenLine(" "+token(1)))
	rest += spokenLine(strings.Repeat("z", room) + " " + token(1))
	alone := enginetest.NewProject(t)
	taken(alone, "claude/0", first)
	one := asks(alone)
	// stopped is a conversation of both blocks, to which a look came that was stopped, and another one that has come in
	// its place; of the operation gc has taken the first one.
	stopped := func(after int64, then ...string) (p *enginetest.Project, whole bool) {
		t.Helper()
		p = enginetest.NewProject(t)
		taken(p, "claude/1", first, rest)
		ctx := &stopAfter{Context: enginetest.Bg, left: int(after)}
		err := p.E.Leaks.ScanForSecrets(ctx, false)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: %v", after, err)
		}
		op, oerr := p.E.Log.Refs.Operation(p.E.Log.DB.LastSeq())
		p.Must(oerr)
		op.Transcript = objstore.ID{}
		b := p.E.Log.DB.NewBatch()
		p.Must(refs.Rewrite(b, []refs.Operation{*op}))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		taken(p, "claude/1", then...)
		return p, err == nil
	}
	// Its first block is whole: it is not looked at again.
	for after := one; after < one+3; after++ {
		p, _ := stopped(after, first, spokenLine(token(2)))
		again := asks(p)
		if wantSaid(p, "1 turn 22 record 22 prompt github-pat"); again > one/2 {
			t.Errorf("a block is asked about %d times, and then %d times", one, again)
		}
	}
	// Its second is not: stopped in it, it is looked at from its beginning.
	for after, whole := one, false; !whole; after += one / 15 {
		var p *enginetest.Project
		p, whole = stopped(after, wholeBlock(""), rest)
		if lookForSecrets(p); !strings.Contains(said(p), "record 3 prompt github-pat") && !whole {
			t.Errorf("stopped after %d: %s", after, said(p))
		}
	}
}

// TestSaidIsNotAskedTwice: of a conversation of which only the first block is another one, the rest is not looked at
// again.
func TestSaidIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	rest := strings.Repeat(spokenLine("none"), 20)
	taken(p, "claude/1", wholeBlock(spokenLine("one")), rest)
	all := asks(p)
	taken(p, "claude/1", wholeBlock(spokenLine("two")), rest)
	if again := asks(p); again > all/2 {
		t.Errorf("it is asked about %d times, and then %d times", all, again)
	}
}

// TestSaidWhereTheOldIsDamaged: a conversation that is another one since, where the one before is damaged in its
// middle, is looked at all the same.
func TestSaidWhereTheOldIsDamaged(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	_, was := taken(p, "claude/1", wholeBlock(spokenLine("one")), spokenLine("none"))
	lookForSecrets(p)
	above, _ := nodeAbove(p, was)
	dropped(p, objstore.Transcript, above)
	taken(p, "claude/1", wholeBlock(spokenLine(token(1))), spokenLine(token(2)))
	lookForSecrets(p)
	wantSaid(p, "1 turn 2 record 2 prompt github-pat", "1 turn 3 record 3 prompt github-pat")
}

// TestSaidByOtherRules: what other rules found in conversations is not told, and all is looked at by these. A look that
// lies where another session's belongs is none of that one's.
func TestSaidByOtherRules(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	taken(p, "claude/1", spokenLine(token(1)))
	taken(p, "claude/2", spokenLine("none")+spokenLine(token(2)))
	lookForSecrets(p)
	want := []string{"1 turn 1 record 1 prompt github-pat", "2 turn 2 record 2 prompt github-pat"}
	wantSaid(p, want...)
	other := strings.Repeat("x", len(leaks.Version()))
	foreign, looks := map[string][]byte{}, []string{}
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: saidMark}, func(key, raw []byte) error {
		foreign[string(key)] = []byte(strings.ReplaceAll(string(raw), leaks.Version(), other))
		if len(key) > len(saidMark) {
			looks = append(looks, string(key))
		}
		return nil
	}))
	put(p, foreign)
	wantSaid(p)
	lookForSecrets(p)
	wantSaid(p, want...)
	var raw []byte
	p.Must(p.E.Log.DB.View([]byte(looks[0]), func(is []byte) error { raw = append(raw, is...); return nil }))
	put(p, map[string][]byte{looks[1]: raw, string(saidMark): nil})
	lookForSecrets(p)
	if got := said(p); !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
		t.Errorf("said: %s", got)
	}
}

// TestSaidOutsideATurn: what stands in no turn is listed, and of no turn.
func TestSaidOutsideATurn(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	taken(p, "claude/1", strings.ReplaceAll(spokenLine(token(1)), "user", "assistant"))
	lookForSecrets(p)
	wantSaid(p, "1 turn 0 record 1 reply github-pat")
	for turn := range uint64(3) {
		if list, err := p.E.Leaks.SaidIn("claude/1", turn); err != nil || len(list) > 0 {
			t.Errorf("in turn %d: %+v, %v", turn, list, err)
		}
	}
}

// TestSaidBeforeARestore: what was said up to a restore is looked at as the step before it has it.
func TestSaidBeforeARestore(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	cp := *p.Save("one")
	tx := p.E.Log.Objs.Begin()
	tail, err := tx.Put(objstore.Blob, []byte(spokenLine(token(1))), objstore.ID{})
	p.Must(err)
	node := conversation.Node{Length: int64(len(spokenLine(token(1)))), Tail: tail}
	cp.Conversation.Transcript, err = tx.Put(objstore.Transcript, node.Encode(), objstore.ID{})
	p.Must(err)
	cp.Conversation.Path, cp.Conversation.Length = "/x", node.Length
	p.Must(p.E.Log.PutCheckpoint(tx, &cp, cp.Seq))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	p.Must(p.E.Log.Record(enginetest.Bg, refs.Operation{
		Kind: refs.KindSafety, Session: "claude/1", Turn: 4, Checkpoint: cp.ID,
	}))
	lookForSecrets(p)
	wantSaid(p, "1 turn 4 record 1 prompt github-pat")
}

// TestFlagsAreReadOnce: which files are left out, and what was said, is read once: a capture waits for no read.
func TestFlagsAreReadOnce(t *testing.T) {
	t.Parallel()
	p, _ := spoken(t)
	p.Write("prod.env", "TOKEN="+token(6))
	p.Save("one")
	lookForSecrets(p)
	p.Set("secrets.mode", project.SecretsSkip)
	reads := 0
	q := p.Copied(p.FS.Clone(100, 1), func() error { reads++; return nil })
	defer q.Close()
	for n := range 3 {
		before := reads
		secret, err := q.E.Leaks.SecretFiles()
		if p.Must(err); !secret("prod.env") || secret("other") {
			t.Errorf("prod.env is left out: %v", secret("prod.env"))
		}
		if (reads > before) != (n == 0) {
			t.Errorf("time %d: %d reads", n, reads-before)
		}
	}
}

// TestSecretFilesByName: files are left out for their names in every mode, but for those that are allowed.
func TestSecretFilesByName(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Set("secrets.patterns", "*.key")
	p.Write("found", "TOKEN="+token(1))
	p.Write("found too", "TOKEN="+token(2))
	p.Save("one")
	lookForSecrets(p)
	for _, c := range []struct{ mode, allow, want string }{
		{project.SecretsFlag, "", "a.key b.key"},
		{project.SecretsFlag, "a.*", "b.key"},
		{project.SecretsOff, "a.*", "b.key"},
		{project.SecretsSkip, "", "a.key b.key found found too"},
		{project.SecretsSkip, "a.*", "b.key found found too"},
		{project.SecretsSkip, "found", "a.key b.key found too"},
	} {
		p.Set("secrets.mode", c.mode)
		if p.Set("secrets.allow"); c.allow != "" {
			p.Set("secrets.allow", c.allow)
		}
		secret, err := p.E.Leaks.SecretFiles()
		p.Must(err)
		var got []string
		for _, name := range []string{"a.key", "b.key", "found", "found too", "other"} {
			if secret(name) {
				got = append(got, name)
			}
		}
		if is := strings.Join(got, " "); is != c.want {
			t.Errorf("%s, %q is allowed: %q are left out, want %q", c.mode, c.allow, is, c.want)
		}
	}
}
