package object

import (
	"encoding/hex"
	"fmt"
)

// An ID is the BLAKE3-256 hash that names an object within its kind. IDs are comparable.
type ID [32]byte

// Zero is the id of nothing.
var Zero ID

// String gives all 64 hex digits, in lower case.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Short gives the first 12 hex digits, for messages. It need not be unique: see Store.ShortID.
func (id ID) Short() string { return hex.EncodeToString(id[:6]) }

// IsZero tells whether id is Zero.
func (id ID) IsZero() bool { return id == Zero }

// ParseID reads what String gives: 64 hex digits in lower case. Anything else is ErrBadID.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) || !LowerHex(s) {
		return Zero, fmt.Errorf("parse id %.80q: %w", s, ErrBadID)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return Zero, fmt.Errorf("parse id %.80q: %w", s, ErrBadID)
	}
	return id, nil
}

// MarshalText gives what String gives.
func (id ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText reads what ParseID reads.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Digit gives the i-th hex digit as a number.
func (id ID) Digit(i int) byte {
	if i%2 == 0 {
		return id[i/2] >> 4
	}
	return id[i/2] & 15
}

// LowerHex tells whether s has nothing but hex digits in lower case.
func LowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
