package rundir

import (
	"strings"
	"testing"
)

func TestLogRotates(t *testing.T) {
	dir, err := Make(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := openLog(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		l.Logger().Info("a line", "n", i)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{LogName, oldLogName} {
		fi, err := dir.Stat(name)
		if err != nil || fi.Size() > 1000 || fi.Size() == 0 || fi.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
	}
	if b, _ := dir.Read(LogName); !strings.Contains(string(b), "n=99") {
		t.Errorf("the newest line is not in %s", LogName)
	}
}
