// Package project finds a project, its store and its settings. It looks for the marker above a directory and decides
// whether to trust it. It follows a project that was moved, and gives a copy a store of its own. It keeps the records
// of projects and stores in the home directory. It opens a store only to copy it for a copied project, and to see
// before a removal that nobody has it open.
package project
