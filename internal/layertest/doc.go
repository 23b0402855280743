// Package layertest compares the source tree with the design. It checks the table of packages and imports in DESIGN.md,
// the bans that keep each concern in one place, and the form of the files. It checks the names and the sentences of the
// documents, and the limits of complexity, connectives and columns. It has no code of its own, only tests.
//
// The limits are a ratchet: what was above them is listed in
// testdata/ratchet.txt with its number, and neither the list nor a number grows.
//
// Every rule is data with a reason (rules_test.go), and the reason is what a
// breach prints. A rule about something that no longer exists is a breach too,
// so the list cannot rot.
package layertest
