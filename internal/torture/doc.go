// Package torture is the matrix of proofs in one place: how large each of its tests is in CI and as torture, the seed,
// the figures that a run leaves behind, and the deliberate faults that the matrix must find. It is for tests and for
// the program that runs the matrix (internal/torture/matrix).
//
// A test belongs to the row whose number is in its name (T1 to T27), and proves the promise whose number is there. One
// that has a size calls Begin:
//
//	m := torture.Begin(t)
//	for i := range m.Points {
//		r := rand.New(rand.NewPCG(m.Seed+uint64(i), 1))
//		...
//		m.Point()
//	}
//
// The environment decides: REWIND_TORTURE asks for the full sizes, REWIND_POINTS for a number of points, REWIND_SEED
// for a seed, and REWIND_REPORT names a file to which each test adds a line with its figures.
package torture
