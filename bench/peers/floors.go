package main

import "rewind/bench/floor"

type knownDir = floor.Known

// firstFloor does the least that a first snapshot of a tree can be.
func firstFloor(dir, out string) (files int, err error) {
	t, err := floor.FirstSnapshot(dir, out, threads())
	return t.Files, err
}

func knownFiles(dir string) ([]knownDir, error) { return floor.List(dir) }

func statKnown(dirs []knownDir) (int, error) { return floor.StatKnown(dirs, threads()) }
