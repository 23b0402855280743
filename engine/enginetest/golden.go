package enginetest

import (
	"io"
	"os"
	"strings"

	"rewind/internal/osfile"
)

// Golden holds that a text is what the file of that name in testdata says, or writes the file anew. What differs is
// told from its first line on.
func (p *Project) Golden(update bool, name, text string) {
	p.T.Helper()
	file := "testdata/" + name + ".txt"
	if update {
		p.Must(os.MkdirAll("testdata", 0o755))
		p.Must(osfile.Write(file, osfile.Options{Temporary: ".new-"}, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}))
	}
	got, want := strings.Split(text, "\n"), strings.Split(p.Slurp(file), "\n")
	from := func(list []string, i int) string {
		return strings.Join(list[min(i, len(list)):min(i+3, len(list))], "\n")
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			p.T.Fatalf("%s, from line %d on:\n%s\nwant:\n%s", file, i+1, from(got, i), from(want, i))
		}
	}
}
