package ignore

import "strings"

// SecretPatterns are the files whose content is secret by default: they are flagged in a snapshot and their content is not stored. A wrong one costs the user a
// capture, so a name is here only when a file of that name holds a secret as a rule. *.key, *.crt, .npmrc and the like are not:
// they are slides, public certificates and registry settings as often.
func SecretPatterns() []Pattern {
	const (
		env     = "environment of a program, where its passwords are put"
		example = "an example without values, meant to be shared"
		key     = "a private key"
		store   = "a store of keys"
		token   = "passwords or tokens of a tool"
		cloud   = "credentials of a cloud account"
	)
	return []Pattern{
		{".env", env},
		{".env.*", env},
		{"!.env.example", example},
		{"!.env.*.example", example},
		{"!.env.sample", example},
		{"!.env.*.sample", example},
		{"!.env.template", example},
		{"!.env.dist", example},
		{"!.env.defaults", example},
		{"!.env.schema", example},
		{".envrc.private", env},
		{"*.pem", "often a private key; a public certificate can be made again"},
		{"id_rsa", key},
		{"id_dsa", key},
		{"id_ecdsa", key},
		{"id_ecdsa_sk", key},
		{"id_ed25519", key},
		{"id_ed25519_sk", key},
		{"*.ppk", key},
		{"*[-_.]private.key", key},
		{"private.key", key},
		{"server.key", key},
		{"privkey*.key", key},
		{"*.p12", store},
		{"*.pfx", store},
		{"*.jks", store},
		{"*.keystore", store},
		{"*.kdbx", "a password database"},
		{"*.agekey", key},
		{".netrc", token},
		{"_netrc", token},
		{".pgpass", token},
		{".my.cnf", token},
		{".git-credentials", token},
		{".pypirc", token},
		{".htpasswd", token},
		{".vault-token", token},
		{".vault_pass", token},
		{"**/.docker/config.json", token},
		{"**/.cargo/credentials.toml", token},
		{"**/.gem/credentials", token},
		{"**/.config/gh/hosts.yml", token},
		{"**/.kube/config", "credentials of a cluster"},
		{"kubeconfig", "credentials of a cluster"},
		{"*.kubeconfig", "credentials of a cluster"},
		{"**/.aws/credentials", cloud},
		{"**/.azure/accessTokens.json", cloud},
		{"application_default_credentials.json", cloud},
		{"service-account*.json", cloud},
		{"service_account*.json", cloud},
		{"credentials.json", cloud},
		{"client_secret*.json", cloud},
		{"*.tfvars.secret", cloud},
	}
}

// Secrets gives a matcher of files by their path from the root, with slashes. The patterns are those of a rules file at the root, always
// without regard to case; the last that matches wins. Unlike there, a pattern speaks of directories only when it ends with a slash,
// and then of every file below: a directory named .env is as a rule a Python environment. The matcher allocates nothing and is
// safe for concurrent use.
func Secrets(patterns []string) func(path string) bool {
	var files, dirs []*rule
	for _, r := range parse(File{Data: []byte(strings.Join(patterns, "\n"))}, true) {
		if r.dirOnly {
			dirs = append(dirs, r)
		} else {
			files = append(files, r)
		}
	}
	return func(path string) bool {
		if len(dirs) > 0 {
			depth := 0
			for i := range len(path) {
				if path[i] == '/' {
					if decides(dirs, path[:i], depth) {
						return true
					}
					depth++
				}
			}
		}
		return decides(files, path, strings.Count(path, "/"))
	}
}

// Globs gives the patterns alone.
func Globs(ps []Pattern) []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = p.Glob
	}
	return out
}

// decides reports whether the last rule that matches path is not a negated one.
func decides(rules []*rule, path string, depth int) bool {
	i := strings.LastIndexByte(path, '/') + 1
	for j := len(rules) - 1; j >= 0; j-- {
		if r := rules[j]; r.match(path[:i], depth, path[i:], true) {
			return !r.negate
		}
	}
	return false
}
