package leaks

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// checks says what a match of a rule of ours (rewind.toml) has to be besides: an expression finds where a password
// would be, not whether
// it is one or what is written in its place. path is the file's, groups are those of the expression.
var checks = map[string]func(path string, groups []string) bool{
	"url-password":              urlPassword,
	"authorization-header":      func(path string, g []string) bool { return genuine(path, g[1]) && hasDigit(g[1]) },
	"generic-password":          func(path string, g []string) bool { return genuine(path, last(g)) && quoted(last(g)) },
	"generic-password-unquoted": func(path string, g []string) bool { return genuine(path, g[1]) && bare(g[1]) },
	"netrc-password":            func(path string, g []string) bool { return genuine(path, g[1]) },
	"telegram-bot-token":        func(string, []string) bool { return true },
}

// genuine reports whether a file's text is neither made up for a test nor written where a secret would be.
func genuine(path, s string) bool { return !testData(path) && !standsFor(s) }

// last is the group that took part in the match.
func last(groups []string) string {
	for _, g := range slices.Backward(groups) {
		if g != "" {
			return g
		}
	}
	return ""
}

// placeWords are what people write where a password would stand: a password that has one of them in it is taken for
// none.
var placeWords = []string{
	"password", "passwd", "passw0rd", "pa55word", "passphrase", "secret", "credential", "example", "changeme",
	"change_me", "change-me",
	"changeit", "placeholder", "dummy", "fake", "sample", "redacted", "removed", "your", "insert", "replace", "todo",
	"test", "mock", "foo",
	"bar", "xxxx", "****", "....", "----", "____", "12345", "qwerty", "letmein", "abcdef", "abc123", "default",
	"undefined", "generated",
	"localhost", "username", "token", "demo", "invalid", "wrong", "value", "string", "hidden", "unset", "optional",
	"required",
	"lorem", "hello", "world", "asdf", "...", "…", "***", "•", "aaaaaa", "000000", "encrypted", "deadbeef", "cafebabe",
	"s3cr3t", "sekret",
}

// placeNames are passwords of one word that stand for any, in URLs above all.
var placeNames = []string{
	"pass", "pwd", "pw", "psw", "passwort", "key", "apikey", "api-key", "api_key", "admin", "root", "guest", "user",
	"postgres", "mysql",
	"mongo", "mongodb", "redis", "rabbitmq", "minio", "elastic", "null", "none", "nil", "true", "false", "empty",
	"login", "name", "host",
	"port",
	"x-oauth-basic", "x-token-auth", "abc", "abcd", "xyz", "aaa", "bbb", "111", "123", "1234", "xxx", "baz", "qux",
	"quux", "p4ss", "pass1",
	"pass123", "pass1234", "admin123", "root123", "user123", "bob", "alice", "mypass", "mypwd", "minioadmin",
	"developer", "development",
}

// They are made when the first file is looked at: most processes look at none.
var (
	// variable is what a template, a shell, or a format puts a value into.
	variable = lazily(`\$\{|\$\(|\{\{|\}\}|<%|%>|#\{|\\\(|%[-+#0-9.]*[sdvqxr]|^&` +
		`|^(?:\$[A-Za-z_]\w*|%\w+%|@\w+@|\{[\w.]*\}|<.*>|\[.*\])$`)
	testPath = lazily(`(?i)(?:^|/)(?:tests?|testing|testdata|testutils?|__tests__|__mocks__|mocks?|specs?` +
		`|fixtures?|examples?|samples?|e2e|snapshots?)(?:/|$)|_test\.\w+$|(?:^|/)test_[^/]*$` +
		`|[.-](?:tests?|spec|example|sample|stories)(?:\.\w+)*$`)
	// ownHosts are hosts on which a password guards little: this machine, and names that are kept for examples.
	ownHosts = lazily(`(?i)^(?:[^.]*|127(?:\.\d+){3}|0\.0\.0\.0|\[.*|(?:[\w-]+\.)*example(?:\.\w+)?` +
		`|(?:[\w-]+\.)+(?:test|invalid|localhost|local))$`)
)

func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// testData reports whether a file is one of tests or an example by its name: passwords in those are made up.
func testData(path string) bool { return testPath().MatchString(path) }

// standsFor reports whether a text stands for a password and is none: a usual word, a variable, a mask.
func standsFor(s string) bool {
	low := strings.ToLower(s)
	if slices.Contains(placeNames, low) || variable().MatchString(s) {
		return true
	}
	return slices.ContainsFunc(placeWords, func(w string) bool { return strings.Contains(low, w) })
}

func hasDigit(s string) bool  { return strings.ContainsFunc(s, unicode.IsDigit) }
func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// mixed reports whether a text has letters, and digits or such signs as no name has: what is read as one or more words
// is a name.
func mixed(s string) bool {
	return hasLetter(s) && (hasDigit(s) || strings.ContainsAny(s, "!#%&*+?^~@$"))
}

// quoted judges a text in quotes that has the name of a password before it.
func quoted(s string) bool {
	if !mixed(s) || entropy(s) <= 2.5 || strings.ContainsAny(s, "(){}[]<>|") {
		return false
	}
	path := strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") || strings.Contains(s, "://")
	return !path
}

// bare judges a text without quotes: it may be a tag of YAML, or a key.
func bare(s string) bool {
	return !strings.HasPrefix(s, "!") && !strings.HasSuffix(s, ":") && quoted(s)
}

// urlPassword judges a password in a URL by its user and host: "postgres:postgres@" is nobody's secret, and on a host
// of one's own or of an
// example only what looks random is one.
func urlPassword(path string, g []string) bool {
	user, pass, host := g[1], g[2], g[3]
	if !genuine(path, pass) || strings.EqualFold(user, pass) || variable().MatchString(host) {
		return false
	}
	if ownHosts().MatchString(host) {
		mayBe := len(pass) >= 8 && hasDigit(pass)
		return mayBe && hasLetter(pass) && entropy(pass) > 2.75
	}
	mayBe := len(pass) >= 6 && !strings.ContainsAny(pass, "{}<>")
	return mayBe && (mixed(pass) || entropy(pass) > 3)
}
