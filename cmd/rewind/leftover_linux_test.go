package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// endBelow kills what still runs with a directory in its environment: a daemon whose stores go with the directory does
// not have to close them.
func endBelow(dir string, _ []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, []byte(dir+"/")) && !bytes.Contains(env, []byte(dir+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
