// Package faultfs is worktreefs' twin for tests. It passes every call to a real directory, and counts and records the
// calls. It can call back before a chosen call (a racing editor), fail a chosen call, or fail all calls from a chosen
// one on (a crash).
//
// A call that is played dead or fails is not passed on, save a write, of which half is: what a process killed in
// the middle of it leaves. A fault that never fired proves nothing: every test ends with AssertFired.
package faultfs
