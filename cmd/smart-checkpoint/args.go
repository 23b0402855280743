package main

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

const (
	usage = "usage: smart-checkpoint <event> --agent <name> [--deadline <milliseconds>]"

	defaultDeadline = time.Second
	maxDeadline     = time.Hour
	maxWord         = 256 // bytes of an event or agent
)

type options struct {
	event, agent string
	deadline     time.Duration // from the start of the process
	version      bool
}

func parseArgs(args []string) (options, error) {
	o := options{deadline: defaultDeadline}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "-") {
			if o.event != "" {
				return o, errors.New("more than one event")
			}
			o.event = arg
			continue
		}
		if arg == "--version" {
			o.version = true
			return o, nil
		}
		name, value, given := strings.Cut(arg, "=")
		if name != "--agent" && name != "--deadline" {
			return o, errors.New("unknown option " + clean(name, maxWord))
		}
		if !given {
			if len(args) == 0 {
				return o, errors.New(name + " needs a value")
			}
			value, args = args[0], args[1:]
		}
		if name == "--agent" {
			o.agent = value
			continue
		}
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 || ms > int(maxDeadline/time.Millisecond) {
			return o, errors.New("--deadline is a number of milliseconds up to an hour")
		}
		o.deadline = time.Duration(ms) * time.Millisecond
	}
	return o, o.incomplete()
}

// incomplete says what a command line lacks.
func (o options) incomplete() error {
	switch {
	case o.event == "":
		return errors.New("no event")
	case o.agent == "":
		return errors.New("no --agent")
	case len(o.event) > maxWord || len(o.agent) > maxWord:
		return errors.New("an event or agent over 256 bytes")
	}
	return nil
}
