// Package faultfs is worktreefs' twin for tests: it passes every call to a real directory, counts and records the
// calls, calls back before a chosen one (a racing editor), fails a chosen one, or plays dead from a chosen one on (a
// crash).
//
// A call that is played dead or fails is not passed on, save a write, of which half is: what a process killed in
// the middle of it leaves. A fault that never fired proves nothing: every test ends with AssertFired.
package faultfs
