// Package render makes text for people of the API's answers: the rows of a list and their graph, a checkpoint with what
// it changed, patches, conversations, what a restore did or would do. The commands and the picker say the same things
// in the same words because both say them with it. It asks nobody: answers come in, text goes to the streams.
package render
