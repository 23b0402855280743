package term

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Quote returns a path as git prints it with core.quotePath off: unchanged when
// it is clean, else in double quotes with C escapes, octal for bytes that are
// not UTF-8. Runes that a terminal would not show as themselves (see [Sanitize])
// are octal too, so the result is always safe to print. Two different paths
// never give the same text, and git reads it back in the headers of a patch.
func Quote(path string) string {
	if path != "" && isPlainASCII(path) && !strings.ContainsAny(path, `"\`) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	changed := path == ""
	prev := rune(-1)
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		valid := r != utf8.RuneError || n > 1
		plain := valid && r != '"' && r != '\\'
		if plain && (isShown(r) || joins(prev, r, path[i+n:])) {
			b.WriteString(path[i : i+n])
		} else {
			changed = true
			quoteBytes(&b, path[i:i+n])
		}
		prev = r
		i += n
	}
	if !changed {
		return path
	}
	b.WriteByte('"')
	return b.String()
}

// quoteBytes writes every byte as a C escape.
func quoteBytes(b *strings.Builder, s string) {
	const names = "\a\b\t\n\v\f\r\"\\"
	const letters = `abtnvfr"\`
	for i := 0; i < len(s); i++ {
		if k := strings.IndexByte(names, s[i]); k >= 0 {
			b.WriteByte('\\')
			b.WriteByte(letters[k])
			continue
		}
		fmt.Fprintf(b, `\%03o`, s[i])
	}
}
