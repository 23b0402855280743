// Package ignoretest makes random rule sets of .gitignore files, with paths that lie close to their patterns, lays them
// out as a repository, and asks git about the paths. The tests of tree/ignore hold the matcher against it;
// bench/decisions/ignore does the same with the library that was weighed.
package ignoretest
