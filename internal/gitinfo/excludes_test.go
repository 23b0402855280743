package gitinfo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExcludes(t *testing.T) {
	for _, c := range []struct {
		name   string
		global string // ~/.gitconfig
		local  []string
		want   string // contents, lowest precedence first
		fold   bool
		calls  int // of git
	}{
		{name: "nothing", want: "default,info"},
		{name: "other settings", global: "[user]\n\tname = x\n", want: "default,info"},
		{name: "home", global: "[core]\n\texcludesFile = ~/mine\n", want: "mine,info", calls: 1},
		{name: "spelling", global: "[CORE] ExcludesFile = \"~/mine\" ; comment\n", want: "mine,info", calls: 1},
		{name: "empty turns the default off", global: "[core]\n\texcludesFile =\n", want: "info", calls: 1},
		{name: "absent file", global: "[core]\n\texcludesFile = ~/gone\n", want: "info", calls: 1},
		{name: "device", global: "[core]\n\texcludesFile = /dev/null\n", want: "info", calls: 1},
		{name: "directory", global: "[core]\n\texcludesFile = ~/dir\n", want: "info", calls: 1},
		{name: "included", global: "[include]\n\tpath = ~/more.config\n", want: "mine,info", calls: 1},
		{
			name:   "included when the directory fits",
			global: "[includeIf \"gitdir:**/r/.git\"]\n\tpath = ~/more.config\n",
			want:   "mine,info",
			calls:  1,
		},
		{
			name: "included elsewhere", global: "[includeIf \"gitdir:/other/\"]\n\tpath = ~/more.config\n",
			want: "default,info", calls: 1,
		},
		{
			name: "local beats global", global: "[core]\n\texcludesFile = ~/gone\n",
			local: []string{"core.excludesFile", "~/mine"},
			want:  "mine,info", calls: 1,
		},
		{name: "relative to the top", local: []string{"core.excludesFile", "a/file"}, want: "1,info", calls: 1},
		{name: "fold", local: []string{"core.ignoreCase", "yes"}, want: "default,info", fold: true, calls: 1},
		{name: "no fold", local: []string{"core.ignoreCase", "false"}, want: "default,info", calls: 1},
		{name: "a value alone is a comment", global: "# excludesFile\n", want: "default,info", calls: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := sandbox(t)
			dir := newRepo(t)
			git(t, dir, "worktree", "add", "-q", "../linked")
			put(t, filepath.Join(home, ".config/git/ignore"), "default\n")
			put(t, filepath.Join(home, "mine"), "mine\n")
			put(t, filepath.Join(home, "dir/x"), "")
			put(t, filepath.Join(home, "more.config"), "[core]\n\texcludesFile = ~/mine\n")
			put(t, filepath.Join(home, ".gitconfig"), c.global)
			put(t, filepath.Join(dir, ".git/info/exclude"), "info\n")
			for i := 0; i < len(c.local); i += 2 {
				git(t, dir, "config", c.local[i], c.local[i+1])
			}
			for _, root := range []string{dir, filepath.Join(filepath.Dir(dir), "linked")} {
				if strings.Contains(c.global, "includeIf \"gitdir:**/r") && root != dir {
					continue
				}
				if root != dir && c.want == "1,info" {
					put(t, filepath.Join(root, "a/file"), "1\n")
				}
				r := open(t, root)
				untouched(t, r.CommonDir())
				got, fold, calls := ask(t, r)
				if got != c.want || fold != c.fold || calls != c.calls {
					t.Errorf("%s: %s, fold %v, %d calls; want %s, %v, %d", root, got, fold, calls, c.want, c.fold,
						c.calls)
				}
			}
		})
	}
}

// ask gives the contents of the files, and how often git was started.
func ask(t *testing.T, r *Repo) (contents string, fold bool, calls int) {
	t.Helper()
	real := findGit(t)
	log := ""
	t.Run("ask", func(t *testing.T) {
		count := fakeGit(t, `exec `+real+` "$@"`)
		t.Setenv("GIT_DIR", "/nowhere")
		t.Setenv("GIT_CONFIG_COUNT", "1")
		t.Setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
		t.Setenv("GIT_CONFIG_VALUE_0", "/misled")
		files, f, err := r.Excludes()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range files {
			all = append(all, strings.TrimSpace(string(f.Data)))
		}
		contents, fold, log = strings.Join(all, ","), f, count()
	})
	return contents, fold, strings.Count(log, "\n")
}

func findGit(t *testing.T) string {
	t.Helper()
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if p := filepath.Join(d, "git"); stampOf(p) {
			return p
		}
	}
	t.Skip("missing tool: git")
	return ""
}

func stampOf(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular()
}

func TestExcludesElsewhere(t *testing.T) {
	home := sandbox(t)
	dir := newRepo(t)
	if err := os.Remove(filepath.Join(dir, ".git/info/exclude")); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	if got, _, _ := ask(t, r); got != "" {
		t.Errorf("nothing there: %q", got)
	}
	put(t, filepath.Join(home, "xdg/git/ignore"), "xdg\n")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	if got, _, _ := ask(t, r); got != "xdg" {
		t.Errorf("XDG_CONFIG_HOME: %q", got)
	}
	put(t, filepath.Join(home, "sys"), "[core]\n\texcludesFile = "+filepath.Join(home, "x")+"\n\tignoreCase\n")
	put(t, filepath.Join(home, "x"), "system\n")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "")
	t.Setenv("GIT_CONFIG_SYSTEM", filepath.Join(home, "sys"))
	if got, fold, _ := ask(t, r); got != "system" || !fold {
		t.Errorf("GIT_CONFIG_SYSTEM: %q, fold %v", got, fold)
	}
	withoutGit(t)
	files, fold, err := open(t, dir).Excludes()
	if err != nil || fold || len(files) != 1 || string(files[0].Data) != "xdg\n" {
		t.Errorf("without git the defaults hold: %q, %v, %v", files, fold, err)
	}
}

func TestExcludesBrokenConfig(t *testing.T) {
	home := sandbox(t)
	dir := newRepo(t)
	put(t, filepath.Join(home, ".gitconfig"), "[core\nexcludesFile = x\n")
	put(t, filepath.Join(home, ".config/git/ignore"), "default\n")
	put(t, filepath.Join(dir, ".git/info/exclude"), "info\n")
	files, _, err := open(t, dir).Excludes()
	if err == nil || len(files) != 2 {
		t.Errorf("got %q, %v; want an error and both files", files, err)
	}
}

func TestExcludesFollows(t *testing.T) {
	home := sandbox(t)
	dir := newRepo(t)
	r := open(t, dir)
	for i, want := range []string{"one", "two", "three"} {
		put(t, filepath.Join(home, want), want+"\n")
		put(t, filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/"+want+"\n")
		put(t, filepath.Join(dir, ".git/info/exclude"), want+"-info\n")
		if got, _, _ := ask(t, r); got != want+","+want+"-info" {
			t.Errorf("change %d is not seen: %q", i, got)
		}
	}
}
