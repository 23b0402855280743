// Package register writes rewind's hooks into agents' settings files, and takes them out: one plan for all agents, each
// file replaced with a backup beside it, and the programs that the hooks name brought to where they are named.
package register
