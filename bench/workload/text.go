package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// A language is how a file of one extension looks: a head, then blocks until the file has its size. In a block $n is a
// name used often in this file, $w a word, $W the same with a capital, $i a number, $h hex digits, $s a sentence.
type language struct {
	ext    string
	head   []string
	blocks []string
}

var languages = []language{
	{".go", []string{"// Copyright $i The $W Authors. All rights reserved.\n\n// Package $w $s.\npackage $w\n\nimport (\n\t\"context\"\n" +
		"\t\"fmt\"\n\t\"$w/$w\"\n)\n\n"}, []string{
		"// $n $s.\nfunc (x *$W) $n$W(ctx context.Context, $w string) (int, error) {\n\tif err := x.$n(ctx, $w); err != nil {\n" +
			"\t\treturn 0, fmt.Errorf(\"$w: $w %q: %w\", $w, err)\n\t}\n\treturn $n + $i, nil\n}\n\n",
		"type $n$W struct {\n\t$W string\n\t$W int64 // $s\n\t$W map[string]$W\n\tmu sync.Mutex\n}\n\n",
		"\tfor i, $w := range x.$n {\n\t\tif $w == nil || i > $i {\n\t\t\tcontinue\n\t\t}\n\t\t$n = append($n, $w.$W())\n\t}\n",
		"const $n$W = $i // $s\n",
		"\t$n := make([]$w, 0, len($n)+$i)\n\tdefer $n.Close()\n",
		"\tcase $n$W:\n\t\treturn x.$n.$W($w, 0x$h)\n",
		"// $s. $s, $s.\n",
	}},
	{".ts", []string{"import { $n, $W } from \"./$w\";\nimport type { $W$W } from \"../$w/$w\";\n\n"}, []string{
		"export async function $n$W($w: $W, opts: $W$W = {}): Promise<$W> {\n  const $w = await $n.$w($w, { limit: $i });\n" +
			"  if (!$w) throw new Error(`$w $w: ${$n}`);\n  return { ...$w, $n: $i };\n}\n\n",
		"interface $n$W {\n  $w: string;\n  $w?: number;\n  readonly $n: $W[];\n}\n\n",
		"  // $s\n  this.$n.on(\"$w\", ($w) => this.$w($w.$n, $i));\n",
		"  const $n = useMemo(() => $w.map((x) => x.$w), [$w, $n]);\n",
		"it(\"$s\", () => {\n  expect($n($i, \"$h\")).toEqual({ $w: $i });\n});\n\n",
	}},
	{".py", []string{"\"\"\"$s.\n\n$s.\n\"\"\"\nimport $w\nfrom $w.$w import $W\n\n"}, []string{
		"def $n_$w(self, $w, $w=None):\n    \"\"\"$s.\"\"\"\n    if $w is None:\n        $w = self.$n[$i]\n" +
			"    return [$n for x in $w if x.$w != '$w']\n\n",
		"class $n$W($W):\n    $w = $i\n    $n = '$h'\n\n",
		"    with $w.$n($w) as f:\n        f.write($n.encode('utf-8'))\n        log.info('$s: %s', $n)\n",
		"    # $s\n    assert $n($i) == $i\n",
	}},
	{".md", []string{"# $W $w\n\n"}, []string{
		"$s. $s, $s. $s `$n`.\n$s: $s.\n\n", "## $W $w\n\n$s.\n\n", "- `$n`: $s ($i)\n- `$n$W`: $s\n",
		"```\n$w --$w=$i $n\n```\n\n",
	}},
	{".json", []string{"{\n  \"name\": \"$n\",\n  \"version\": \"$i\",\n"}, []string{
		"  \"$n\": { \"$w\": \"$w\", \"$w\": $i },\n", "  \"$w\": [\"$w\", \"$n\", $i, \"$h\"],\n",
		"  \"$w\": \"$s\",\n",
	}},
}

// vocabulary is the words of a project: common ones of programming first, then invented ones, rarer and rarer.
func vocabulary(seed uint64) []string {
	words := []string{
		"get", "set", "key", "value", "name", "path", "file", "open", "read", "write", "close", "node", "list", "entry",
		"index", "buffer",
		"error", "state", "event", "request", "response", "client", "server", "config", "option", "result", "parse",
		"format", "token",
		"cache",
		"store", "load", "update", "delete", "create", "handle", "user", "session", "message", "queue", "worker",
		"task", "time", "count",
		"size",
		"offset", "length", "start", "stop", "next", "last", "parent", "child", "tree", "graph", "batch", "commit",
		"flush", "table",
		"column",
		"the", "of", "and", "to", "is", "a", "in", "that", "for", "it", "with", "as", "be", "by", "when", "returns",
		"if", "not",
		"are", "or",
	}
	r := rand.New(rand.NewPCG(seed, 'v'))
	syllables := []string{
		"ra", "ten", "co", "mi", "lus", "per", "vo", "dra", "ing", "el", "sta", "no", "quil", "ber", "tor", "sho", "pa",
		"gri", "ul", "ex", "fi", "zan", "ke", "hy",
	}
	for len(words) < 4000 {
		w := ""
		for range 2 + r.IntN(3) {
			w += syllables[r.IntN(len(syllables))]
		}
		words = append(words, w)
	}
	return words
}

// A writer writes one file.
type writer struct {
	r     *rand.Rand
	words []string
	names []string // of this file
	b     []byte
}

func newWriter(r *rand.Rand, words []string) *writer {
	w := &writer{r: r, words: words}
	for range 6 + r.IntN(12) {
		w.names = append(w.names, w.word()+capital(w.word()))
	}
	return w
}

// word favours the front of the vocabulary, as real text does.
func (w *writer) word() string {
	u := w.r.Float64()
	return w.words[int(u*u*u*float64(len(w.words)))]
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// text gives a file of exactly size bytes that ends with a newline; size is at least 2.
func (w *writer) text(l language, size int) []byte {
	w.b = make([]byte, 0, size+1024)
	w.expand(l.head[w.r.IntN(len(l.head))])
	for len(w.b) < size {
		w.expand(l.blocks[w.r.IntN(len(l.blocks))])
	}
	b := w.b[:size]
	if b[size-1] != '\n' {
		b[size-1] = '\n'
	}
	return b
}

func (w *writer) expand(block string) {
	for i := 0; i < len(block); i++ {
		if block[i] != '$' || i+1 == len(block) {
			w.b = append(w.b, block[i])
			continue
		}
		i++
		switch block[i] {
		case 'n':
			w.b = append(w.b, w.names[w.r.IntN(len(w.names))]...)
		case 'w':
			w.b = append(w.b, w.word()...)
		case 'W':
			w.b = append(w.b, capital(w.word())...)
		case 'i':
			w.b = strconv.AppendInt(w.b, int64(w.r.IntN(1<<(1+w.r.IntN(12)))), 10)
		case 'h':
			w.b = fmt.Appendf(w.b, "%08x", w.r.Uint32())
		case 's':
			for j := range 4 + w.r.IntN(8) {
				if j > 0 {
					w.b = append(w.b, ' ')
				}
				w.b = append(w.b, w.word()...)
			}
		default:
			w.b = append(w.b, '$', block[i])
		}
	}
}
