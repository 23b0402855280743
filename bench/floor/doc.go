// Package floor is the least that a first snapshot and a scan can do on this machine, written without the product: what
// the product takes beyond it is its own doing. It shares the product's hash and compressor, at the level that the
// product has, and nothing else.
package floor
