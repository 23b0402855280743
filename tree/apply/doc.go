// Package apply carries steps out in a worktree: what a checkout, an undo and the end of an interrupted one have in
// common.
//
// In go a worktree, the steps (a path, what is expected there, what shall be there), a private directory to work in,
// the stage, and whoever gives the content of blobs (Options). Out comes what became of each step (Result): done; a
// Conflict, left to the user; a directory kept for what is in it; or done without something that the system refused
// (Without). Run does it in a worktree in use, LayOut in a new directory, and Foresee tells before what would be
// refused. Rests, Withheld and MatchesRestored say what a restore makes of permissions, for who plans one.
//
// Invariants: nothing is overwritten or unlinked in place. All new content lies in the stage, hashed and durable,
// before the first name in the worktree changes. Bytes that are not what a step expects go back, or stay in the stage,
// and are named in a Conflict. An error or a kill may interrupt a run. Another run of the same steps finishes it, and a
// run of tree.Reverse of them takes it back, with the same Root, Stage and Op. No symlink is followed, git's directory
// and rewind's own are never written, and no file gets a right that what it replaces has not got.
//
// There is no journal here and nothing of a store: who calls Run has written down what it is to do.
//
// Concurrency: a Run uses several goroutines to fill the stage and to sync, and one for everything in the tree; they
// have ended when it returns. One Run at a time may use a stage. Options.Open and Options.Progress are called from
// several goroutines.
package apply
