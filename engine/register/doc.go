// Package register writes rewind's hooks into agents' settings files, and takes them out. One plan is for all agents.
// Each file is replaced, with a backup beside it. The programs that the hooks name are brought to where they are named.
package register
