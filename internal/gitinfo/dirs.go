package gitinfo

// Dirs are the directories that hold the repository of the working tree at root: its git directory, and the one that
// linked working trees share where that is another; of a broken repository what is known of it.
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
