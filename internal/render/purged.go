package render

import (
	"fmt"

	"rewind/api"
	"rewind/internal/term"
)

// PurgeText is what a purge takes out of the store.
func PurgeText(r api.PurgeResponse) string {
	words := fmt.Sprintf("words of %s", Count(r.Words, "prompt, message or name"))
	if r.Words != 1 {
		words = fmt.Sprintf("words of %d prompts, messages and names", r.Words)
	}
	if r.Contents == 0 && r.Words > 0 {
		return words
	}
	text := fmt.Sprintf("%s (%s) in %s and %s", Count(r.Contents, "content"), term.Size(r.Bytes),
		Count(r.Checkpoints, "checkpoint"), Count(len(r.Sessions), "conversation"))
	if r.Words > 0 {
		text += ", and " + words
	}
	return text
}
