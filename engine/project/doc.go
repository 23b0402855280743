// Package project says where a project is, whose store it has, and which settings hold: it finds the marker above a
// directory, believes it or not, follows a project that was moved, gives a copy a store of its own, and keeps the
// records of projects and stores in the home directory. It opens a store only to copy it for a copied project, and to
// see before a removal that nobody has it open.
package project
