package browsertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// installed is the directory with packages that npm installs for the tests, into .bin; they are committed nowhere. A
// package is name@version.
func installed(t *testing.T, dir string, packages ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("../../.bin", dir))
	if err != nil {
		t.Fatal(err)
	}
	modules, missing := filepath.Join(dir, "node_modules"), false
	for _, p := range packages {
		at := strings.LastIndex(p, "@")
		var have struct{ Version string }
		b, _ := os.ReadFile(filepath.Join(modules, p[:at], "package.json"))
		_ = json.Unmarshal(b, &have)
		missing = missing || have.Version != p[at+1:]
	}
	if !missing {
		return modules
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Fatalf("npm is missing, which installs %s: Debian has it in the package npm", strings.Join(packages, " "))
	}
	args := []string{"install", "--prefix", dir, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"}
	if out, err := exec.Command("npm", append(args, packages...)...).CombinedOutput(); err != nil {
		t.Fatalf("npm: %v\n%s", err, out)
	}
	return modules
}

const scripts = "../../server/page/view/src"

// TestScriptTypes: TypeScript has nothing to say of the page's script and its tests. What bundles them drops the types
// unread.
func TestScriptTypes(t *testing.T) {
	t.Parallel()
	modules := installed(t, "typescript", "typescript@7.0.2", "@types/node@20.19.43")
	for _, project := range []string{scripts, scripts + "/test"} {
		cmd := exec.Command("node", filepath.Join(modules, "typescript", "bin", "tsc"),
			"--project", project, "--typeRoots", filepath.Join(modules, "@types"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", project, err, out)
		}
	}
}

// TestScriptParts: what of the page's script needs no document does what its tests say (src/test), in node.
func TestScriptParts(t *testing.T) {
	t.Parallel()
	tests, _ := filepath.Glob(scripts + "/test/*.test.ts")
	r := api.Build(api.BuildOptions{
		EntryPoints: tests, Outdir: t.TempDir(), Bundle: true, Platform: api.PlatformNode, Format: api.FormatESModule,
		OutExtension: map[string]string{".js": ".mjs"}, Sourcemap: api.SourceMapInline, Write: true,
	})
	if len(r.Errors) > 0 || len(tests) == 0 {
		t.Fatalf("the tests do not build: %v", r.Errors)
	}
	for _, f := range r.OutputFiles {
		out, err := exec.Command("node", "--test", "--enable-source-maps", f.Path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "pass ") {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// Nothing that is pure reads the document: it could not be tested without one.
func TestPureParts(t *testing.T) {
	pure, _ := filepath.Glob(scripts + "/pure/*.ts")
	if len(pure) == 0 {
		t.Fatal("there are none")
	}
	for _, name := range pure {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"document.", "window.", "localStorage", "location.", `from "../`} {
			if strings.Contains(string(b), word) {
				t.Errorf("%s has %s", name, word)
			}
		}
	}
}
