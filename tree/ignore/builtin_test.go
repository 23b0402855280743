package ignore

import (
	"strings"
	"testing"
)

func TestExclusions(t *testing.T) {
	d := New(Options{}, builtin())
	for _, p := range []string{
		"node_modules/x", "a/node_modules/x", "a/__pycache__/b.pyc", "a/b.pyc", ".venv/bin/python", "web/.next/cache/x",
		".DS_Store",
		"a/Thumbs.db", ".hg/store/x", "a/.svn/entries", ".jj/x",
		"x/.yarn/cache/a.zip", ".cache/clangd/x",
		".#a", "src/.#main.go", ".a.swp", "src/.main.go.swp", ".a.swo", ".a.swn", ".a.swx", ".swp", ".~lock.a.odt#",
		"doc/.~lock.b c.ods#",
		"~$letter.docx", "#a#", "src/#main.go#", ".a.kate-swp", "4913", "src/4913", "a.go___jb_tmp___",
		"a.go___jb_old___", "..env.swp",
		".#.env", "#.env#",
	} {
		if got, by := d.matchPath(p, false); !got || !by.Builtin() {
			t.Errorf("%s is captured", p)
		}
	}
	// Somebody's work, or a file by the name of a directory.
	for _, p := range []string{
		"target/x", "build/x", "dist/x", "out/x", "vendor/x", "venv/x", "env/x", "bin/x", "lib/x", "obj/x",
		".next/server/x", ".cache/x",
		".idea/x", ".vscode/x", "coverage/x", "tmp/x", "logs/x",
		"a~", ".a~", "a.bak", "a.swp", "_a.swp", "a.swf", ".a.swf", ".a.svg", "4913/x", "data/4913/x", "49130", "#a",
		"a#", "#", "a.lock",
		".a.un~", "~x", "lock.a#",
		"node_modules", ".hg", ".git/x", ".gitignore", ".yarn/releases/x", "Gemfile.lock", "a.py",
	} {
		if got, by := d.matchPath(p, false); got {
			t.Errorf("%s is not captured: %+v", p, by)
		}
	}
	for _, ps := range [][]Pattern{Exclusions(), SecretPatterns()} {
		seen := map[string]bool{}
		for i, p := range ps {
			if r := compile(p.Glob, false); r == nil || r.Pattern != p.Glob || trimBlanks(p.Glob) != p.Glob ||
				p.Reason == "" ||
				seen[p.Glob] {
				t.Errorf("pattern %d %+v is malformed, unexplained or there twice", i, p)
			}
			if slash := strings.IndexByte(strings.TrimSuffix(p.Glob, "/"), '/'); slash >= 0 &&
				!strings.HasPrefix(strings.TrimPrefix(p.Glob, "!"), "**/") {
				t.Errorf("%s is anchored at the root", p.Glob)
			}
			seen[p.Glob] = true
		}
	}
}

func TestExclusionsYield(t *testing.T) {
	for name, d := range map[string]*Dir{
		"core.excludesFile": New(Options{}, builtin(), File{"x", []byte("!node_modules/\n")}),
		".gitignore":        New(Options{}, builtin()).WithFiles(File{"x", []byte("!node_modules/\n")}, File{}),
		".rewindignore":     New(Options{}, builtin()).WithFiles(File{}, File{"x", []byte("!node_modules\n")}),
	} {
		for _, p := range []string{"node_modules/x", "a/node_modules/x"} {
			if got, by := d.matchPath(p, false); got {
				t.Errorf("%s does not bring %s back: %+v", name, p, by)
			}
		}
	}
}

func TestSecrets(t *testing.T) {
	secret := Secrets(Globs(SecretPatterns()))
	for _, p := range []string{
		".env", "a/.env", ".env.local", ".env.production", "a/b/.env.production.local", ".ENV", "server.pem", "Key.PEM",
		"id_rsa",
		".ssh/id_ed25519", "home/.netrc", ".pgpass",
		"x.p12", "x.pfx", "x.jks", "debug.keystore", "credentials.json", "service-account-prod.json",
		"a/.aws/credentials",
		".aws/credentials", ".docker/config.json", "kubeconfig", ".kube/config",
		"client_secret_123.json", "tls/server.key", "jwt_private.key", ".git-credentials",
		".env.keys", ".env-prod", "a/.env_local", "deploy_rsa", "ci/deploy_ed25519", ".ssh/work", "home/.ssh/github",
		".gnupg/private-keys-v1.d/AB.key", "secring.gpg", "AuthKey_AB12.p8",
		"config/master.key", "config/credentials/production.key", "vpn/home.ovpn", "wg0.conf", "etc/krb5.keytab",
		"x.pkcs12",
		"Passwords.kdbx", "old.kdb", "login.keychain-db",
		".authinfo", ".mylogin.cnf", ".vault_pass.txt", ".dockercfg", ".s3cfg", ".boto", ".config/rclone/rclone.conf",
		".terraformrc",
		".terraform.d/credentials.tfrc.json", ".databrickscfg",
		".kaggle/kaggle.json", ".cache/huggingface/token", ".m2/settings.xml", ".composer/auth.json",
		".cargo/credentials",
		".config/doctl/config.yaml", ".claude/.credentials.json", ".codex/auth.json",
		".azure/msal_token_cache.json", ".config/gcloud/credentials.db", ".config/gcloud/legacy_credentials/a/adc.json",
		"app-firebase-adminsdk-x1.json", "gha-creds-0a1b.json",
		"infra/terraform.tfstate", "terraform.tfstate.backup", "terraform.tfstate.d/prod/terraform.tfstate",
		".pulumi/credentials.json",
	} {
		if !secret(p) {
			t.Errorf("%s is not secret", p)
		}
	}
	for _, p := range []string{
		"", ".env.example", "a/.env.sample", ".env.template", ".env.dist", ".env.production.example",
		".env/bin/activate", ".env.d/x.py",
		"id_rsa.pub", "env.py", "environment.ts", ".envrc",
		"keynote.key", "public.key", "api.key.md", "docs/credentials.md", "credentials.go", "secrets.go",
		"secrets.yaml", ".npmrc",
		"config.json", "docker/config.json", "aws/credentials", "ca.crt", "package.json",
		"kube/config", "kubeconfig.go", "id_rsa_test.go", "x.pem.go",
		".env.vault", ".env-example", ".env_sample", "prod.env", ".environment", ".ssh/config", ".ssh/known_hosts",
		".ssh/id_rsa.pub",
		".ssh/authorized_keys", "rsa.go", "my_rsa.py", "src/test_rsa.c",
		"game.p8", "main.tf", "terraform.tfvars", ".terraform.lock.hcl", "tfstate.go", "auth.json", "src/auth/token",
		"token", "token.go",
		"settings.xml", "google-services.json", "credentials/README.md",
		"config/credentials.yml.enc", "config/credentials/production.yml.enc", "wg.conf", "wgpu.conf", "hub",
		"config/hub.yml",
		"config.yml", "boto.py", "rclone.conf.md", "keychain.swift", "pgpass.go",
		"password.ts", "secret.txt", "api_key.rb", "tls.crt", "cert.cer", "gcloud/readme", ".claude/settings.json",
		".codex/config.toml",
		".gemini/settings.json",
	} {
		if secret(p) {
			t.Errorf("%s is secret", p)
		}
	}
	for _, p := range []string{ // copies that editors and people leave of a secret file
		".env~", "a/.env~", "..env.swp", "..env.swo", ".env.swp", "#.env#", ".#.env", ".env.bak", ".env.orig",
		".env.old", ".env.save",
		".env.~1~", "id_rsa.bak", "id_rsa~", "a/id_ed25519.old",
		"#id_rsa#", ".id_rsa.swp", "server.pem.bak", "server.pem~", ".server.pem.swp", ".netrc.orig",
		".npmrc.bak/id_rsa",
		"credentials.json.bak", ".aws/credentials~", ".ssh/.work.swp",
		".pgpass.save.~2~", "id_rsa copy", "id_rsa (copy)", "id_rsa - Copy", ".env___jb_tmp___", ".env.un~",
		"..env.un~",
		".id_rsa.kate-swp", "ID_RSA.BAK", "id_rsa.bak~", "id_rsa_bak", "id_rsa-old",
		"kubeconfig.backup", "x.kdbx.tmp", "private.key.bak", ".git-credentials.dpkg-old", ".dev.vars",
		".dev.vars.production",
		".dev.vars~", ".bash_history", "home/.zsh_history", ".python_history", ".psql_history",
		".mysql_history", ".node_repl_history", ".sqlite_history", ".local/share/fish/fish_history", ".histfile",
		"PSReadLine/ConsoleHost_history.txt", ".dbshell", ".streamlit/secrets.toml", ".Renviron",
		".config/sops/age/keys.txt", ".vscode/sftp.json", ".ftpconfig", ".circleci/cli.yml", ".fly/config.yml",
	} {
		if !secret(p) {
			t.Errorf("%s is not secret", p)
		}
	}
	for _, p := range []string{
		".env.example~", "..env.example.swp", ".env.sample.bak", "#.env.template#", ".env.production.example~",
		".dev.vars.example",
		".ssh/id_rsa.pub.bak", ".ssh/config~", "id_rsa.pub~", "main.go~",
		".main.go.swp", "#notes.txt#", ".#notes.txt", "README.bak", "~", "#", "##", ".#", ".swp", ".bak", "copy", "old",
		"_bak", "a~",
		"history", "history.go", "bash_history.md", "fish_history.rs",
		".history/main.go", "secrets.toml", "streamlit/secrets.toml", "keys.txt", "sftp.json", "vars", "dev.vars",
		"renviron.R", ".envrc~",
		"prod.env.bak", "fly/config.yml", "cli.yml", ".dev.vars.template",
	} {
		if secret(p) {
			t.Errorf("%s is secret", p)
		}
	}
	copies := Secrets([]string{"*.bak", "plan", "!**/shared/plan"})
	for p, want := range map[string]bool{
		"x.bak": true, "plan~": true, "plan.bak": true, "shared/plan.bak": false,
		"x~": false,
	} {
		if copies(p) != want {
			t.Errorf("%s: %v, want %v", p, copies(p), want)
		}
	}
	own := Secrets([]string{"private/", "/top/*.txt", "!/top/a.txt"})
	for p, want := range map[string]bool{
		"private/x": true, "a/private/b/c": true, "private": false, "top/b.txt": true, "top/a.txt": false,
		"x/top/b.txt": false,
	} {
		if own(p) != want {
			t.Errorf("%s: %v, want %v", p, own(p), want)
		}
	}
	if Secrets(nil)("x") {
		t.Error("no patterns: x is secret")
	}
}

// builtin are the exclusions as the base file of lowest precedence.
func builtin() File {
	return File{BuiltinPath, []byte(strings.Join(Globs(Exclusions()), "\n"))}
}

// matchPath decides on a path from d downwards as a whole, one directory at a time.
func (d *Dir) matchPath(path string, isDir bool) (bool, *Rule) {
	for {
		head, tail, more := strings.Cut(path, "/")
		ignored, by := d.Match(head, isDir || more)
		if ignored || !more {
			return ignored, by
		}
		d, path = d.Child(head), tail
	}
}
