package restore_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv/kvtest"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// places are those in this room's code, each with its caller, at which a read of the store has failed already. A plan
// reads a thousand keys at two hundred places: one failure at each says as much as one of each key.
type places struct {
	failed map[string]bool
	told   []string                       // what is answered where no read fails
	known  map[[stackDepth]uintptr]string // the place of a stack
}

const stackDepth = 48

var update = flag.Bool("update", false, "write the answers in testdata anew")

var (
	// drawn are ids that are drawn for what is new.
	drawn = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// hashes and lengths of what an agent wrote are other ones in each directory, whose name is in it.
	hashes  = regexp.MustCompile(`[0-9a-f]{64,}`)
	lengths = regexp.MustCompile(`(^|[ {\[])[0-9]{4}($|[ }\]])`)
	// folders of session files are named after the directory
	folders = regexp.MustCompile(`/projects/[^/\s\]]+`)
	// states before, which are there already where something is done once more
	states = regexp.MustCompile(`(?m)^states: .*$`)
)

// steady is an answer without what differs from run to run.
func steady(p *enginetest.Project, text string) string {
	p.T.Helper()
	for _, dir := range [][2]string{{p.Root, "ROOT"}, {p.User(), "USER"}} {
		text = strings.ReplaceAll(text, dir[0], dir[1])
	}
	text = folders.ReplaceAllString(text, "/projects/ROOT")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "ROOT") {
			continue
		}
		line = drawn.ReplaceAllStringFunc(line, func(id string) string {
			if strings.HasSuffix(id, "-0000-4000-8000-000000000000") {
				return id
			}
			return "DRAWN"
		})
		lines[i] = lengths.ReplaceAllString(hashes.ReplaceAllString(line, "HASH"), "${1}LENGTH${2}")
	}
	for _, of := range []string{"USER", "claude/"} { // in the order of what was drawn
		for from := 0; from < len(lines); from++ {
			to := from
			for to < len(lines) && strings.HasPrefix(lines[to], of) {
				to++
			}
			slices.Sort(lines[from:to])
			from = max(from, to)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// hold holds that what was answered is what a file in testdata says.
func (s *places) hold(p *enginetest.Project, name string) {
	p.T.Helper()
	p.Golden(*update, name, strings.Join(s.told, ""))
}

func newPlaces() *places {
	return &places{failed: map[string]bool{}, known: map[[stackDepth]uintptr]string{}}
}

// lenient are what does without what it cannot read, by design.
var lenient = []string{
	"(*Restorer).reusableFork", // another fork serves as well
	"lastPrompt",               // what is only shown
}

// here is the place that reads; "": none of this room's that matters.
func (s *places) here() string {
	const room = "rewind/engine/restore."
	var at [stackDepth]uintptr
	n := runtime.Callers(3, at[:])
	if place, ok := s.known[at]; ok {
		return place
	}
	var place []string
	frames := runtime.CallersFrames(at[:n])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		name, ok := strings.CutPrefix(f.Function, room)
		if !ok {
			continue
		}
		if slices.Contains(lenient, name) {
			place = nil
			break
		}
		place = append(place, fmt.Sprint(name, ":", f.Line))
	}
	s.known[at] = strings.Join(place[:min(2, len(place))], " ")
	return s.known[at]
}

// fail is Project.ReadFails, but of the reads only the first at each new place fails.
func (s *places) fail(p *enginetest.Project, what string, ask func(q *enginetest.Project) (string, error)) {
	p.T.Helper()
	disk := p.FS.Clone(100, 1)
	want, _, _ := s.once(p, disk, false, ask)
	s.told = append(s.told, "== "+what+"\n"+steady(p, want))
	for {
		got, failed, first := s.once(p, disk, true, ask)
		if first != nil && states.ReplaceAllString(got, "") == states.ReplaceAllString(want, "") {
			got = want
		}
		if got != want && !errors.Is(first, errOver) {
			p.T.Fatalf("%s: a read at %s fails (%v), then:\n%s\nwant\n%s", what, failed, first, got, want)
		}
		if failed == "" {
			return
		}
	}
}

// once asks a copy of the project, and where that fails for a read, again. It returns the answer, the place at which a
// read failed ("": none did) and with what the first question failed.
func (s *places) once(
	p *enginetest.Project, disk *kvtest.CrashFS, fails bool, ask func(q *enginetest.Project) (string, error),
) (got, failed string, first error) {
	p.T.Helper()
	var mu sync.Mutex
	fault := func() error {
		mu.Lock()
		defer mu.Unlock()
		if !fails {
			return nil
		}
		place := s.here()
		if place == "" || s.failed[place] {
			return nil
		}
		failed, s.failed[place], fails = place, true, false
		return fmt.Errorf("%s: %w", place, syscall.EIO)
	}
	q := p.Copied(disk, fault)
	defer q.Close()
	if got, first = ask(q); first != nil && !errors.Is(first, errOver) {
		if failed == "" {
			p.Must(first)
		}
		var err error
		if got, err = ask(q); err != nil {
			p.T.Fatalf("a read at %s fails (%v), and then: %v", failed, first, err)
		}
	}
	return got, failed, first
}

// staysError says that a restore was done but for the conversation, which stays since a read failed; op is nil where
// there was nothing else to do.
type staysError struct {
	why string
	op  *refs.Operation
}

func (e *staysError) Error() string { return e.why }

// errOver says of an error that there is nothing to be asked for again after it.
var errOver = errors.New("it is over")

// told is all that a restore tells of what it does.
func told(r *restore.Result, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var b strings.Builder
	say := func(what string, of ...any) { fmt.Fprintf(&b, "%s: %+v\n", what, of) }
	p := r.Plan
	for _, s := range p.Steps {
		say(s.Path, entryText(s.Old), entryText(s.New))
	}
	say("stays", p.Kept, p.Missing, p.Uncaptured, r.KeptDirs, r.Conflicts, r.Without)
	say("goes", p.Yours, p.Taken, p.Merges)
	state := func(cp *model.Checkpoint) string {
		if cp == nil {
			return "-"
		}
		return fmt.Sprint(cp.Tree.Short(), cp.Session, cp.Cause, cp.By, cp.Owned, cp.Counts)
	}
	var lent *model.Checkpoint
	if r.Change != nil {
		lent = r.Change.Lent
	}
	say("states", state(p.Target), state(r.Safety), state(r.Saved), state(lent), r.Operation == nil, p.Replaced)
	say("for", p.Git, p.Scope, p.Target.Session, p.Target.Cause, r.Prompt, r.KeptFor, r.PlanHash, r.Changed, r.Managed)
	if r.Behind != nil {
		say("behind", *r.Behind)
	}
	for _, w := range r.AtWork {
		say("at work", w.Session, w.Paths, w.Files, w.Left)
	}
	c := r.Conversation
	if c == nil {
		return b.String(), nil
	}
	if strings.Contains(c.Why, syscall.EIO.Error()) {
		return "", &staysError{c.Why, r.Operation}
	}
	say(string(c.Mode), c.Why, c.Turn, c.Version, c.Kept, len(c.Removed))
	if f := c.Fork; f != nil {
		say("fork", forkText(f))
	} else {
		say(c.Session, c.Path)
	}
	return b.String(), nil
}

func entryText(e *tree.Entry) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprint(e.Type, e.Perm, e.Size, e.ID.Short())
}

// forkText is all of a fork but for what is drawn for it.
func forkText(f *model.Fork) string {
	l := f.From
	return fmt.Sprint(f.Title, l.Session, l.Both, l.Turn, l.Message, l.Checkpoint, l.Kind, f.Cut, f.Bytes, f.Problem)
}

// recorded is what the log has of the newest operation and of where everything stands behind it: sessions that there
// were before by name, new ones as such.
func recorded(q *enginetest.Project, before map[string]bool) string {
	q.T.Helper()
	var b strings.Builder
	named := func(session string) string {
		if session == "" || before[session] {
			return session
		}
		return "a new one"
	}
	code := func(id objstore.ID) string {
		if id.IsZero() {
			return "none"
		}
		cp, err := q.E.Log.Checkpoint(id)
		q.Must(err)
		return cp.Tree.Short()
	}
	op, err := q.E.Log.Refs.Operation(q.E.Log.DB.LastSeq())
	q.Must(err)
	fmt.Fprintln(&b, op.Kind, named(op.Session))
	for _, c := range op.Changes {
		name := string(c.Name)
		of := name[strings.Index(name, "/")+1:]
		fmt.Fprintln(&b, strings.TrimSuffix(name, of), named(of), code(c.Old), code(c.New))
	}
	if r := op.Restore; r != nil {
		fmt.Fprintln(&b, code(r.Target), code(r.Safety), r.Scope, r.Changed, r.Kept,
			r.Result.Short(), len(r.Files), named(r.Fork), named(r.Goes),
			r.Managed, r.TakesBack)
	}
	at, err := q.E.Sessions.Position()
	q.Must(err)
	fmt.Fprintln(&b, "at", named(at.Session), named(at.Branch))
	all, err := q.E.Log.Sessions()
	q.Must(err)
	for _, s := range all {
		is := fmt.Sprint(s.Turn, s.Busy, s.Left, s.Title, s.Standing, s.Prompt, s.Ended, len(s.Calls), s.Cursor.Length)
		if before[s.Name] {
			is += fmt.Sprint(s.Cursor.Transcript, s.Began)
		}
		if s.Fork != nil {
			is += fmt.Sprint(s.Fork.Session, s.Fork.Both, s.Fork.Turn, s.Fork.Message)
		}
		fmt.Fprintln(&b, named(s.Name), is)
	}
	return b.String()
}

// disk is what lies in some directories.
type disk struct {
	dirs  []string
	files map[string]string
	modes map[string]os.FileMode
}

// look is the disk with these directories as they are.
func look(p *enginetest.Project, dirs ...string) *disk {
	p.T.Helper()
	d := &disk{dirs: dirs, files: map[string]string{}, modes: map[string]os.FileMode{}}
	for _, dir := range dirs {
		p.Must(filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			if err != nil || strings.Contains(path, "/.agent/") {
				return err
			}
			d.modes[path] = info.Mode()
			if info.Mode().IsRegular() {
				d.files[path] = p.Slurp(path)
			}
			return nil
		}))
	}
	return d
}

// text is what lies there, of what was not there before without its name, which is drawn.
func (d *disk) text(before *disk) string {
	var list []string
	for path, mode := range d.modes {
		is := fmt.Sprint(path, " ", mode, " ", len(d.files[path]), enginetest.TestID(d.files[path]))
		if _, was := before.modes[path]; strings.HasSuffix(path, ".jsonl") && !was {
			is = fmt.Sprint("a new one of ", len(d.files[path]))
		} else if strings.HasSuffix(path, ".jsonl") && before.files[path] != d.files[path] { // a title has its time
			is = fmt.Sprint(path, " is of ", len(d.files[path]))
		}
		list = append(list, is)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// reset makes the disk again what it was.
func (d *disk) reset(p *enginetest.Project) {
	p.T.Helper()
	now := look(p, d.dirs...)
	for path := range now.modes {
		if _, was := d.modes[path]; !was {
			p.Must(os.RemoveAll(path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(d.modes)) {
		if _, is := now.modes[path]; !is && d.modes[path].IsDir() {
			p.Must(os.Mkdir(path, d.modes[path].Perm()))
		}
		if text, ok := d.files[path]; ok && now.files[path] != text {
			p.Must(os.WriteFile(path, []byte(text), d.modes[path].Perm()))
		}
	}
}

// standing is what there is before something is done.
type standing struct {
	*disk
	sessions map[string]bool
}

func standingOf(p *enginetest.Project) *standing {
	p.T.Helper()
	st := &standing{disk: look(p, p.Root, p.User()), sessions: map[string]bool{model.Manual: true}}
	all, err := p.E.Log.Sessions()
	p.Must(err)
	for _, x := range all {
		st.sessions[x.Name] = true
	}
	return st
}

// same fails unless nothing has changed.
func (st *standing) same(p *enginetest.Project, why error) {
	p.T.Helper()
	if now, was := look(p, st.dirs...).text(st.disk), st.text(st.disk); now != was {
		p.T.Fatalf("it fails (%v), and leaves\n%s\nwant\n%s", why, now, was)
	}
}

// done is what was done, and makes the disk again what it was.
func (st *standing) done(q *enginetest.Project) string {
	q.T.Helper()
	defer st.reset(q)
	return recorded(q, st.sessions) + look(q, st.dirs...).text(st.disk)
}

// does is fail of something that is done: it is done, or has changed nothing, or is half done and can be taken back;
// then it is done as it would have been.
func (s *places) does(p *enginetest.Project, what string, do func(q *enginetest.Project) (string, error)) {
	p.T.Helper()
	st := standingOf(p)
	s.fail(p, what, func(q *enginetest.Project) (string, error) {
		j, err := q.E.Log.ReadJournal()
		if err == nil && j != nil {
			_, err = q.E.Restorer.Abort(enginetest.Bg, q.Env())
			st.same(q, err)
		}
		if err != nil {
			return "", err
		}
		got, err := do(q)
		if stays := (*staysError)(nil); errors.As(err, &stays) && stays.op != nil {
			_, uerr := q.E.Restorer.UndoRestore(enginetest.Bg, stays.op.Seq, restore.Options{Env: q.Env()})
			q.Must(uerr)
			st.same(q, err)
		}
		if err == nil {
			return got + st.done(q), nil
		}
		if j, jerr := q.E.Log.ReadJournal(); j == nil {
			q.Must(jerr)
			st.same(q, err)
		}
		return "", err
	})
}
