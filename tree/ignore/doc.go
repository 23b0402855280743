// Package ignore decides which names of a working tree are ignored, exactly as git reads its rules.
//
// It is pure: it works on the bytes of rules files and on names, and touches no disk. A scan walks the tree one
// directory at a time and holds one [Dir] a directory. [New] is for the root, [Dir.Child] for a directory below,
// [Dir.WithFiles] for a directory with rules files of its own. It calls [Dir.Match] for each name. Match speaks of one
// level: that no parent is ignored is given by the walk, which never enters an ignored directory. So nothing below one
// can be re-included, which is git's rule too.
//
// Two classes of rules exist. Class git holds the base files and every .gitignore; class own holds every .rewindignore.
// Any own rule beats every git rule. Within a class a deeper file beats a shallower one, and in a file the last
// matching line wins.
//
// Names and patterns are bytes, in no encoding. Only case folding looks at letters, and only at A-Z.
//
// # Which git
//
// Decisions are those of git 2.52. Before, git took stars after a literal in one name, foo**/bar, for foo and **/bar,
// against its own manual.
//
// # Why no library
//
// github.com/sabhiram/go-gitignore, given whole files, decides differently from git in three of ten random rule sets,
// in both directions, and a name takes it some 150 times as long (make bench-ignore;
// docs/decisions/027-own-ignore-matcher.md). Given one rewritten glob at a time below an own parser and order it can be
// made exact, but then what makes it exact is here. Most rules in use are a literal or a star and a literal: one
// comparison. The rest is a glob, which two points to come back to match in polynomial time and without allocation.
package ignore
