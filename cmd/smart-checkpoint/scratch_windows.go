package main

import "os"

// scratch makes a temporary file. Its name stays: a file that is open cannot be removed here.
func scratch() (*os.File, error) { return os.CreateTemp("", "rewind-hook-*") }
