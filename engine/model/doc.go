// Package model has the records of an open project and nothing that acts on them. They are checkpoints and their
// causes, sessions and their origins, cursors into conversations, journals of restores, squash records and messages. It
// also has the paths that a restore kept and took, and the errors that callers act on. Each record that lies on disk
// encodes and decodes itself here; docs/format.md has the bytes. A decoder refuses what its encoder would not have
// written.
package model
