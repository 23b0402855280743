//go:build !linux

package main

import (
	"errors"
	"time"
)

func memory(int) (now, most int64, err error) { return 0, 0, errors.ErrUnsupported }

func cpuTime(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

func watches(int) (int, error) { return 0, errors.ErrUnsupported }
