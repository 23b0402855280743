// Package bug holds deliberate faults: at places that promises hang on, the code asks whether it shall be wrong, in the one way that is named there.
// Only a build with the tag rewind_bug can be, and only when the environment variable REWIND_BUG names the fault. In every other build Is is a
// constant, and the compiler leaves the branch out.
//
// internal/torture lists the faults with the tests that must find each of them: a matrix of proofs that lets one through has a hole.
package bug
