package ignore

// Pattern is a pattern that this program brings along, and why.
type Pattern struct {
	Glob   string // in the syntax of a rules file
	Reason string
}

// BuiltinPath is the Rule.File of the built-in exclusions.
const BuiltinPath = "built-in"

// Exclusions are never captured unless a rules file says otherwise: they have the lowest precedence, so a line such as !node_modules/ in
// any rules file brings one back. Only what a tool makes again by itself, under a name that nobody gives to work of his own, belongs here;
// target, build, dist, out, vendor and venv do not. Nor do copies that an editor leaves on purpose, such as x~: they are data. A path in the
// user's git index is captured in any case.
func Exclusions() []Pattern {
	const (
		deps    = "dependencies, installed again from the lock file"
		cache   = "a cache, made again when it is absent"
		foreign = "another version control system's metadata, which a restore would corrupt"
		desktop = "written by the desktop"
		lock    = "an editor's lock: it says that a file is open now, which is true of no earlier state"
		swap    = "an editor's swap file of a file that is open now"
		probe   = "made for a moment by an editor that saves"
	)
	return []Pattern{
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
		{".#*", lock},
		{".~lock.*#", lock},
		{"~$*", lock},
		{".*.sw[g-px]", swap},
		{".sw[g-px]", swap},
		{".*.kate-swp", swap},
		{"\\#*#", swap},
		{"4913", probe},
		{"!4913/", "vim makes a file of this name, and never a directory"},
		{"*___jb_tmp___", probe},
		{"*___jb_old___", probe},
		{".hg/", foreign},
		{".svn/", foreign},
		{".jj/", foreign},
		{".bzr/", foreign},
		{"_darcs/", foreign},
		{".pijul/", foreign},
		{".sl/", foreign},
	}
}
