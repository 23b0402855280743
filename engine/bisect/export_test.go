package bisect

import "rewind/internal/treecopy"

// SetReflink has reflinks made by fn until the returned function is called.
func SetReflink(fn treecopy.Clone) (back func()) {
	was := reflink
	reflink = fn
	return func() { reflink = was }
}

// SetLimits bounds what is copied until the returned function is called.
func SetLimits(reflinks, copies treecopy.Size) (back func()) {
	wasReflinks, wasCopies := reflinkLimit, copyLimit
	reflinkLimit, copyLimit = reflinks, copies
	return func() { reflinkLimit, copyLimit = wasReflinks, wasCopies }
}
