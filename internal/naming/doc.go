// Package naming is the grammar in which a checkpoint is named, and that of times. Pure: it knows no store and no
// clock. Command line and engine read names with the same functions, so that what one of them cuts apart the other puts
// together.
package naming
