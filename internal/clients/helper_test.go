package clients

import (
	"os"
	"path/filepath"
	"testing"

	"rewind/transcript"
)

const session = "11111111-2222-4333-8444-555555555555"

// put writes a file with its directories.
func put(t *testing.T, path, data string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func get(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestMain lets the test's own binary play an agent's program.
func TestMain(m *testing.M) {
	if play := plays[os.Getenv("REWIND_TEST_PLAY")]; play != nil {
		play()
		return
	}
	os.Exit(m.Run())
}

// plays are the programs that the binary can be.
var plays = map[string]func(){}

// look is a look of its own.
func look(agent transcript.Agent, root, session string) (Live, error) {
	return new(Processes).Running(agent, root, session)
}
