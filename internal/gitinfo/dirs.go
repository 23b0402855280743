package gitinfo

// Dirs returns the directories that hold the repository of the working tree at root: its git directory and, if it is
// another one, the directory that linked working trees share. Of a broken repository it returns what is known.
func Dirs(root string) []string {
	at, _ := find(root)
	var list []string
	for _, dir := range []string{at.gitDir, at.common} {
		if dir != "" && (len(list) == 0 || list[0] != dir) {
			list = append(list, dir)
		}
	}
	return list
}
