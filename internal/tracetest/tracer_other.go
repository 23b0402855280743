//go:build !linux

// Package tracetest kills programs in the middle of what they do, for tests.
package tracetest
