package api

import "rewind/internal/value"

// PurgeRequest takes contents out of the store for good: those that ever stood at Paths, those named by Blobs, and every one that has Text
// in it.
type PurgeRequest struct {
	Project
	Paths  []Text   `json:"paths,omitempty"` // relative to Dir
	Blobs  []string `json:"blobs,omitempty"` // ids of contents, or beginnings of them
	Text   Text     `json:"text,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}

// PurgeResponse says what was taken out, or would be. It cannot be undone.
type PurgeResponse struct {
	DryRun bool `json:"dry_run"`
	value.Purged
	Notices []string `json:"notices,omitempty"`
}
