//go:build unix && !linux && !darwin

package relay

import "os"

// peer trusts the directory that the socket lies in: this system is not asked who serves it.
func peer(int) (int, error) { return os.Geteuid(), nil }
