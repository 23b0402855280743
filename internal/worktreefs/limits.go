package worktreefs

// permMask is the bits that a Perm can hold.
const permMask = 0o7777
