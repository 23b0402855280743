package value

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestOpError(t *testing.T) {
	err := fmt.Errorf("more: %w", &OpError{Op: "open project", Subject: "/a b", Err: fs.ErrNotExist})
	if want := "more: open project /a b: file does not exist"; err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %s", err, want)
	}
	typed := &OpError{Op: "checkpoint", Subject: "a\"b\n", Typed: true, Err: fs.ErrNotExist}
	if want := `checkpoint "a\"b\n": file does not exist`; typed.Error() != want {
		t.Errorf("%v, want %s", typed, want)
	}
	if op, subject := typed.About(); op != "checkpoint" || subject != "a\"b\n" {
		t.Errorf("about %q %q", op, subject)
	}
}
