package transcript

import (
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/torture"
)

func init() { torture.Draws(34, 100) }

// hostileCodex and hostileGemini are what nobody writes in good faith.
func hostileCodex() []string {
	meta := codexLines()
	return []string{
		meta +
			codexItem(
				`{"type":"message","role":"user","content":["x",{"text":{"text":"y"}},{"text":"z","text":7}],"content":"w","role":"assistant"}`) + "\n",
		meta + codexSays("user", "one") + "\n" + strings.Repeat(codexEvent(`{"type":"thread_rolled_back","num_turns":1}`)+"\n", 3),
		meta + codexSays("user", "one") + "\n" + codexItem(`{"type":"function_call","call_id":"`+strings.Repeat("c",
			500)+`","arguments":{"command":["a",{},[1]]}}`) + "\n",
		meta + codexSays("user", "one") + "\n" +
			codexItem(`{"type":"function_call","call_id":"c","arguments":"{\"command\":[[]],\"cmd\":7"}`) + "\n",
		meta + meta +
			`{"type":"session_meta","payload":{"id":"x","history_base":{"thread_id":7,"end_ordinal_exclusive":{},"end_byte_offset":"9"}}}` +
			"\n" + codexSays("user", "one") + "\n",
		meta + codexSays("user", "one") + "\n" + codexEvent(`{"type":"x","thread_id":`+strings.Repeat(`{"thread_id":`,
			5000)+"1"+strings.Repeat("}", 5000)+"}") + "\n",
		strings.ReplaceAll(meta, "exec", "\xff\xfe\x00") + codexSays("user", "\x00\xc3\x28") + "\n",
		`{"payload":{"id":"a","source":"exec"},"type":"session_meta","type":"response_item"}` + "\n",
		`{"type":"session_meta","payload":{"id":"../../x","id":"y","cwd":"/../..","source":{"subagent":"x"}},"payload":{"id":"z"}}` + "\n" +
			codexSays("user", "hi") + "\n",
	}
}

func hostileGemini() []string {
	one, two := geminiUser("p1", "one"), geminiUser("p2", "two")
	call := `{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"t","result":null},{"id":"t","result":[]},{"id":7},8,{"id":""}]}`
	return []string{
		geminiData(one, call, `{"$rewindTo":"m"}`, `{"$rewindTo":"p1"}`, `{"$rewindTo":"p1"}`, two, `{"$rewindTo":"\u0000"}`),
		geminiData(one, `{"$rewindTo":"p1","id":"p3","$set":{"messages":[]},"type":"user","content":"x"}`, two),
		geminiData(geminiSet(one, two, one, "7", "[]", "null", `{"id":{}}`), one, geminiSet(), geminiSet(two), geminiSet(one)),
		geminiData(`{"$set":{"messages":{}}}`, `{"$set":{"messages":[{"id":"p","type":"user","content":{"text":"x"}}],"messages":[]}}`,
			`{"$set":[]}`),
		geminiData(
			`{"id":"u","type":"user","content":[{"functionResponse":7},{"functionResponse":{"id":{}}},{"functionCall":{"args":[]}},[["x"]],"y"]}`),
		geminiData(
			`{"id":"u","type":"user","type":"gemini","content":"a","content":[{"text":"b","thought":true},{"text":"c"}],"toolCalls":{"id":"x"}}`),
		geminiData(one, `{"$set":{"messages":`+strings.Repeat("[", 3000)),
		geminiData("{\"id\":\"\xff\",\"type\":\"user\",\"content\":\"\xed\xa0\x80\"}", one),
		"{\n\"sessionId\":\"a\",\"sessionId\":\"b\",\"summary\":\"x\",\"summary\":{},\"messages\":[" + one + "," + call + ",\n" + two +
			"],\"messages\":[{}],\"sessionId\":7}",
		"{\n\"messages\":[" + one + "," + strings.Repeat("[", 3000),
		"{\n\"messages\":[" + strings.Repeat(one+",", 50),
		"{\n\"kind\":\"subagent\",\"messages\":[" + one + "]}\x00",
	}
}

func TestHostileCodexAndGemini(t *testing.T) {
	for agent, list := range map[Agent][]string{Codex: hostileCodex(), Gemini: hostileGemini()} {
		for _, data := range list {
			for at := int64(0); at <= int64(len(data)); at += max(1, int64(len(data)/50)) {
				survive(t, agent, []byte(data), at)
				survive(t, agent, []byte(data[:at]), at)
			}
			survive(t, agent, []byte(data), math.MaxInt64)
		}
	}
}

func FuzzCodex(f *testing.F) { fuzzAgent(f, Codex, hostileCodex()) }

func FuzzGemini(f *testing.F) { fuzzAgent(f, Gemini, hostileGemini()) }

func fuzzAgent(f *testing.F, agent Agent, seeds []string) {
	f.Helper()
	for _, s := range samples(f) {
		if s.agent == agent {
			f.Add(s.data, int64(len(s.data)))
			f.Add(s.data[:len(s.data)/2], int64(len(s.data)/3))
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s), int64(len(s)))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int64) {
		survive(t, agent, data, at)
		_ = CodexBaseFits(bytesSource("fuzz", data), Base{EndOrdinal: 1, EndOffset: at}) // only must not panic
	})
}

// TestForkJoined holds for what is joined of two files what TestForkAnywhere holds for one.
func TestForkJoined(t *testing.T) {
	for _, s := range []sample{
		joined(t, "0.169.0-backtrack", "0.169.0-backtrack-segment"),
		joined(t, "0.169.0-2turns", "0.169.0-2turns-fork"),
	} {
		s.name += ".jsonl"
		rapid.Check(t, func(rt *rapid.T) { forkAt(t, s, rapid.Int64Range(0, int64(len(s.data))+10).Draw(rt, "at")) })
		forkAt(t, s, int64(len(s.data)))
	}
}

// peak is a long file that watches the heap while it is read.
type peak struct {
	long
	reads int
	most  uint64
}

func (p *peak) ReadAt(b []byte, off int64) (int, error) {
	if p.reads++; p.reads%16 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.most = max(p.most, m.HeapAlloc)
	}
	return p.long.ReadAt(b, off)
}

// TestLongCodexAndGemini holds that 100 MB in one line, or in one document, are read in bounded memory.
func TestLongCodexAndGemini(t *testing.T) {
	size, bound := longSize()
	meta := codexLines()
	word := strings.Repeat(`some \"words\" and é\n`, 100)
	lines := map[string][3]string{
		"codex/output": {
			meta + `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"`, word,
			`"}}`,
		},
		"codex/ids": {meta + `{"type":"event_msg","payload":{"x":[`, `{"thread_id":"` + codexOld + `"},`, `1]}}`},
		"codex/arguments": {
			meta + `{"type":"response_item","payload":{"type":"local_shell_call","call_id":"c","action":{"command":[`,
			`"word",`, `"x"]}}}`,
		},
		"codex/kinds": {meta +
			`{"type":"response_item","payload":{"type":"message","role":"user","internal_chat_message_metadata_passthrough":{"content_item_kinds":[`, `"user.text",`, `"x"]}}}`},
		"codex/compacted": {
			meta + `{"type":"compacted","payload":{"replacement_history":[`, `{"type":"message","thread_id":"x"},`,
			`1]}}`,
		},
		"gemini/messages": {
			geminiData(geminiUser("p1", "one")) + `{"$set":{"messages":[`,
			`{"id":"message-0123456789","type":"user","content":"x"},`, `{}]}}`,
		},
		"gemini/calls": {
			`{"id":"m","type":"gemini","content":"","toolCalls":[`,
			`{"id":"call-0123456789","name":"n","args":{"path":"p"}},`, `{}]}`,
		},
		"gemini/rewinds": {
			geminiData(geminiUser("p1", "one")),
			`{"$rewindTo":"p1"}` + "\n" + `{"id":"p1","type":"user","content":"x"}` + "\n", "",
		},
		"gemini/element": {
			"{\n\"sessionId\":\"x\",\"messages\":[{\"id\":\"p\",\"type\":\"user\",\"content\":\"", word,
			`"},{"id":"m","type":"gemini","content":"x"}]}`,
		},
		"gemini/elements": {
			"{\n\"sessionId\":\"x\",\"messages\":[" + geminiUser("p", "x"),
			`,{"id":"m","type":"gemini","content":"some words"}`, `]}`,
		},
		"gemini/behind them": {"{\n\"sessionId\":\"x\",\"messages\":[" + geminiUser("p", "x") + `],"x":"`, word, `"}`},
	}
	for i, name := range slices.Sorted(maps.Keys(lines)) {
		if !torture.Today(i) {
			continue
		}
		s := lines[name]
		t.Run(name, func(t *testing.T) {
			file := &peak{long: long{head: s[0], fill: s[1], tail: s[2] + "\n", times: size / int64(len(s[1]))}}
			if name == "gemini/rewinds" { // many lines, not a long one
				file.times /= 8
			}
			src := Source{ReaderAt: file, Size: file.size(), Name: "x"}
			agent := Agent(name[:strings.IndexByte(name, '/')])
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := Scan(agent, src); err != nil {
				t.Error(err)
			}
			_ = WriteFork(io.Discard, agent, src, Fork{Cut: src.Size, ID: forkID}) // some of these have no id
			if got := int64(file.most) - int64(before.HeapAlloc); got > bound {
				t.Errorf("%d MiB", got>>20)
			}
		})
	}
}
