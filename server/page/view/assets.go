package view

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"strings"
	"sync"
)

//go:embed dist
var dist embed.FS

// hashes are of the assets, by name: an address changes with the bytes, so that a browser may keep them.
var hashes = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	entries, _ := fs.ReadDir(dist, "dist")
	for _, e := range entries {
		b, _ := fs.ReadFile(dist, "dist/"+e.Name())
		sum := sha256.Sum256(b)
		all[e.Name()] = hex.EncodeToString(sum[:6])
	}
	return all
})

// asset is the path of an asset below the page's base.
func asset(name string) string { return "/assets/" + hashes()[name] + "/" + name }

// Asset is what is at <hash>/<name>, and its type; ok is false where there is nothing.
func Asset(path string) (b []byte, kind string, ok bool) {
	hash, name, _ := strings.Cut(path, "/")
	b, err := dist.ReadFile("dist/" + name)
	if err != nil || hashes()[name] != hash {
		return nil, "", false
	}
	switch {
	case strings.HasSuffix(name, ".css"):
		return b, "text/css; charset=utf-8", true
	case strings.HasSuffix(name, ".svg"):
		return b, "image/svg+xml", true
	}
	return b, "text/javascript; charset=utf-8", true
}
