package snapshot

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// storeThrough changes the beginning of a file as nothing reports it: through a mapping that was there, and written to,
// before.
func storeThrough(t *testing.T, path string, size int) (store func(string)) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	check(t, err)
	t.Cleanup(func() {
		check(t, unix.Munmap(m))
		check(t, f.Close())
	})
	m[0] = 'f' // its stamps are set now, and stay
	return func(s string) { copy(m, s) }
}

// A hasty snapshot, which an agent waits for, reads an edited file once. What is written to it then is reported, and
// read by the next one, whatever the stamps say. What nothing reports is left to the next snapshot that is not hasty:
// the stamp of a file that was read so soon proves nothing to it.
func TestPromise14HastyLeavesTheYoungToLater(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint("full=", full), func(t *testing.T) {
			v := oversee(t)
			path := v.root + "/dir/f"
			write(t, path, "first")
			write(t, v.root+"/dir/other", "other")
			age()
			v.ill()
			v.ill()
			write(t, path, "edits")
			store := storeThrough(t, path, 5)
			st, err := os.Stat(path)
			check(t, err)
			snap := func(what string, after time.Duration, hasty, full bool, hashed int, content string) {
				t.Helper()
				r, x, err := v.snap(func(s *Source) {
					s.now = func() time.Time { return st.ModTime().Add(after) }
					s.Hasty, s.Full = hasty, full
				})
				check(t, err)
				if got := inStore(t, x, r.Root)["dir/f"].Content; r.hashed != hashed || got != content {
					t.Errorf("%s: %d read, want %d; the file is %q, want %q", what, r.hashed, hashed, got, content)
				}
				v.commit(r, x)
			}
			snap("the edit", 1, true, false, 1, "fdits")
			snap("nothing new", 2, true, false, 0, "fdits")
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			check(t, err)
			_, err = f.Write([]byte("again"))
			check(t, err)
			check(t, f.Close())
			snap("a write that is reported", 3, true, false, 1, "again")
			store("STORE")
			snap("nothing reported", time.Hour, true, false, 0, "again")
			write(t, v.root+"/dir/other", "beside")
			snap("another one's edit", time.Hour, true, false, 1, "again")
			snap("not hasty", time.Hour, false, full, 1, "STORE")
			snap("nothing left", time.Hour, false, false, 0, "STORE")
			if full && v.w.Status().Missed != 0 {
				t.Error("what was left to be looked at again counts as missed")
			}
		})
	}
}

// More than a few names are not left to later.
func TestHastyLooksAtMany(t *testing.T) {
	v := oversee(t)
	v.ill()
	before := time.Now()
	for i := range maxRacy + 1 {
		write(t, fmt.Sprintf("%s/%d", v.root, i), fmt.Sprint(i))
	}
	for i, want := range []int{maxRacy + 1, maxRacy + 1, 0} {
		r, x, err := v.snap(func(s *Source) {
			s.now = func() time.Time { return before.Add(time.Duration(i) * time.Hour) }
			s.Hasty = true
		})
		check(t, err)
		v.commit(r, x)
		if r.hashed != want || v.cache.base.racy.len() != []int{maxRacy + 1, 0, 0}[i] {
			t.Errorf("snapshot %d: %d read, want %d; %d left", i, r.hashed, want, v.cache.base.racy.len())
		}
	}
}
