//go:build acceptance && !linux

package acceptance

import "os/exec"

// isolate: there are no network namespaces.
func isolate(*exec.Cmd) bool { return false }

func loopbackUp() error { return nil }

// killHome: a process does not show its environment.
func killHome(string) {}
