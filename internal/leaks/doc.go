// Package leaks finds keys, tokens and passwords in the contents of files and in conversations. It uses the rules of
// gitleaks 8.30.1 (gitleaks.toml, under the license beside it, byte for byte) and a few of our own (rewind.toml,
// own.go). It is pure over bytes, and gives the names of rules and the numbers of lines, never what they matched.
//
// A rule is tried only on a content with one of its keywords, in any case, and only near them: from the line before to
// two lines after. All but a few rules are about one assignment or one token. Those that can span any number of lines
// are asked of the whole content. What a rule matches counts when its entropy is above the rule's, no allowlist has it,
// and the line does not say "gitleaks:allow".
package leaks
