package browsertest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// square is a picture.
func square(c color.Color, size int) string {
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	for i := range size * size {
		img.Set(i%size, i/size, c)
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return b.String()
}

// TestContents: a picture is shown before and after, another file without lines has its size, and both can be
// downloaded. A link is called one, and names are told as commands print them. What was deleted is one line.
func TestContents(t *testing.T) {
	p := newProject(t)
	red, blue := square(color.RGBA{200, 30, 30, 255}, 40), square(color.RGBA{30, 30, 200, 255}, 60)
	p.turn("draw it", func() {
		p.write("logo.png", red)
		p.write("data.bin", "a\x00b")
		p.write("old/one.txt", "1\n")
		p.write("old/two.txt", "2\n")
	})
	p.turn("draw it anew", func() {
		p.write("logo.png", blue)
		p.write("data.bin", strings.Repeat("a\x00b", 1000))
		p.write("new\nline.txt", "it\n")
		p.write("two  spaces.txt", "it\n")
		p.must(os.Symlink("README.md", filepath.Join(p.dir, "link")),
			os.RemoveAll(filepath.Join(p.dir, "old")))
	})
	b := profile(t)
	b.enter(p)
	b.moment("draw it anew")
	b.wait(`[...document.querySelectorAll("img")].map((i) => i.naturalWidth).join() === "40,60"`)
	b.says("details.file summary", "3 B → 2.9 KiB")
	b.says("details.file summary", "symbolic link")
	b.says("details.file summary .path", `"new\nline.txt"`)
	b.says("details.file summary .path", "two  spaces.txt")
	if n := eval[int](b, `[...document.querySelectorAll("details.file:has(.deleted)")].filter((d) => !d.open).length`); n != 2 {
		t.Errorf("%d of 2 deleted files are one line", n)
	}
	b.click("details.file:has(.deleted) summary")
	b.says("details.file:has(.deleted) del", "1")
	got := eval[string](b, `fetch(document.querySelector("a[download]").href)
		.then((r) => r.headers.get("Content-Disposition") + " " + r.headers.get("Content-Type"))`)
	if !strings.HasPrefix(got, "attachment; filename=") {
		t.Errorf("it is downloaded as %s", got)
	}
	cp := b.checkpoint("draw it anew")
	b.open("/c/" + cp + "/file?path=logo.png")
	b.wait(`document.querySelector("main img").naturalWidth === 60`)
	b.open("/c/" + cp + "/file?path=data.bin")
	b.says("main", "It is not text.")
	if n := eval[int](b, `fetch(document.querySelector("a[download]").href).then((r) => r.text()).then((t) => t.length)`); n != 3000 {
		t.Errorf("%d bytes of 3000 are downloaded", n)
	}
}
