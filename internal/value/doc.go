// Package value has the plain values that the engine and the API both know, each declared once, with its JSON: what a
// client links of the engine's words. It does nothing and links next to nothing.
package value
