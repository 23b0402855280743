package programs

import (
	"bytes"
	"errors"
	"io"
	"os"
)

const comparedAtOnce = 1 << 20

// sameFile tells whether two files have the same bytes. quick believes that two of one size and time have.
func sameFile(a, b string, quick bool) (bool, error) {
	var files [2]*os.File
	var infos [2]os.FileInfo
	for i, path := range []string{a, b} {
		f, err := os.Open(path)
		if err != nil {
			return false, err
		}
		defer f.Close()
		if files[i] = f; err == nil {
			infos[i], err = f.Stat()
		}
		if err != nil {
			return false, err
		}
	}
	switch {
	case os.SameFile(infos[0], infos[1]):
		return true, nil
	case infos[0].Size() != infos[1].Size():
		return false, nil
	case quick && infos[0].ModTime().Equal(infos[1].ModTime()):
		return true, nil
	}
	return sameBytes(files)
}

func sameBytes(files [2]*os.File) (bool, error) {
	var parts [2][]byte
	for i := range parts {
		parts[i] = make([]byte, comparedAtOnce)
	}
	for {
		var n [2]int
		var ends [2]bool
		for i, f := range files {
			var err error
			n[i], err = io.ReadFull(f, parts[i])
			if ends[i] = err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !ends[i] {
				return false, err
			}
		}
		if !bytes.Equal(parts[0][:n[0]], parts[1][:n[1]]) {
			return false, nil
		}
		if ends[0] || ends[1] {
			return ends[0] == ends[1], nil
		}
	}
}
