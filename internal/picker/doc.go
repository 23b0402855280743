// Package picker is 'rewind' on a terminal: the log on the left, what the chosen row changed on the right, and going
// back to it with two keys.
//
// [model] is all that it knows: keys and answers come in through Update, a frame goes out of View, and it can be driven
// without a terminal. What it needs of the API is [source]. What it says of rows, changes and restores are the words of
// the commands, by package render.
package picker
