package apply_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
	"rewind/tree/apply"
)

// aclOf gives an access control list as the kernel keeps it: the owner rw, user 4321 with some rights, the owning group
// with others, everybody with none.
func aclOf(named, group, mask uint16) string {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, ^uint32(0)}, {2, named, 4321}, {4, group, ^uint32(0)}, {16, mask, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return string(b)
}

// capability lets a program open raw sockets.
const capability = "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

// attrDir is a directory on a file system that has access control lists.
func attrDir(t *testing.T) string {
	t.Helper()
	torture.OnDisk(t)
	for _, base := range []string{"", "/dev/shm"} {
		dir := applyDirIn(t, base)
		f := filepath.Join(dir, "probe")
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		err := unix.Setxattr(f, accessACL, []byte(aclOf(6, 4, 6)), 0)
		if err == nil {
			err = unix.Setxattr(f, "user.x", []byte("x"), 0)
		}
		if rerr := os.Remove(f); rerr != nil {
			t.Fatal(rerr)
		}
		if err == nil {
			return dir
		}
	}
	t.Skip("missing tool: a file system with access control lists")
	return ""
}

func setAttr(t *testing.T, path, name, value string) {
	t.Helper()
	if err := unix.Setxattr(path, name, []byte(value), 0); err != nil {
		t.Fatalf("%s of %s: %v", name, path, err)
	}
}

// nature is all that a file is besides its bytes: mode, owner, attributes.
func nature(t *testing.T, path string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%04o %d:%d", st.Mode&0o7777, st.Uid, st.Gid)
	names := make([]byte, 4096)
	n, err := unix.Llistxattr(path, names)
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:n]), "\x00"), "\x00") {
		if name == "" || strings.HasPrefix(name, "security.") && name != worktreefs.CapabilityAttr {
			continue
		}
		value := make([]byte, 4096)
		n, err := unix.Lgetxattr(path, name, value)
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf(" %s=%x", name, value[:n])
	}
	return out
}

func asRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("missing tool: superuser")
	}
}

// asUser has the calls of fn made for another user, without groups and rights of the superuser's. The goroutine ends
// with its thread.
func asUser(t *testing.T, uid int, fn func()) {
	t.Helper()
	asRoot(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread goes with the goroutine
		if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); e != 0 {
			t.Error(e)
			return
		}
		if _, err := unix.SetfsgidRetGid(uid); err != nil {
			t.Error(err)
		}
		if _, err := unix.SetfsuidRetUid(uid); err != nil {
			t.Error(err)
		}
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			t.Error(err)
		}
		fn()
	}()
	<-done
}

func dress(t *testing.T, path string, uid, gid int, perm uint32, attrs ...string) {
	t.Helper()
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(attrs); i += 2 {
		setAttr(t, path, attrs[i], attrs[i+1])
	}
	if err := unix.Chmod(path, perm); err != nil {
		t.Fatal(err)
	}
}

// TestPromise17ApplySpecialBits: a file comes back setuid, setgid or sticky only where the file that it replaces is; a
// directory keeps what it has.
func TestPromise17ApplySpecialBits(t *testing.T) {
	bits := []uint16{0, 0o4000, 0o2000, 0o1000, 0o6000, 0o7000}
	for _, had := range bits {
		for _, want := range bits {
			from := applyState{
				"edited": nf("a", 0o755|had), "mode": nf("m", 0o755|had), "d": nd(0o755 | had),
				"gone": nf("g", 0o755|had), "link": nl("x"),
			}
			to := applyState{
				"edited": nf("b", 0o751|want), "mode": nf("m", 0o750|want), "d": nd(0o750 | want), "new": nf("n",
					0o755|want), "link": nf("l", 0o755|want),
				"n": nd(0o755 | want), "n/f": nf("f", 0o755|want),
			}
			dir := applyDir(t)
			buildState(t, dir, from)
			b := applyBlobs{}.add(from).add(to)
			r, err := runApply(t, dir, stepsBetween(from, to), b, &faultfs.Script{})
			if err != nil || len(r.Conflicts) > 0 {
				t.Fatalf("%04o to %04o: %v %v", had, want, err, r.Conflicts)
			}
			reached := applyState{
				"edited": nf("b", 0o751|want&had), "mode": nf("m", 0o750|want&had), "d": nd(0o750 | had | want&0o1000),
				"new": nf("n",
					0o755), "link": nf("l", 0o755),
				"n": nd(0o755 | want&0o1000), "n/f": nf("f", 0o755),
			}
			if d := readState(t, dir).diff(reached); d != "" {
				t.Errorf("%04o to %04o:\n%s", had, want, d)
			}
			// What is not as the steps say is told, exactly.
			for p, x := range to {
				perm, told := r.Perms[p]
				if told != (reached[p].perm != x.perm) || told && perm != reached[p].perm {
					t.Errorf("%04o to %04o: %s: permissions told %04o, %v", had, want, p, perm, told)
				}
				i := slices.IndexFunc(r.Without, func(w value.Without) bool { return string(w.Path) == p })
				lost := apply.LostBits(x.perm, reached[p].perm)
				slices.Sort(lost)
				if i < 0 && len(lost) > 0 || i >= 0 && !slices.Equal(r.Without[i].What, lost) {
					t.Errorf("%04o to %04o: %s: told %v, want %v", had, want, p, r.Without, lost)
				}
			}
			// Once more, and back: neither is in conflict with what was left out.
			for _, steps := range [][]tree.Change{stepsBetween(from, to), tree.Reverse(stepsBetween(from, to))} {
				if r, err = runApply(t, dir, steps, b, &faultfs.Script{}); err != nil || len(r.Conflicts) > 0 {
					t.Fatalf("%04o to %04o, again: %v %v", had, want, err, r.Conflicts)
				}
			}
			for p, x := range readState(t, dir) {
				if f := from[p]; x.data != f.data || x.typ != f.typ || x.perm&0o777 != f.perm&0o777 {
					t.Errorf("%04o to %04o, and back: %s is %v", had, want, p, x)
				}
			}
		}
	}
}

// dressed is a tree whose files have all that a file can have, and what they have.
func dressed(t *testing.T) (dir string, from, to applyState, natures map[string]string) {
	t.Helper()
	asRoot(t)
	dir = attrDir(t)
	from = applyState{
		"acl": nf("one", 0o660), "suid": nf("one", 0o4755), "caps": nf("one", 0o755), "user": nf("one", 0o440),
		"d": nd(0o755), "d/acl": nf("one", 0o640), "plain": nf("one", 0o644),
	}
	to = applyState{}
	for p, x := range from {
		if x.typ == tree.TypeFile {
			x.data = "two " + p
		}
		to[p] = x
	}
	buildState(t, dir, from)
	in := func(p string) string { return filepath.Join(dir, p) }
	dress(t, in("acl"), 1234, 1234, 0o660, accessACL, aclOf(6, 0, 6))
	dress(t, in("suid"), 1234, 2345, 0o4755)
	dress(t, in("caps"), 0, 0, 0o755, worktreefs.CapabilityAttr, capability)
	dress(t, in("user"), 1234, 1234, 0o440, "user.note", "hello", "user.empty", "")
	dress(t, in("d/acl"), 0, 0, 0o640, accessACL, aclOf(4, 4, 4), "user.other", strings.Repeat("x", 2000))
	natures = map[string]string{}
	for p, x := range from {
		if x.typ == tree.TypeFile {
			natures[p] = nature(t, in(p))
		}
	}
	return dir, from, to, natures
}

func sameNatures(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for p, n := range want {
		if got := nature(t, filepath.Join(dir, p)); got != n {
			t.Errorf("%s is %s, was %s", p, got, n)
		}
	}
}

// TestPromise17ApplyKeepsNature: owner, group, access control list, attributes and capabilities of a file stay on the
// one that replaces it.
func TestPromise17ApplyKeepsNature(t *testing.T) {
	dir, from, to, natures := dressed(t)
	b := applyBlobs{}.add(from).add(to)
	for _, steps := range [][]tree.Change{stepsBetween(from, to), tree.Reverse(stepsBetween(from, to))} {
		r, err := runApply(t, dir, steps, b, &faultfs.Script{})
		if err != nil || len(r.Conflicts) > 0 || len(r.Without) > 0 || len(r.Perms) > 0 {
			t.Fatalf("%v %+v", err, r)
		}
		sameNatures(t, dir, natures)
	}
	if d := readState(t, dir).diff(from); d != "" {
		t.Error(d)
	}
}

// TestPromise17ApplyWithoutAList: a file whose access control list cannot be set is left as it is; of another attribute
// it is said that it is lost.
func TestPromise17ApplyWithoutAList(t *testing.T) {
	dir := attrDir(t)
	for name, c := range map[string]struct {
		attr, value string
		conflicts   int
	}{"a list": {accessACL, aclOf(6, 0, 6), 1}, "another": {"user.note", "hello", 0}} {
		from, to := applyState{name: nf("one", 0o640)}, applyState{name: nf("two", 0o640)}
		buildState(t, dir, from)
		setAttr(t, filepath.Join(dir, name), c.attr, c.value)
		from[name] = readState(t, dir)[name]
		s := &faultfs.Script{FailAt: 1, FailOp: "setattr", Err: worktreefs.ErrPermission}
		r, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), s)
		if err != nil || len(r.Conflicts) != c.conflicts || len(r.Without) != 1-c.conflicts {
			t.Errorf("%s: %v %+v", name, err, r)
		}
		want := to[name].data
		if c.conflicts > 0 {
			want = from[name].data
		}
		if got := readState(t, dir)[name].data; got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestT10Promise17NatureAfterACrash: cut short at any call and gone on with, or taken back, files are what they were
// besides their bytes.
func TestT10Promise17NatureAfterACrash(t *testing.T) {
	for n := 1; ; n++ {
		dir, from, to, natures := dressed(t)
		b := applyBlobs{}.add(from).add(to)
		steps := stepsBetween(from, to)
		_, err := runApply(t, dir, steps, b, &faultfs.Script{CrashAt: n})
		want, again := to, steps
		if n%2 == 0 && err != nil {
			want, again = from, tree.Reverse(steps)
		}
		mustReach(t, dir, again, b, want)
		sameNatures(t, dir, natures)
		if t.Failed() {
			t.Fatalf("cut at %d", n)
		}
		if err == nil {
			break
		}
	}
}

// TestT10Promise17TheFileItselfGoesBack: a run that is taken back while the files that it displaced are in the stage
// puts these very files back: inode, setuid that the target did not have, second names, times.
func TestT10Promise17TheFileItselfGoesBack(t *testing.T) {
	itself := 0
	for n := 1; ; n++ {
		dir := applyDir(t)
		from, to := applyState{"a": nf("one", 0o4755), "b": nf("one", 0o644)},
			applyState{"a": nf("two", 0o644), "b": nf("three", 0o600)}
		buildState(t, dir, from)
		path := filepath.Join(dir, "a")
		if err := os.Link(path, filepath.Join(dir, "other")); err != nil {
			t.Fatal(err)
		}
		was, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		b, steps := applyBlobs{}.add(from).add(to), stepsBetween(from, to)
		s := &faultfs.Script{CrashAt: n}
		_, err = runApply(t, dir, steps, b, s)
		if err == nil {
			break
		}
		discarding := strings.Contains(s.Log(), "remove ") // one of them is gone
		r, err := runApply(t, dir, tree.Reverse(steps), b, &faultfs.Script{})
		if err != nil || len(r.Conflicts) > 0 {
			t.Fatal(err, r.Conflicts)
		}
		is, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if os.SameFile(is, was) {
			itself++
			if is.Mode() != was.Mode() || !is.ModTime().Equal(was.ModTime()) {
				t.Errorf("cut at %d: %v, was %v", n, is, was)
			}
		} else if !discarding {
			t.Errorf("cut at %d: another file\n%s", n, s.Log())
		}
		if left := stageHolds(t, dir); len(left) > 0 || readState(t, dir)["a"].data != "one" {
			t.Errorf("cut at %d: stage holds %q, a is %v", n, left, readState(t, dir)["a"])
		}
	}
	if itself < 10 {
		t.Errorf("only %d", itself)
	}
}

// TestPromise17ApplyAsAnother: what only the superuser can give is named, and nobody gets a right by it.
func TestPromise17ApplyAsAnother(t *testing.T) {
	asRoot(t)
	dir := attrDir(t)
	from := applyState{
		"foreign": nf("one", 0o4664), "group": nf("one", 0o2660), "caps": nf("one", 0o755), "linked": nf("one", 0o644),
		"acl": nf("one",
			0o660), "fine": nf("one", 0o600),
	}
	to := applyState{}
	for p, x := range from {
		x.data = "two"
		to[p] = x
	}
	buildState(t, dir, from)
	in := func(p string) string { return filepath.Join(dir, p) }
	if err := os.Link(in("linked"), in("other")); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error { return os.Lchown(p, 1234, 1234) }); err != nil {
		t.Fatal(err)
	}
	dress(t, in("foreign"), 777, 1234, 0o4664)
	dress(t, in("group"), 1234, 777, 0o2660)
	dress(t, in("caps"), 1234, 1234, 0o755, worktreefs.CapabilityAttr, capability)
	dress(t, in("acl"), 1234, 1234, 0o660, accessACL, aclOf(6, 0, 6))
	acl := nature(t, in("acl"))
	asUser(t, 1234, func() {
		r, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), &faultfs.Script{})
		if err != nil || len(r.Conflicts) > 0 {
			t.Errorf("%v %v", err, r.Conflicts)
			return
		}
		want := []value.Without{
			{Path: "caps", What: []string{"capabilities"}},
			{Path: "foreign", What: []string{"owner", "setuid"}},
			{Path: "group", What: []string{"group", "setgid"}},
			{Path: "linked", What: []string{"links"}},
		}
		if fmt.Sprint(r.Without) != fmt.Sprint(want) {
			t.Errorf("without %v, want %v", r.Without, want)
		}
	})
	for p, want := range map[string]string{
		"foreign": "0664 1234:1234", "group": "0600 1234:1234", "caps": "0755 1234:1234", "linked": "0644 1234:1234",
		"fine": "0600 1234:1234", "acl": acl,
	} {
		if got := nature(t, in(p)); got != want {
			t.Errorf("%s is %s, want %s", p, got, want)
		}
	}
}

// TestPromise17ApplyDefaultACL: what a directory hands down to what is made in it is not handed to files by way of the
// stage.
func TestPromise17ApplyDefaultACL(t *testing.T) {
	dir := attrDir(t)
	setAttr(t, dir, defaultACL, aclOf(6, 6, 6))
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Removexattr(filepath.Join(dir, "closed"), defaultACL); err != nil {
		t.Fatal(err)
	}
	to := applyState{"closed/f": nf("f", 0o660), "closed/n": nd(0o770), "closed/n/g": nf("g", 0o660)}
	if r, err := runApply(t, dir, stepsBetween(applyState{}, to), applyBlobs{}.add(to),
		&faultfs.Script{}); err != nil ||
		len(r.Conflicts) > 0 {
		t.Fatal(err, r.Conflicts)
	}
	for p := range to {
		if got := nature(t, filepath.Join(dir, p)); strings.Contains(got, "acl") {
			t.Errorf("%s is %s", p, got)
		}
	}
}

// TestApplyGivesTheDirectorysGroup: in a directory that gives its group to what is made in it, that is so for what a
// restore makes there.
func TestApplyGivesTheDirectorysGroup(t *testing.T) {
	asRoot(t)
	dir := onDisk(t)
	from := applyState{"team": nd(0o755)}
	buildState(t, dir, from)
	dress(t, filepath.Join(dir, "team"), 1234, 2345, 0o2775)
	to := applyState{
		"team": nd(0o2775), "team/f": nf("f", 0o664), "team/n": nd(0o755), "team/n/m": nd(0o500),
		"team/n/m/g": nf("g", 0o644),
	}
	r, err := runApply(t, dir, stepsBetween(applyState{"team": nd(0o2775)}, to), applyBlobs{}.add(to),
		&faultfs.Script{})
	if err != nil || len(r.Conflicts) > 0 || len(r.Without) > 0 {
		t.Fatal(err, r)
	}
	for p, want := range map[string]string{
		"team/f": "0664 0:2345", "team/n": "2755 0:2345", "team/n/m": "2500 0:2345",
		"team/n/m/g": "0644 0:2345",
	} {
		if got := nature(t, filepath.Join(dir, p)); got != want {
			t.Errorf("%s is %s, want %s", p, got, want)
		}
	}
	if r.Perms["team/n"] != 0o2755 || r.Perms["team/n/m"] != 0o2500 {
		t.Errorf("told permissions %v", r.Perms)
	}
}

// TestPromise17ApplyNatureRaces: owner or attributes that change after they were looked at are not lost: the file stays
// as it is.
func TestPromise17ApplyNatureRaces(t *testing.T) {
	asRoot(t)
	for _, c := range []struct {
		name, before string
		change       func(t *testing.T, path string)
	}{
		{"owner, early", "move", func(t *testing.T, path string) { dress(t, path, 1234, 1234, 0o644) }},
		{
			"owner, at the last moment", "exchange",
			func(t *testing.T, path string) { dress(t, path, 1234, 1234, 0o644) },
		},
		{"list", "move", func(t *testing.T, path string) { dress(t, path, 0, 0, 0o644, accessACL, aclOf(4, 0, 4)) }},
		{"attribute", "move", func(t *testing.T, path string) { setAttr(t, path, "user.note", "new") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := attrDir(t)
			from, to := applyState{"f": nf("one", 0o644)}, applyState{"f": nf("two", 0o644)}
			buildState(t, dir, from)
			path, was, done := filepath.Join(dir, "f"), "", false
			s := &faultfs.Script{Before: func(_ int, call faultfs.Call) {
				if call.Op == c.before && !done {
					done = true
					c.change(t, path)
					was = nature(t, path)
				}
			}}
			r, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), s)
			if err != nil || len(r.Conflicts) != 1 {
				t.Fatal(err, r.Conflicts)
			}
			if got := nature(t, path); got != was || readState(t, dir)["f"].data != "one" {
				t.Errorf("f is %s, was %s", got, was)
			}
			if left := stageHolds(t, dir); len(left) > 0 {
				t.Errorf("stage holds %q", left)
			}
		})
	}
	// A second name or a touch is not such a change.
	dir := attrDir(t)
	from, to := applyState{"f": nf("one", 0o644)}, applyState{"f": nf("two", 0o644)}
	buildState(t, dir, from)
	s := &faultfs.Script{Before: func(_ int, call faultfs.Call) {
		if call.Op == "move" {
			_ = os.Chmod(filepath.Join(dir, "f"), 0o644)
		}
	}}
	if r, err := runApply(t, dir, stepsBetween(from, to), applyBlobs{}.add(from).add(to), s); err != nil ||
		len(r.Conflicts) > 0 {
		t.Error(err, r.Conflicts)
	}
}

// TestForesee: what a dry run tells is what a restore then tells.
func TestForesee(t *testing.T) {
	dir, from, to, _ := dressed(t)
	from["x"], to["x"] = nf("x", 0o644), nf("x", 0o4755)
	to["n"], to["n/s"] = nd(0o2755), nf("s", 0o6755)
	buildState(t, dir, applyState{"x": from["x"]})
	if err := os.Link(filepath.Join(dir, "plain"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	root, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	steps := stepsBetween(from, to)
	slices.Reverse(steps) // in any order
	want, perms, err := apply.Foresee(root, steps)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runApply(t, dir, steps, applyBlobs{}.add(from).add(to), &faultfs.Script{})
	if err != nil || fmt.Sprint(r.Without) != fmt.Sprint(want) || fmt.Sprint(r.Perms) != fmt.Sprint(perms) ||
		len(want) != 4 {
		t.Errorf("%v: foreseen %v, happened %v", err, want, r.Without)
	}
}

// TestApplySparse: blocks of zeros take no room, and the bytes are the same.
func TestApplySparse(t *testing.T) {
	const block = apply.HoleBlock
	rnd := rand.New(rand.NewPCG(1, 2))
	to := applyState{
		"hole":    nf(strings.Repeat("\x00", 64<<20), 0o644),
		"end":     nf(strings.Repeat("\x00", 32<<20)+"end", 0o644),
		"middle":  nf("begin"+strings.Repeat("\x00", 32<<20)+"end", 0o644),
		"less":    nf(strings.Repeat("\x00", block-1), 0o644),
		"zero":    nf("\x00", 0o644),
		"shifted": nf("x"+strings.Repeat("\x00", 3*block), 0o644),
	}
	for i := range 40 {
		var b bytes.Buffer
		for range rnd.IntN(100) {
			piece := make([]byte, []int{1, 17, block - 1, block, 5 * block, apply.CopyBuffer}[rnd.IntN(6)])
			if rnd.IntN(2) == 0 {
				piece[rnd.IntN(len(piece))] = 1
			}
			b.Write(piece)
		}
		to[fmt.Sprint("random", i)] = nf(b.String(), 0o644)
	}
	dir := onDisk(t)
	mustReach(t, dir, stepsBetween(applyState{}, to), applyBlobs{}.add(to), to)
	for p, most := range map[string]int64{"hole": 64, "end": 64, "middle": 128} {
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, p), &st); err != nil {
			t.Fatal(err)
		}
		if st.Blocks > most { // of 512 bytes
			t.Errorf("%s of %d MiB takes %d KiB", p, st.Size>>20, st.Blocks/2)
		}
	}
}
