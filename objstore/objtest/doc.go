// Package objtest holds what tests need of objects: Map, a store in memory that is small enough to be right, and Run,
// the conformance suite that every implementation of objstore.Getter and objstore.Putter passes. It is for tests only.
package objtest
