// Package layertest holds the source tree against the design: the table of
// packages and imports in DESIGN.md, the bans that keep each concern in one
// place, and the form of the files. It has no code of its own, only tests.
//
// Every rule is data with a reason (rules_test.go), and the reason is what a
// breach prints. A rule about something that no longer exists is a breach too,
// so the list cannot rot.
package layertest
