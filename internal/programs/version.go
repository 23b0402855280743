package programs

import (
	"context"
	"fmt"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

// Version is what this program says that it is: release, which its build was given, else the revision of its sources.
func Version(release string) string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return devel + "-" + s.Value[:12]
			}
		}
	}
	return devel
}

// devel begins the version of what is no release; the hook's client has no other.
const devel = "devel"

// versionPatience bounds the start of a program that is asked for its version.
const versionPatience = 5 * time.Second

// askVersion starts one of the programs to hear its version.
func askVersion(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	words := strings.Fields(string(out))
	if err == nil && len(words) == 0 {
		err = fmt.Errorf("%s does not say its version", path)
	}
	if err != nil {
		return "", err
	}
	return words[len(words)-1], nil
}

// Odd says which program of a directory has another version than a rewind; "": none of those that can be asked.
func Odd(ctx context.Context, dir, rewind string) string {
	want, err := askVersion(ctx, rewind)
	if err != nil {
		return ""
	}
	for _, name := range all {
		path := Path(dir, name)
		if got, err := askVersion(ctx, path); err == nil && !sameVersion(got, want) {
			return fmt.Sprintf("%s has version %s, and this rewind %s", path, got, want)
		}
	}
	return ""
}

// List are names as a sentence has them.
func List(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// sameVersion reports whether two programs of these versions work together.
func sameVersion(a, b string) bool {
	return a == b || a == devel && strings.HasPrefix(b, devel) || b == devel && strings.HasPrefix(a, devel)
}
