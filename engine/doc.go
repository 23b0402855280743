// Package engine composes the parts into what rewind does: it takes checkpoints of a project and gives any of them
// back. It is the only package that knows about projects, plans and undo; below it are an object store, refs and
// trees, above it an API that only translates.
//
// Every method that writes the working tree follows one transaction (docs/restore.md#the-transaction): plan, durable
// safety checkpoint together with a journal, apply, verify, operation recorded together with the end of the journal.
//
// An Engine is safe for concurrent use; changes are serialised.
package engine
