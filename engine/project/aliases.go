package project

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/internal/value"
)

// aliasKey is what the keys of aliases begin with. They are the user's own, and count from the global file alone: what
// lies in a project must not say what a word runs.
const aliasKey = "alias."

// aliasName is a word that can be one: a flag is none, and none is cut by a dot. A bound on its length makes it forty
// times as large in memory, in every process.
var aliasName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const longestAlias = 64 // bytes

func isAliasName(name string) bool { return len(name) <= longestAlias && aliasName.MatchString(name) }

// aliases are the aliases of the global file, by key. What makes no sense there is passed over: no capture fails for
// it.
func aliases(global map[string]any) (list []value.Setting) {
	all, _ := global[strings.TrimSuffix(aliasKey, ".")].(map[string]any)
	for name, v := range all {
		text, ok := v.(string)
		if ok && isAliasName(name) && strings.TrimSpace(text) != "" {
			list = append(list, value.Setting{Key: aliasKey + name, Value: text, From: "global", Help: "what 'rewind " + name + "' runs"})
		}
	}
	slices.SortFunc(list, func(a, b value.Setting) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// aliasArgs reads what a person typed for an alias.
func aliasArgs(key, root string, values []string) (any, error) {
	name := strings.TrimPrefix(key, aliasKey)
	switch {
	case root != "":
		return nil, fmt.Errorf("%w: an alias holds in every project: set %s with --global", model.ErrConfig, key)
	case !isAliasName(name):
		return nil, fmt.Errorf("%w: %q is no name for an alias: want letters, digits, _ and -", model.ErrConfig, name)
	case len(values) > 1 || len(values) == 1 && strings.TrimSpace(values[0]) == "":
		return nil, fmt.Errorf("%w: %s: want one text in quotes, such as 'checkout before:1'", model.ErrConfig, key)
	case len(values) == 1:
		return values[0], nil
	}
	return nil, nil
}
