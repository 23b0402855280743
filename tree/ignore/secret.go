package ignore

import "strings"

// SecretPatterns are the files whose content is secret by default: they are flagged in a snapshot and their content is
// not stored. A wrong one costs the user a capture, so a name is here only when a file of that name holds a secret as a
// rule. *.key, *.crt, .npmrc, *.env, *.tfvars, auth.json and the like are not: they are slides, public certificates,
// registry settings, defaults, variables and fixtures as often; their content decides (internal/leaks). The copies that
// editors leave of a secret file need no pattern.
func SecretPatterns() []Pattern {
	const (
		env     = "environment of a program, where its passwords are put"
		example = "an example without values, meant to be shared"
		key     = "a private key"
		store   = "a store of keys"
		token   = "passwords or tokens of a tool"
		cloud   = "credentials of a cloud account"
		history = "what was typed at a prompt, passwords and tokens among it"
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
		{"!.env.vault", "encrypted, and meant to be shared"},
		{".env[-_]*", env},
		{"!.env[-_]example", example},
		{"!.env[-_]sample", example},
		{"!.env[-_]template", example},
		{".envrc.private", env},
		{".dev.vars", env},
		{".dev.vars.*", env},
		{"!.dev.vars.example", example},
		{"!.dev.vars.sample", example},
		{"!.dev.vars.template", example},
		{".Renviron", env},
		{"**/.streamlit/secrets.toml", env},
		{".*_history", history},
		{"fish_history", history},
		{".histfile", history},
		{".dbshell", history},
		{"ConsoleHost_history.txt", history},
		{"*.pem", "often a private key; a public certificate can be made again"},
		{"id_rsa", key},
		{"id_dsa", key},
		{"id_ecdsa", key},
		{"id_ecdsa_sk", key},
		{"id_ed25519", key},
		{"id_ed25519_sk", key},
		{"*_rsa", key},
		{"*_dsa", key},
		{"*_ecdsa", key},
		{"*_ed25519", key},
		{"**/.ssh/*", key},
		{"!**/.ssh/*.pub", "a public key"},
		{"!**/.ssh/authorized_keys", "public keys"},
		{"!**/.ssh/known_hosts*", "public keys"},
		{"!**/.ssh/config", "names of hosts"},
		{"**/.gnupg/private-keys-v1.d/*", key},
		{"secring.gpg", store},
		{"*.ppk", key},
		{"AuthKey_*.p8", key},
		{"*[-_.]private.key", key},
		{"private.key", key},
		{"server.key", key},
		{"privkey*.key", key},
		{"master.key", "what Rails decrypts its credentials with"},
		{"**/config/credentials/*.key", "what Rails decrypts its credentials with"},
		{"*.ovpn", "a client's settings with its private key"},
		{"wg[0-9]*.conf", "a tunnel's settings with its private key"},
		{"*.keytab", store},
		{"*.p12", store},
		{"*.pkcs12", store},
		{"*.pfx", store},
		{"*.jks", store},
		{"*.keystore", store},
		{"*.kdb", "a password database"},
		{"*.kdbx", "a password database"},
		{"*.psafe3", "a password database"},
		{"*.1pif", "passwords, exported"},
		{"*.keychain", "a password database"},
		{"*.keychain-db", "a password database"},
		{"*.agekey", key},
		{".netrc", token},
		{"_netrc", token},
		{".authinfo", token},
		{".pgpass", token},
		{"pgpass.conf", token},
		{".my.cnf", token},
		{".mylogin.cnf", token},
		{".msmtprc", token},
		{".git-credentials", token},
		{".pypirc", token},
		{".htpasswd", token},
		{".vault-token", token},
		{".vault_pass*", token},
		{".vault-pass*", token},
		{".dockercfg", token},
		{".passwd-s3fs", token},
		{".s3cfg", token},
		{".boto", token},
		{"rclone.conf", token},
		{".terraformrc", token},
		{"terraform.rc", token},
		{"credentials.tfrc.json", token},
		{".databrickscfg", token},
		{".clasprc.json", token},
		{"kaggle.json", token},
		{"**/huggingface/token", token},
		{"**/.m2/settings.xml", token},
		{"**/.m2/settings-security.xml", token},
		{"**/.composer/auth.json", token},
		{"**/.cargo/credentials", token},
		{"**/.config/hub", token},
		{"**/.config/glab-cli/config.yml", token},
		{"**/.config/doctl/config.yaml", token},
		{"**/.claude/.credentials.json", "an agent's credentials"},
		{"**/.codex/auth.json", "an agent's credentials"},
		{"**/.gemini/oauth_creds.json", "an agent's credentials"},
		{"**/.factory/auth.json", "an agent's credentials"},
		{"**/.docker/config.json", token},
		{"**/.cargo/credentials.toml", token},
		{"**/.gem/credentials", token},
		{"**/.config/gh/hosts.yml", token},
		{"**/.config/sops/age/keys.txt", key},
		{"**/.vscode/sftp.json", token},
		{".ftpconfig", token},
		{"**/.circleci/cli.yml", token},
		{"**/.fly/config.yml", token},
		{"**/.kube/config", "credentials of a cluster"},
		{"kubeconfig", "credentials of a cluster"},
		{"*.kubeconfig", "credentials of a cluster"},
		{"**/.aws/credentials", cloud},
		{"**/.azure/accessTokens.json", cloud},
		{"**/.azure/msal_token_cache.*", cloud},
		{"**/gcloud/credentials.db", cloud},
		{"**/gcloud/access_tokens.db", cloud},
		{"**/gcloud/legacy_credentials/**", cloud},
		{"application_default_credentials.json", cloud},
		{"*firebase-adminsdk*.json", cloud},
		{"gha-creds-*.json", cloud},
		{"service-account*.json", cloud},
		{"service_account*.json", cloud},
		{"credentials.json", cloud},
		{"client_secret*.json", cloud},
		{"*.tfvars.secret", cloud},
		{"*.tfstate", "the state of Terraform has every secret of what it made as text"},
		{"*.tfstate.*", "the state of Terraform has every secret of what it made as text"},
	}
}

// Secrets gives a matcher of files by their path from the root, with slashes. The patterns are those of a rules file at
// the root, always without regard to case; the last that matches wins. Unlike there, a pattern speaks of directories
// only when it ends with a slash, and then of every file below: a directory named .env is as a rule a Python
// environment. The matcher allocates nothing and is safe for concurrent use.
func Secrets(patterns []string) func(path string) bool {
	var files byTail
	var dirs []*rule
	for _, r := range parse(File{Data: []byte(strings.Join(patterns, "\n"))}, true) {
		if r.dirOnly {
			dirs = append(dirs, r)
		} else {
			files.add(r)
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
		i, depth := strings.LastIndexByte(path, '/')+1, strings.Count(path, "/")
		secret, _ := copied(&files, path[:i], depth, path[i:], maxCopies)
		return secret
	}
}

// copied decides about a file, and first about the one that its name is that of a copy of; said is false where no rule
// speaks of either.
func copied(rules *byTail, dir string, depth int, name string, most int) (secret, said bool) {
	if of, ok := original(name); ok && most > 0 {
		if secret, said = copied(rules, dir, depth, of, most-1); said {
			return secret, true
		}
	}
	return rules.last(dir, depth, name)
}

// byTail finds rules by the last byte of a name: few can match it.
type byTail [256][]*rule

// add is called in the order of the rules.
func (s *byTail) add(r *rule) {
	tail := r.tail()
	for b := range s {
		if tail == 0 || lower(tail) == lower(byte(b)) {
			s[b] = append(s[b], r)
		}
	}
}

func (s *byTail) last(dir string, depth int, name string) (secret, said bool) {
	if name == "" {
		return false, false
	}
	return last(s[name[len(name)-1]], dir, depth, name)
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
	secret, _ := last(rules, path[:i], depth, path[i:])
	return secret
}

// last is what the last rule that matches says; said is false where none does.
func last(rules []*rule, dir string, depth int, name string) (secret, said bool) {
	for j := len(rules) - 1; j >= 0; j-- {
		if r := rules[j]; r.match(dir, depth, name, true) {
			return !r.negate, true
		}
	}
	return false, false
}
