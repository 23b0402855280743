package snapshot

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/objstore"
	"rewind/tree"
)

func drawCached(rt *rapid.T, name string) cached {
	number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, -1, math.MinInt64, math.MaxInt64}))
	return cached{
		name: name,
		stamp: stamp{
			kind: rapid.SampledFrom([]byte{cachedFile, cachedSymlink, cachedSecret}).Draw(rt, "kind"),
			perm: rapid.Uint16Max(0o7777).Draw(rt, "perm"), size: rapid.Int64Min(0).Draw(rt, "size"),
			mtime: number.Draw(rt, "mtime"), ctime: number.Draw(rt, "ctime"), ino: rapid.Uint64().Draw(rt, "ino"),
		},
		id: idOf(rapid.Byte().Draw(rt, "id")),
	}
}

// What is loaded in the order of the paths is found again, held against a plain map; and a pack says whether two lists
// are the same.
func TestPacksAgainstAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model := map[string]cached{}
		for _, path := range rapid.SliceOf(rapid.StringMatching(`([ab.\-]{1,2}/){0,3}[ab.\-0]{1,3}`)).Draw(rt, "paths") {
			_, name := tree.Split(path)
			model[path] = drawCached(rt, name)
		}
		c := newCache()
		l := loader{dirs: c.dirs}
		for _, path := range slices.Sorted(maps.Keys(model)) {
			f := model[path]
			l.add(path, &f.stamp, &f.id)
		}
		l.end()
		if c.len() != len(model) {
			rt.Fatalf("%d files of %d", c.len(), len(model))
		}
		at := lookup{c: c, s: &staged{}}
		for path, want := range model {
			if got := at.find(path); got == nil || *got != want {
				rt.Fatalf("%s: %+v, not %+v", path, got, want)
			}
			if _, ok := model[path+"x"]; !ok && at.find(path+"x") != nil {
				rt.Fatalf("%sx is found", path)
			}
		}
		for dir, d := range c.dirs {
			files := d.list()
			if !slices.IsSortedFunc(files, func(a, b cached) int { return strings.Compare(a.name, b.name) }) {
				rt.Fatalf("%s: %+v", dir, files)
			}
			if packOf(files) != d.files {
				rt.Fatalf("%s: packed anew it is another", dir)
			}
			i := rapid.IntRange(0, len(files)-1).Draw(rt, "changed")
			if files[i] = drawCached(rt, files[i].name); (packOf(files) == d.files) != slices.Equal(files, d.list()) {
				rt.Fatalf("%s: %+v and %+v", dir, files, d.list())
			}
		}
	})
}

// A directory gives back the entries that it was to hold, whatever the stat cache and the directories below say.
func TestBaselineGivesEntriesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[a-f]`)
		names := func(what string) []string {
			return slices.Sorted(maps.Keys(rapid.MapOf(name, rapid.Just(0)).Draw(rt, what)))
		}
		var files []cached
		for _, name := range names("files") {
			files = append(files, drawCached(rt, name))
		}
		var subs []*baseDir
		for _, name := range names("subs") {
			subs = append(subs, &baseDir{name: name, perm: 0o755, id: rapid.SampledFrom([]objstore.ID{{}, idOf(1)}).Draw(rt, "tree")})
		}
		entries := known(files, subs)
		for range rapid.IntRange(0, 3).Draw(rt, "differences") {
			e := tree.Entry{
				Name: name.Draw(rt, "name"),
				Type: rapid.SampledFrom([]tree.Type{tree.TypeFile, tree.TypeSymlink, tree.TypeDir}).Draw(rt, "type"), ID: idOf(2),
			}
			if at := tree.Find(entries, e.Name); at >= 0 && rapid.Bool().Draw(rt, "gone") {
				entries = slices.Delete(entries, at, at+1)
			} else {
				entries = append(entries, e)
			}
			slices.SortStableFunc(entries, tree.ByName)
		}
		entries = slices.CompactFunc(entries, func(a, b tree.Entry) bool { return a.Name == b.Name })
		b := &baseDir{subs: subs}
		b.hold(entries, files, &cacheDir{files: packOf(files)})
		if got := b.list(); !slices.Equal(got, entries) {
			rt.Fatalf("%+v\nnot %+v", got, entries)
		}
	})
}
