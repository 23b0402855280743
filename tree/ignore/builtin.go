package ignore

import "strings"

// Pattern is a pattern that this program brings along, and why.
type Pattern struct {
	Glob   string // in the syntax of a rules file
	Reason string
}

// BuiltinPath is the Rule.File of the built-in exclusions.
const BuiltinPath = "built-in"

// Exclusions are never captured unless a rules file says otherwise: they have the lowest precedence, so a line such as
// !node_modules/ in any rules file brings one back. Only what a tool makes again by itself, under a name that nobody
// gives to work of his own, belongs here; target, build, dist, out, vendor and venv do not. Nor do copies that an
// editor leaves on purpose, such as x~: they are data. A path in the user's git index is captured in any case.
func Exclusions() []Pattern {
	const (
		deps    = "dependencies, installed again from the lock file"
		cache   = "a cache, made again when it is absent"
		foreign = "another version control system's metadata, which a restore would corrupt"
		desktop = "written by the desktop"
	)
	return append([]Pattern{
		{"node_modules/", deps},
		{"bower_components/", deps},
		{".pnpm-store/", deps},
		{"**/.yarn/cache/", deps},
		{"__pycache__/", cache},
		{"*.pyc", cache},
		{"*.pyo", cache},
		{".venv/", "a Python environment, installed again from the requirements"},
		{".tox/", cache},
		{".nox/", cache},
		{".mypy_cache/", cache},
		{".pytest_cache/", cache},
		{".ruff_cache/", cache},
		{".gradle/", cache},
		{".terraform/", "providers and modules, downloaded again by terraform init"},
		{"**/.next/cache/", cache},
		{".turbo/", cache},
		{".parcel-cache/", cache},
		{".sass-cache/", cache},
		{".ccls-cache/", cache},
		{"**/.cache/clangd/", cache},
		{".direnv/", "environments, made again by direnv"},
		{".DS_Store", desktop},
		{"Thumbs.db", desktop},
		{"desktop.ini", desktop},
		{".hg/", foreign},
		{".svn/", foreign},
		{".jj/", foreign},
		{".bzr/", foreign},
		{"_darcs/", foreign},
		{".pijul/", foreign},
		{".sl/", foreign},
	}, editors...)
}

// editors are the locks and swap files of editors. They speak of the moment: of one that is open now.
var editors = []Pattern{
	{".#*", editorLock},
	{".~lock.*#", editorLock},
	{"~$*", editorLock},
	{".*.sw[g-px]", editorSwap},
	{".sw[g-px]", editorSwap},
	{".*.kate-swp", editorSwap},
	{"\\#*#", editorSwap},
	{"4913", editorProbe},
	{"!4913/", "vim makes a file of this name, and never a directory"},
	{"*___jb_tmp___", editorProbe},
	{"*___jb_old___", editorProbe},
}

const (
	editorLock  = "an editor's lock: it says that a file is open now, which is true of no earlier state"
	editorSwap  = "an editor's swap file of a file that is open now"
	editorProbe = "made for a moment by an editor that saves"
)

var editorRules = New(Options{}, File{BuiltinPath, []byte(strings.Join(Globs(editors), "\n"))})

// IsEditors reports whether a file's name is that of a lock or swap file of an editor.
func IsEditors(name string) bool {
	is, _ := editorRules.Match(name, false)
	return is
}
