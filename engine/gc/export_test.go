package gc

import "rewind/engine/model"

// Own is what own makes of paths, with whose changes they are, and what of that is listed where so many may be.
func Own(by map[string][]string, paths, all []string, most int) (lists []model.Owned) {
	whose := map[string]*model.Owned{}
	for _, path := range paths {
		claims(by).own(whose, path, all)
	}
	return few(whose, most)
}
