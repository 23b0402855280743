//go:build !race

package objstore

const underRace = false
