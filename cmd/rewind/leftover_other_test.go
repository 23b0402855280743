//go:build !linux

package main

import "os/exec"

// endBelow ends the daemon of an environment, whose stores are below a directory that goes.
func endBelow(_ string, env []string) {
	stop := exec.Command("rewind", "daemon", "stop")
	stop.Env = env
	_ = stop.Run()
}
