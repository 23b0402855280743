package gitinfo

import (
	"io/fs"
	"os"
)

// rawFile is an open file.
type rawFile struct{ f *os.File }

func openRaw(path string) (rawFile, error) {
	f, err := os.Open(path)
	return rawFile{f}, err
}

func (f rawFile) stat() (fs.FileMode, int64, error) {
	st, err := f.f.Stat()
	if err != nil {
		return 0, 0, err
	}
	return st.Mode(), st.Size(), nil
}

func (f rawFile) Read(b []byte) (int, error) { return f.f.Read(b) }

// Close closes a file that was only read.
func (f rawFile) Close() { _ = f.f.Close() }
