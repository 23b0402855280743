package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Names in View.Layers.
const (
	hiddenName  = "hidden" // what the overlay of Tree must not show of Root
	workName    = "work"   // the overlay's own
	asideName   = "aside"  // what is written into Root
	asideWork   = "aside-work"
	throughName = "through" // mounted there: directories into which the command may write
	belowName   = "below"   // mounted there: file systems that are mounted below Root
)

// show mounts the view. Nothing of it is seen outside of this process and those that it starts.
//
// Tree is mounted over itself: Root lies under a layer that hides all of it but the directories that are to be seen,
// and Tree lies over both. So each of those is an ordinary directory, which can be removed, and what is written goes
// into Tree. Root is mounted over itself, under an empty layer: an absolute path leads to the project as it is, and
// what is written there goes into that layer.
func (s *supervisor) show() error {
	v := s.View
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fail("make mounts private", "/", err)
	}
	if err := os.MkdirAll(v.Layers, 0o700); err != nil {
		return err
	}
	keep, err := s.setAside()
	if err != nil {
		return err
	}
	if s.Level == Overlay {
		err = s.showOverlaid(keep)
	} else {
		err = s.showReadOnly()
	}
	if err != nil {
		return err
	}
	return s.cover(keep)
}

// kept is what is mounted elsewhere while Root is covered.
type kept struct {
	at   string // where
	path string // below Root
	open bool   // the command may write there
}

// setAside mounts, at places of their own, what is to be reached after Root is covered: the directories into which the
// command may write, and file systems that are mounted below Root, which an overlay does not show.
func (s *supervisor) setAside() (list []kept, err error) {
	for i, path := range s.View.Through {
		if fi, err := os.Lstat(filepath.Join(s.View.Root, path)); err != nil || fi.Mode()&os.ModeSymlink != 0 {
			continue // it leads elsewhere, or nowhere
		}
		at := filepath.Join(s.View.Layers, throughName, fmt.Sprint(i))
		list = append(list, kept{at: at, path: path, open: true})
	}
	if s.Level == Overlay {
		paths, err := mountsBelow(s.View.Root)
		if err != nil {
			return nil, err
		}
		for i, path := range paths {
			list = append(list, kept{at: filepath.Join(s.View.Layers, belowName, fmt.Sprint(i)), path: path})
		}
	}
	for _, k := range list {
		if err := bind(filepath.Join(s.View.Root, k.path), k.at); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// bind mounts a file or directory, with what is mounted below it, at a place that is made.
func bind(from, at string) error {
	fi, err := os.Stat(from)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		err = os.MkdirAll(at, 0o700)
	} else if err = os.MkdirAll(filepath.Dir(at), 0o700); err == nil {
		var f *os.File
		if f, err = os.OpenFile(at, os.O_CREATE|os.O_RDONLY, 0o600); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		return err
	}
	return fail("mount", from, unix.Mount(from, at, "", unix.MS_BIND|unix.MS_REC, ""))
}

// bindReadOnly is bind, and nothing can be written there.
func bindReadOnly(from, at string) error {
	if err := bind(from, at); err != nil {
		return err
	}
	only := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return fail("mount read-only", at, unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW, &only))
}

// showOverlaid mounts Tree over itself.
func (s *supervisor) showOverlaid(keep []kept) error {
	v := s.View
	if len(v.Overlaid) == 0 && !s.Probe {
		return nil
	}
	hidden := filepath.Join(v.Layers, hiddenName)
	if err := hide(v.Root, hidden, v.Overlaid); err != nil {
		return err
	}
	if err := s.overlay([]string{hidden, v.Root}, v.Tree, filepath.Join(v.Layers, workName), v.Tree); err != nil {
		return err
	}
	for _, k := range keep {
		first, _, _ := strings.Cut(k.path, "/")
		if !slices.Contains(v.Overlaid, first) || k.open {
			continue
		}
		if err := s.layer(k.at, filepath.Join(v.Tree, k.path), k.at+"-tree"); err != nil {
			return err
		}
	}
	return nil
}

// layer shows what is mounted at from at another place, with a layer of its own, or read-only where that cannot be.
func (s *supervisor) layer(from, at, layers string) error {
	if _, err := os.Lstat(at); err != nil {
		return nil // the command has removed it
	}
	upper := filepath.Join(layers, "upper")
	if fi, err := os.Stat(from); err == nil && fi.IsDir() && os.MkdirAll(upper, 0o700) == nil {
		if s.overlay([]string{from}, upper, filepath.Join(layers, "work"), at) == nil {
			return nil
		}
	}
	return bindReadOnly(from, at)
}

// hide makes a layer that hides everything at the top of a directory but some names.
func hide(root, layer string, but []string) error {
	if err := os.RemoveAll(layer); err != nil {
		return err
	}
	if err := os.Mkdir(layer, 0o700); err != nil {
		return err
	}
	d, err := os.Open(root)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(but, name) {
			continue
		}
		// A device with the number 0 is how an overlay says that a name is not there.
		if err := unix.Mknod(filepath.Join(layer, name), unix.S_IFCHR, int(unix.Mkdev(0, 0))); err != nil {
			return fail("hide", name, err)
		}
	}
	return nil
}

// showReadOnly mounts directories of Root in Tree.
func (s *supervisor) showReadOnly() error {
	for _, path := range s.View.ReadOnly {
		at := filepath.Join(s.View.Tree, path)
		if fi, err := os.Lstat(at); err != nil || !fi.IsDir() {
			continue // the command has removed it, and put something else there
		}
		if err := bindReadOnly(filepath.Join(s.View.Root, path), at); err != nil {
			return err
		}
	}
	return nil
}

// cover mounts Root over itself.
func (s *supervisor) cover(keep []kept) error {
	v := s.View
	if s.Level == ReadOnly {
		if err := bindReadOnly(v.Root, v.Root); err != nil {
			return err
		}
	} else {
		aside := filepath.Join(v.Layers, asideName)
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return err
		}
		if err := s.overlay([]string{v.Root}, aside, filepath.Join(v.Layers, asideWork), v.Root); err != nil {
			return err
		}
	}
	for _, k := range keep {
		at := filepath.Join(v.Root, k.path)
		show := bindReadOnly
		if k.open {
			show = bind
		}
		if err := show(k.at, at); err != nil {
			return err
		}
	}
	return nil
}

// overlay mounts layers, the topmost first, under one that is written to.
func (s *supervisor) overlay(lower []string, upper, work, at string) error {
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	open := func(path string) (string, func(), error) {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", nil, fail("open", path, err)
		}
		// a path could have the marks that part options
		return fmt.Sprintf("/proc/self/fd/%d", fd), func() { unix.Close(fd) }, nil
	}
	var names []string
	for _, path := range append(append([]string{}, lower...), upper, work) {
		name, done, err := open(path)
		if err != nil {
			return err
		}
		defer done()
		names = append(names, name)
	}
	n := len(lower)
	// What would make a layer depend on how the one below it was is off: that one is the project, and changes.
	options := "index=off,metacopy=off,xino=off,redirect_dir=nofollow,lowerdir=" + strings.Join(names[:n], ":") +
		",upperdir=" + names[n] + ",workdir=" + names[n+1]
	if s.User {
		options = "userxattr," + options // the attributes that overlays have else are root's of the whole system
	}
	return fail("mount an overlay at", at, unix.Mount("overlay", at, "overlay", 0, options))
}

// mountsBelow are the paths below a directory at which something is mounted, those above first.
func mountsBelow(root string) (list []string, err error) {
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	unquote := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		path, under := strings.CutPrefix(unquote.Replace(fields[4]), root+"/")
		if under && !within(path, list) {
			list = append(list, path)
		}
	}
	return list, nil
}

// within reports whether a path is one of a list, or below one: mounts are bound with what is mounted below them.
func within(path string, list []string) bool {
	for _, above := range list {
		if path == above || strings.HasPrefix(path, above+"/") {
			return true
		}
	}
	return false
}

// dropCapabilities takes from this thread, and from what it starts, what a user namespace gave it.
func dropCapabilities() error {
	if os.Geteuid() == 0 {
		return nil // root has them anyway
	}
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if errors.Is(err, unix.EINVAL) {
		return nil // a system that has none
	}
	return fail("drop", "capabilities", err)
}

func fail(op, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", op, what, err)
}
