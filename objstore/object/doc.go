// Package object is what an object of the store is, and the bytes it is kept as. It is pure: bytes go in, bytes or an
// error come out, and nothing is read or written.
//
// An object has a [Kind] and content; its [ID] is the hash of both ([Sum]), its [Key] the part of the id that it lies
// under. What lies there is an [Envelope]: the content as it is, compressed, as a delta against the content of a base,
// or as a list of chunks. [EncodeWhole] and [EncodeDelta] choose and make one; [Decode] reads one and checks what can
// be checked without its base; Envelope.Whole and Envelope.Apply give the content, which is verified by whoever knows
// the id. If bytes decode, encoding gives the same bytes; all that a decoder allocates is bounded before it is. The
// formats, to the byte, are docs/format.md#ids to docs/format.md#chunk-list.
package object
