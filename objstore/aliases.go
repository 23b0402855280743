package objstore

import (
	"io"

	"rewind/objstore/object"
)

// What an object is: see package object.
type (
	// ID is the BLAKE3-256 hash that names an object within its kind.
	ID = object.ID
	// Key is the part of an id that an object is stored under.
	Key = object.Key
	// Kind says what an object is.
	Kind = object.Kind
	// Codec says how an envelope holds its object.
	Codec = object.Codec
	// Hasher computes the id of a blob piece by piece.
	Hasher = object.Hasher
	// FormatError is a value that this version does not know.
	FormatError = object.FormatError
)

// The kinds.
const (
	Blob       = object.Blob
	Tree       = object.Tree
	Checkpoint = object.Checkpoint
	Note       = object.Note
	Transcript = object.Transcript
)

// CodecChunks is that of a blob that is kept in chunks.
const CodecChunks = object.CodecChunks

const (
	// MaxObject bounds an object that is held in memory as a whole, in bytes.
	MaxObject = object.MaxObject
	// ChunkThreshold is the size in bytes above which a blob is stored as chunks.
	ChunkThreshold = object.ChunkThreshold
)

// Zero is the id of nothing.
var Zero ID

// Errors of ids and sizes.
var (
	// ErrBadID: the text is no id, or no prefix of one (4 to 64 hex digits).
	ErrBadID = object.ErrBadID
	// ErrTooLarge: the object is over MaxObject; a blob is read with Open and written with PutReader.
	ErrTooLarge = object.ErrTooLarge
)

// Sum gives the id of an object. It is safe for concurrent use.
func Sum(k Kind, raw []byte) ID { return object.Sum(k, raw) }

// ParseID reads what ID.String gives; anything else is ErrBadID.
func ParseID(s string) (ID, error) { return object.ParseID(s) }

// NewHasher returns a hasher that has seen nothing yet.
func NewHasher() *Hasher { return object.NewHasher() }

// NewKeyedHasher returns one whose sums are not ids but tell nothing about the content without the key.
func NewKeyedHasher(key [32]byte) *Hasher { return object.NewKeyedHasher(key) }

// NewZstdReader reads a zstd file of somebody else's, of any length, in bounded memory.
func NewZstdReader(r io.Reader) (io.ReadCloser, error) { return object.NewZstdReader(r) }

// TrimCaches gives up what is kept only for the next piece of work: encoders.
func TrimCaches() { object.TrimCaches() }
