package ignore

// maxFile is the size in bytes above which git (since 2.46) reads no rule from a rules file; neither does this package.
const maxFile = 100 << 20
