package relay

import "errors"

var errEscape = errors.New("malformed percent-encoding")

const hexDigits = "0123456789ABCDEF"

// unreserved reports whether b stands for itself in a header's value: RFC 3986, section 2.3, and "/".
func unreserved(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '.' || b == '_' || b == '~' || b == '/'
}

// Escape encodes any bytes as a header's value.
func Escape(s string) string {
	var b []byte
	for i := range len(s) {
		if c := s[i]; unreserved(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(b)
}

// Unescape is the inverse of Escape. It takes no other form of a text than Escape's.
func Unescape(s string) (string, error) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) {
				return "", errEscape
			}
			high, low := unhex(s[i+1]), unhex(s[i+2])
			if high < 0 || low < 0 || unreserved(byte(high<<4|low)) {
				return "", errEscape
			}
			c = byte(high<<4 | low)
			i += 2
		} else if !unreserved(c) {
			return "", errEscape
		}
		b = append(b, c)
	}
	return string(b), nil
}

// unhex is the value of an upper-case hex digit, else -1.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
