// Command peers runs rewind beside what a user would pick instead, a shadow git repository as other tools keep one, on the
// same tree and the same edits in one run: checkpoints and restores by commands, and the hooks of an agent. Whole processes
// are timed, in an order that turns by one every round, so that a ratio of two of them travels to other machines although a
// time does not.
package main
