package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// system names the processor, the kernel and the file system that dir is on.
func system(dir string) (cpu, kernel, disk string) {
	cpu, kernel, disk = runtime.GOARCH, runtime.GOOS, "unknown file system"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
	}
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) == nil {
		disk = fmt.Sprintf("file system %#x", uint32(st.Type))
		names := map[uint32]string{unix.EXT4_SUPER_MAGIC: "ext4", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.XFS_SUPER_MAGIC: "xfs", unix.TMPFS_MAGIC: "tmpfs (its fsync costs nothing)", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", 0x2fc12fc1: "zfs"}
		if name, ok := names[uint32(st.Type)]; ok {
			disk = name
		}
	}
	return cpu, kernel, disk
}
