package view_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "make dist anew from src")

// What is committed as dist is what src makes, so that nobody needs the bundler to build or run; 'make page' makes it
// anew. All of it, compressed, stays below the size that a page may have.
func TestDistIsMadeOfSrc(t *testing.T) {
	dist, err := filepath.Abs("dist")
	if err != nil {
		t.Fatal(err)
	}
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{"src/page.ts", "src/page.css"}, Outdir: dist,
		Bundle: true, MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, Format: api.FormatESModule,
		Engines: []api.Engine{
			{Name: api.EngineChrome, Version: "125"}, {Name: api.EngineFirefox, Version: "128"}, {Name: api.EngineSafari, Version: "17.5"},
		},
		Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelWarning,
	})
	if len(r.Errors) > 0 {
		t.Fatal("src does not build")
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for _, f := range r.OutputFiles {
		if *update {
			if err := os.WriteFile(f.Path, f.Contents, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(f.Path)
		if err != nil || !bytes.Equal(have, f.Contents) {
			t.Errorf("dist/%s is not what src makes: 'make page'", filepath.Base(f.Path))
		}
		_, _ = z.Write(have)
	}
	if _ = z.Close(); packed.Len() > 150<<10 {
		t.Errorf("the page's assets are %d bytes compressed", packed.Len())
	}
}
