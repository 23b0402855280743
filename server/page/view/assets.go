package view

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed dist
var dist embed.FS

// hashes are of the assets, by name: an address changes with the bytes, so that a browser may keep them.
var hashes = func() map[string]string {
	all := map[string]string{}
	entries, _ := fs.ReadDir(dist, "dist")
	for _, e := range entries {
		b, _ := fs.ReadFile(dist, "dist/"+e.Name())
		sum := sha256.Sum256(b)
		all[e.Name()] = hex.EncodeToString(sum[:6])
	}
	return all
}()

// asset is the path of an asset below the page's base.
func asset(name string) string { return "/assets/" + hashes[name] + "/" + name }

// Assets serves /<hash>/<name>.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		b, err := dist.ReadFile("dist/" + name)
		if err != nil || hashes[name] != hash {
			http.NotFound(w, r)
			return
		}
		kind := "text/javascript; charset=utf-8"
		if strings.HasSuffix(name, ".css") {
			kind = "text/css; charset=utf-8"
		} else if strings.HasSuffix(name, ".svg") {
			kind = "image/svg+xml"
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		_, _ = w.Write(b)
	})
}
