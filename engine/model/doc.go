// Package model has the records of an open project and nothing that acts on them: checkpoints and what caused them,
// sessions and where they come from, cursors into conversations, journals of restores, squash records, messages, what a
// restore kept and took, and the errors that callers act on. Each record that lies on disk encodes and decodes itself
// here; docs/format.md has the bytes. A decoder refuses what its encoder would not have written.
package model
