package object

import "encoding/hex"

// A Key is the part of an id that an object is stored under: its first 160 bits. Whole ids stand in what names an
// object, and every read compares its content with the whole id, so that a key can never give another object's bytes.
// Keys are comparable.
type Key [20]byte

// Key gives the key of the object named id.
func (id ID) Key() Key { return Key(id[:len(Key{})]) }

// String gives all 40 hex digits, in lower case. Resolve accepts them.
func (key Key) String() string { return hex.EncodeToString(key[:]) }

// Short gives the first 12 hex digits, as ID.Short does.
func (key Key) Short() string { return hex.EncodeToString(key[:6]) }

// IsZero tells whether key is that of Zero.
func (key Key) IsZero() bool { return key == Key{} }

// Digit gives the i-th hex digit as a number.
func (key Key) Digit(i int) byte {
	if i%2 == 0 {
		return key[i/2] >> 4
	}
	return key[i/2] & 15
}
