package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rewind/transcript"
)

// TestWriteTitle: the title of every sample is another one afterwards, twice over, and nothing else of the conversation
// changes.
func TestWriteTitle(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, agent := range []transcript.Agent{transcript.Claude, transcript.Codex, transcript.Gemini, transcript.Droid} {
		files, err := filepath.Glob(filepath.Join("testdata", string(agent), "*.json*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source := func(b []byte) transcript.Source {
				return transcript.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: file, Ended: true}
			}
			was, err := transcript.Scan(agent, source(raw))
			if err != nil {
				t.Fatal(err)
			}
			for _, title := range []string{`say "hi"`, "and\\then"} {
				var out bytes.Buffer
				err := transcript.WriteTitle(&out, agent, source(raw), was.ID, title, at)
				if agent == transcript.Codex { // its program keeps titles elsewhere
					if err == nil {
						t.Errorf("%s: a title was written", file)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", file, err)
					continue
				}
				now, err := transcript.Scan(agent, source(out.Bytes()))
				if err != nil || now.Title != title || now.ID != was.ID || len(now.Turns) != len(was.Turns) ||
					now.Messages != was.Messages || now.Last != was.Last {
					t.Errorf("%s: %v: %+v", file, err, now)
				}
				if agent == transcript.Claude && !bytes.HasPrefix(out.Bytes(), raw) {
					t.Errorf("%s: not appended to", file)
				}
				raw = out.Bytes()
			}
		}
	}
}
