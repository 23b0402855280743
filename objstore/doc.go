// Package objstore keeps content-addressed objects: immutable bytes named by their BLAKE3 hash.
//
// An object is identified by its kind and its id. A blob's id is the plain BLAKE3-256 of its content, as b3sum prints
// it, whatever its size and however it is stored. The ids of the other kinds are derived with a context of their own:
// no object of one kind can be read as another.
//
// What is stored under an id is an envelope: the object as it is, compressed, as a delta against an earlier object of
// the same kind, or as a list of chunks. Which of these was chosen is invisible above this package, and may differ
// between two stores that hold the same objects. The formats, to the byte, are docs/format.md#ids to
// docs/format.md#chunk-list.
//
// Promises, to callers of this and every later version:
//
//   - Bytes are handed out only after their hash was compared with the id that was asked for. Anything else is a
//     *CorruptError naming kind and id. A stream is verified chunk by chunk, each before a byte of it is returned, and
//     as a whole before io.EOF.
//   - Absence is ErrNotFound, never a nil slice; an object whose base or chunk is missing is corrupt, not absent.
//   - An object that is there and sound is never written again, so that deltas cannot form a cycle. One that is there
//     but damaged is written anew, whole, when its content is put again.
//   - What a transaction put is visible to others with all of the batch it commits, or (spilled earlier for its size)
//     is named by nothing until then.
package objstore
