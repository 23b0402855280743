//go:build acceptance

package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// client is a released version of an agent.
type client struct {
	agent, version string
	module         string // what npm installs; %s is the platform, as in linux-x64
	program        string // below node_modules
}

// The versions whose behaviour is known: the newest that was looked at, and the oldest that rewind supports.
var (
	claude    = client{"claude", "2.1.328", "@anthropic-ai/claude-code", "@anthropic-ai/claude-code-%s/claude"}
	claude21  = client{"claude", "2.1.30", "@anthropic-ai/claude-code", ".bin/claude"}
	claude20  = client{"claude", "2.0.60", "@anthropic-ai/claude-code", ".bin/claude"}
	claude10  = client{"claude", "1.0.60", "@anthropic-ai/claude-code", ".bin/claude"} // not supported: its files are read
	claudeSDK = client{
		"claude-sdk", "0.3.329", "@anthropic-ai/claude-agent-sdk",
		"@anthropic-ai/claude-agent-sdk/sdk.mjs",
	}
	codex     = client{"codex", "0.169.0", "@openai/codex", ".bin/codex"}
	codexOld  = client{"codex", "0.125.0", "@openai/codex", ".bin/codex"}
	codex58   = client{"codex", "0.58.0", "@openai/codex", ".bin/codex"} // not supported: its files are read
	gemini    = client{"gemini", "0.61.0", "@google/gemini-cli", ".bin/gemini"}
	geminiOld = client{"gemini", "0.26.0", "@google/gemini-cli", ".bin/gemini"}
	// the package without a platform names no matching one
	droid = client{"droid", "0.225.2", "@factory/cli-%s", "@factory/cli-%s/bin/droid"}

	clients = []client{
		claude, claude21, claude20, claude10, claudeSDK, codex, codexOld, codex58, gemini,
		geminiOld, droid,
	}
)

func (c client) String() string { return c.agent + "-" + c.version }

// platform is the system in npm's words.
func platform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

func forPlatform(s string) string { return strings.ReplaceAll(s, "%s", platform()) }

// clientsDir is where agents are installed: they stay there from one run to the next.
func clientsDir() (string, error) {
	if dir := os.Getenv("REWIND_ACCEPTANCE_CLIENTS"); dir != "" {
		return filepath.Abs(dir)
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("acceptance: where to install agents: %w; set REWIND_ACCEPTANCE_CLIENTS", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "rewind-acceptance"), nil
}

// path is the agent's program.
func (c client) path(dir string) string {
	return filepath.Join(dir, c.String(), "node_modules", filepath.FromSlash(forPlatform(c.program)))
}

// install installs the agent unless it is there. No script of any package runs. The directory gets its name when it is
// complete.
func (c client) install(dir string) error {
	if _, err := os.Stat(c.path(dir)); err == nil {
		return nil
	}
	final := filepath.Join(dir, c.String())
	making := final + ".making"
	for _, d := range []string{making, final} {
		if err := os.RemoveAll(d); err != nil {
			return fmt.Errorf("acceptance: install %s: %w", c, err)
		}
	}
	if err := os.MkdirAll(making, 0o755); err != nil {
		return fmt.Errorf("acceptance: install %s: %w", c, err)
	}
	if err := os.WriteFile(filepath.Join(making, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return fmt.Errorf("acceptance: install %s: %w", c, err)
	}
	cmd := exec.Command("npm", "install", "--ignore-scripts", "--no-save", "--no-package-lock", "--no-audit",
		"--no-fund", forPlatform(c.module)+"@"+c.version)
	cmd.Dir = making
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("acceptance: install %s: npm: %w\n%s", c, err, out)
	}
	if err := os.Rename(making, final); err != nil {
		return fmt.Errorf("acceptance: install %s: %w", c, err)
	}
	if _, err := os.Stat(c.path(dir)); err != nil {
		return fmt.Errorf("acceptance: install %s: the package has no program for %s: %w", c, platform(), err)
	}
	return nil
}
