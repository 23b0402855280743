package leaks

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/BobuSumisu/aho-corasick"
	"github.com/BurntSushi/toml"
)

//go:embed gitleaks.toml
var rulesFile string

//go:embed rewind.toml
var ownRulesFile string

// Version names the rules and the way in which they are asked: what was found by others may be found anew.
var Version = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte("2\n" + rulesFile + ownRulesFile))
	return hex.EncodeToString(sum[:8])
})

// ruleText is a rules file as it is written.
type ruleText struct {
	Allowlist  allowText
	Allowlists []allowText
	Rules      []struct {
		ID, Regex, Path string
		SecretGroup     int
		Entropy         float64
		Keywords        []string
		Allowlists      []allowText
	}
}

type allowText struct {
	Condition, RegexTarget    string
	Paths, Regexes, Stopwords []string
}

// Scanner has the rules. It may be used by one goroutine at a time; a rule is compiled when it is first asked.
type Scanner struct {
	rules    []*rule
	allow    []*allow
	keywords *ahocorasick.Trie
	speaks   [][]int // by keyword: the rules that it is of
}

// rule is one of the rules, about the content of files.
type rule struct {
	id      string
	text    string
	path    *pattern // nil: any
	group   int
	entropy float64
	allow   []*allow
	check   func(path string, groups []string) bool // of a rule of ours

	re    *regexp.Regexp // nil: not asked yet
	whole bool           // what it matches can have any number of lines
}

// allow says what is no secret although a rule matches it.
type allow struct {
	all       bool   // paths, regexes and stop words must all speak for it, else one of them
	target    string // of regexes: match, line, or the secret
	paths     *pattern
	regexes   *pattern
	stopwords []string
}

// pattern is some regular expressions of which one must match, compiled when they are first asked.
type pattern struct {
	texts []string
	re    *regexp.Regexp
}

func newPattern(texts ...string) *pattern {
	if len(texts) == 0 || texts[0] == "" {
		return nil
	}
	return &pattern{texts: texts}
}

func (p *pattern) match(s string) bool {
	if p == nil || s == "" {
		return false
	}
	if p.re == nil {
		p.re = regexp.MustCompile("(?:" + strings.Join(p.texts, ")|(?:") + ")")
	}
	return p.re.MatchString(s)
}

// New reads the rules.
func New() (*Scanner, error) {
	var file ruleText
	if _, err := toml.Decode(rulesFile, &file); err != nil {
		return nil, fmt.Errorf("leaks: read rules: %w", err)
	}
	var own ruleText
	if _, err := toml.Decode(ownRulesFile, &own); err != nil {
		return nil, fmt.Errorf("leaks: read rules: %w", err)
	}
	file.Rules = append(file.Rules, own.Rules...)
	s := &Scanner{}
	var err error
	if s.allow, err = newAllows(append(file.Allowlists, file.Allowlist)); err != nil {
		return nil, err
	}
	var words []string
	at := map[string]int{}
	for _, t := range file.Rules {
		if t.Regex == "" || len(t.Keywords) == 0 {
			continue // about names alone, which tree/ignore decides about
		}
		r := &rule{id: t.ID, text: t.Regex, path: newPattern(t.Path), group: t.SecretGroup, entropy: t.Entropy, check: checks[t.ID]}
		if r.allow, err = newAllows(t.Allowlists); err != nil {
			return nil, fmt.Errorf("leaks: rule %s: %w", t.ID, err)
		}
		for _, k := range t.Keywords {
			k = strings.ToLower(k)
			i, ok := at[k]
			if !ok {
				i = len(words)
				at[k], words, s.speaks = i, append(words, k), append(s.speaks, nil)
			}
			s.speaks[i] = append(s.speaks[i], len(s.rules))
		}
		s.rules = append(s.rules, r)
	}
	s.keywords = ahocorasick.NewTrieBuilder().AddStrings(words).Build()
	return s, nil
}

func newAllows(texts []allowText) (out []*allow, err error) {
	for _, t := range texts {
		if len(t.Paths)+len(t.Regexes)+len(t.Stopwords) == 0 {
			continue
		}
		a := &allow{target: t.RegexTarget, paths: newPattern(t.Paths...), regexes: newPattern(t.Regexes...)}
		switch strings.ToUpper(t.Condition) {
		case "", "OR", "||":
		case "AND", "&&":
			a.all = true
		default:
			return nil, fmt.Errorf("leaks: read rules: condition %q of an allowlist", t.Condition)
		}
		for _, w := range t.Stopwords {
			a.stopwords = append(a.stopwords, strings.ToLower(w))
		}
		out = append(out, a)
	}
	return out, nil
}

// compile makes the rule ready.
func (r *rule) compile() *regexp.Regexp {
	if r.re == nil {
		r.re = regexp.MustCompile(r.text)
		if tree, err := syntax.Parse(r.text, syntax.Perl); err == nil {
			r.whole = spans(tree)
		}
	}
	return r.re
}

// fewLines is how many lines what a rule matches may begin to have before it is asked of the whole content.
const fewLines = 8

// spans reports whether an expression repeats what can be a newline without an end, or often.
func spans(re *syntax.Regexp) bool {
	repeats := re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && (re.Max < 0 || re.Max > fewLines)
	return repeats && slices.ContainsFunc(re.Sub, newline) || slices.ContainsFunc(re.Sub, spans)
}

// newline reports whether an expression can match a newline anywhere.
func newline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(re.Sub, newline)
}

// pathAllowed reports whether a file of that path is none whatever is in it, by one of the lists.
func pathAllowed(lists []*allow, path string) bool {
	for _, a := range lists {
		if a.paths.match(path) && (!a.all || a.regexes == nil && len(a.stopwords) == 0) {
			return true
		}
	}
	return false
}

// allowed reports whether one of the lists has what a rule matched.
func allowed(lists []*allow, path, match, secret, line string) bool {
	for _, a := range lists {
		on := secret
		switch a.target {
		case "match":
			on = match
		case "line":
			on = line
		}
		if !a.all {
			if a.regexes.match(on) || a.stops(secret) {
				return true
			}
			continue
		}
		if (a.paths == nil || a.paths.match(path)) && (a.regexes == nil || a.regexes.match(on)) &&
			(len(a.stopwords) == 0 || a.stops(secret)) {
			return true
		}
	}
	return false
}

func (a *allow) stops(secret string) bool {
	if len(a.stopwords) == 0 {
		return false
	}
	secret = strings.ToLower(secret)
	return slices.ContainsFunc(a.stopwords, func(w string) bool { return strings.Contains(secret, w) })
}
