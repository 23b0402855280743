//go:build !linux

package ptytest

import (
	"errors"
	"os"
)

func open(uint16, uint16) (keys, screen *os.File, err error) { return nil, nil, errors.ErrUnsupported }
