// Package kvtest gives tests file systems for a store that lose power or fail on demand. It is for tests only; it
// exists so that the packages above kv can do this without knowing pebble.
package kvtest
