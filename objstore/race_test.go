//go:build race

package objstore

// The race detector makes hashing and compressing some ten times slower.
const underRace = true
