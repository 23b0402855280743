package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
)

func init() { torture.Draws(34, 100) }

// valueSizes lie on both sides of the blocks of a table, of those that are checked before pebble does, and of what a
// log's block holds.
var valueSizes = []int{0, 0, 0, 0, 3 << 10, 4<<10 - 100, 4<<10 - 30, 4 << 10, 32 << 10, 200 << 10}

// TestModel runs random batches, loads, scans, compactions, reopenings and power cuts against a map.
func TestModel(t *testing.T) {
	keys := rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00\xff")), 0, 3, -1)
	rapid.Check(t, func(t *rapid.T) {
		disk := kvtest.NewCrashFS()
		d, err := kv.Open(bg, "/store", kv.Options{FS: disk})
		fatal := func(err error) {
			if err != nil {
				t.Fatalf("%v", err)
			}
		}
		fatal(err)
		defer func() { _ = d.Close() }()
		model := map[string]string{}
		key := func() string { return "O" + keys.Draw(t, "key") }
		value := func() string {
			v := rapid.StringN(0, 9, -1).Draw(t, "value")
			if v == "" {
				return v
			}
			return strings.Repeat(v, rapid.SampledFrom(valueSizes).Draw(t, "size")/len(v)+1)
		}
		t.Repeat(map[string]func(*rapid.T){
			"batch": func(t *rapid.T) {
				b := d.NewBatch()
				next := map[string]string{}
				for k, v := range model {
					next[k] = v
				}
				for range rapid.IntRange(0, 6).Draw(t, "changes") {
					k := key()
					switch rapid.IntRange(0, 4).Draw(t, "change") {
					case 0:
						fatal(b.Delete([]byte(k)))
						delete(next, k)
					case 1:
						hi := key()
						if k < hi {
							fatal(b.DeleteRange([]byte(k), []byte(hi)))
							for m := range next {
								if k <= m && m < hi {
									delete(next, m)
								}
							}
						}
					default:
						v := value()
						fatal(b.Set([]byte(k), []byte(v)))
						next[k] = v
					}
				}
				if rapid.IntRange(0, 9).Draw(t, "drop") == 0 {
					fatal(b.Close())
					return
				}
				fatal(b.Commit(bg, kv.Durability(rapid.IntRange(0, 1).Draw(t, "durability"))))
				model = next
			},
			"load": func(t *rapid.T) {
				set := map[string]bool{}
				for range rapid.IntRange(0, 5).Draw(t, "n") {
					set[key()] = true
				}
				var ks []string
				for k := range set {
					ks = append(ks, k)
				}
				sort.Strings(ks)
				loaded := value()
				fatal(d.Ingest(bg, len(ks), func(i int) ([]byte, []byte) { return []byte(ks[i]), []byte(loaded) }))
				for _, k := range ks {
					model[k] = loaded
				}
			},
			"get": func(t *rapid.T) {
				k := key()
				got, err := get(d, []byte(k))
				want, ok := model[k]
				if ok && (err != nil || string(got) != want) || !ok && !errors.Is(err, kv.ErrNotFound) {
					t.Fatalf("%q: %.40q, %v; want %.40q, %v", k, got, err, want, ok)
				}
				if has, err := d.Has([]byte(k)); has != ok || err != nil {
					t.Fatalf("has %q: %v, %v", k, has, err)
				}
			},
			"scan": func(t *rapid.T) {
				r := kv.Range{Prefix: []byte(key()), Reverse: rapid.Bool().Draw(t, "reverse")}
				if rapid.Bool().Draw(t, "from") {
					r.From = []byte(key())
				}
				limit := rapid.IntRange(0, 8).Draw(t, "limit")
				var want []string
				for k, v := range model {
					in := strings.HasPrefix(k, string(r.Prefix))
					if r.From != nil {
						c := bytes.Compare([]byte(k), r.From)
						in = in && (!r.Reverse && c >= 0 || r.Reverse && c <= 0)
					}
					if in {
						want = append(want, k+"="+v)
					}
				}
				sort.Slice(want, func(i, j int) bool {
					a, b := strings.SplitN(want[i], "=", 2)[0], strings.SplitN(want[j], "=", 2)[0]
					return (a < b) != r.Reverse
				})
				want = want[:min(len(want), limit)]
				var got []string
				fatal(d.Scan(r, func(k, v []byte) error {
					if len(got) == limit {
						return kv.ErrStop
					}
					got = append(got, string(k)+"="+string(v))
					return nil
				}))
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%+v: %.40q, want %.40q", r, got, want)
				}
			},
			"compact": func(*rapid.T) { fatal(d.Compact(bg)) },
			"reopen": func(*rapid.T) {
				fatal(d.Close())
				d, err = kv.Open(bg, "/store", kv.Options{FS: disk})
				fatal(err)
			},
			"power cut": func(t *rapid.T) {
				b := d.NewBatch()
				fatal(b.Commit(bg, kv.Durable)) // an empty durable commit makes what came before durable
				cut := disk.Clone(rapid.SampledFrom(unsynced).Draw(t, "unsynced"), 1)
				fatal(d.Close())
				disk = cut
				d, err = kv.Open(bg, "/store", kv.Options{FS: disk})
				fatal(err)
			},
		})
	})
}
