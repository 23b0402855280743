package ignore

import (
	"fmt"
	"testing"
)

// usual is a rules file of the size and kind that projects have.
const usual = "# deps\n/node_modules\n/.pnp\n.pnp.js\n/coverage\n/build\n/dist\n*.log\nnpm-debug.log*\nyarn-error.log*\n.env.local\n" +
	".env.*.local\n*.py[cod]\n*$py.class\n*.so\n*.egg-info/\n" +
	".eggs/\nlib64/\nsdist/\nwheels/\n*.manifest\n*.spec\npip-log.txt\nhtmlcov/\n.coverage\n.coverage.*\nnosetests.xml\n*.cover\n.hypothesis/\ndocs/_build/\n**/tmp/**\n!important.log\ntarget/\n**/*.rs.bk\n*.swp\n" +
	".idea/\n*.iml\n.vscode/*\n!.vscode/settings.json\nsrc/generated/**/*.pb.go\nout/\n*.class\n*.jar\n"

func entries() []string {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("component_%d.%s", i, []string{"go", "tsx", "py", "log"}[i%4]))
	}
	return names
}

func usualDir() *Dir {
	return New(Options{}, builtin()).WithFiles(File{".gitignore", []byte(usual)}, File{}).Child("src").Child("generated").Child("a")
}

// BenchmarkMatch is one name in a deep directory below a usual rules file.
func BenchmarkMatch(b *testing.B) {
	d, names := usualDir(), entries()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d.Match(names[i%len(names)], false)
		i++
	}
}

func BenchmarkChild(b *testing.B) {
	d := New(Options{}, builtin()).WithFiles(File{".gitignore", []byte(usual)}, File{})
	b.ReportAllocs()
	for b.Loop() {
		d.Child("src")
	}
}

func BenchmarkSecret(b *testing.B) {
	secret := Secrets(Globs(SecretPatterns()))
	b.ReportAllocs()
	for b.Loop() {
		secret("src/generated/a/component_1.tsx")
	}
}

func TestNoAllocation(t *testing.T) {
	d, names := usualDir(), entries()
	secret := Secrets(append(Globs(SecretPatterns()), "x/", "**/y/*z*/"))
	if n := testing.AllocsPerRun(10, func() {
		for _, name := range names {
			d.Match(name, false)
			d.Match(name, true)
			secret("src/generated/a/x.pb.go")
			secret("src/generated/a/.x.pb.go.swp")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
