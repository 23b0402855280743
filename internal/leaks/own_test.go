package leaks

import (
	"encoding/base64"
	"testing"
)

// TestFindOwn: what rules of ours take for a secret, and what stands where one would.
func TestFindOwn(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	pw := "q7" + made(14, alnum)
	bot := "7" + made(9, "0123456789") + ":AA" + made(33, alnum)
	for _, c := range []struct{ path, content, want string }{
		// URLs.
		{"a.py", "url = 'postgres://app:" + pw + "@db.corp.internal:5432/main'\n", "url-password:1"},
		{"a.py", "\nDATABASE_URL=postgresql+psycopg2://app:" + pw + "@10.2.3.4/main\n", "url-password:2"},
		{"a.rb", "mysql2://root:" + pw + "@mysql.prod.acme.io/x", "url-password:1"},
		{"a.js", "mongodb+srv://svc:" + pw + "@cluster0.ab1cd.mongodb.net/?retryWrites=true", "url-password:1"},
		{"a.js", "mongodb://svc:" + pw + "@a.acme.io:27017,b.acme.io:27017/db", "url-password:1"},
		{"a.yml", "redis: rediss://:" + pw + "@cache.acme.io:6380/0", "url-password:1"},
		{"a.yml", "amqp://u:" + pw + "@mq.acme.io/", "url-password:1"},
		{"remote", "https://deploy:" + pw + "@git.acme.io/x.git", "url-password:1"},
		{"remote", "https://deploy:tr0ub4dor&3@git.acme.io/x.git", "url-password:1"},
		{"local", "postgres://app:" + pw + "@localhost:5432/main", "url-password:1"},
		{"doc", "postgres://app:" + pw + "@db.example.com/main", "url-password:1"},
		{"two", "see http://a.b/c and postgres://app:" + pw + "@h.acme.io/x", "url-password:1"},
		{"jdbc", "jdbc:postgresql://app:" + pw + "@h.acme.io/x", "url-password:1"},

		{"a", "postgres://postgres:postgres@localhost/x", ""},
		{"a", "postgres://postgres:postgres@db.acme.io/x", ""},
		{"a", "postgres://user:password@db.acme.io/x", ""},
		{"a", "https://user:pass@acme.io", ""},
		{"a", "postgres://app:${DB_PASSWORD}@db.acme.io/x", ""},
		{"a", "postgres://app:$PASS@db.acme.io/x", ""},
		{"a", "postgres://%s:%s@%s/x", ""},
		{"a", "postgres://app:<your-password>@db.acme.io/x", ""},
		{"a", "postgres://app:{password}@{host}/x", ""},
		{"a", "postgres://app:xxxxxxxx@db.acme.io/x", ""},
		{"a", "postgres://app:changeme@db.acme.io/x", ""},
		{"a", "postgres://app:dev@localhost/x", ""},
		{"a", "postgres://app:hunter2@localhost/x", ""},
		{"a_test.go", "postgres://app:" + pw + "@db.acme.io/x", ""},
		{"testdata/a.json", "postgres://app:" + pw + "@db.acme.io/x", ""},
		{"a", "http://localhost:8080/@scope/x, me@acme.io", ""},
		{"a", "https://acme.io:8443/a/b@1.2.3", ""},
		{"a", "ssh://git@github.com:22/x", ""},
		{"a", "http://[::1]:80/x:y@z", ""},

		// Headers.
		{"a.sh", "-H 'Authorization: Bearer " + made(32, alnum) + "'", "authorization-header:1"},
		{"a.http", "GET /\nAuthorization: Bearer " + made(40, alnum) + "\n", "authorization-header:2"},
		{"a.js", "headers: { \"Authorization\": \"Bearer " + made(24, alnum) + "\" }", "authorization-header:1"},
		{"a.js", "headers['Authorization'] = `Bearer " + made(24, alnum) + "`", "authorization-header:1"},
		{"a.py", "h = {'Authorization': 'Basic " + base64.StdEncoding.EncodeToString([]byte("svc:"+pw)) + "'}", "authorization-header:1"},
		{"a.go", "req.Header.Set(\"Authorization\", \"Bearer " + made(24, alnum) + "\")", "authorization-header:1"},
		{"a.sh", "-H \"Authorization: Bearer $TOKEN\"", ""},
		{"a.sh", "-H \"Authorization: Bearer ${TOKEN}\"", ""},
		{"a.js", "Authorization: `Bearer ${token}`", ""},
		{"a.md", "Authorization: Bearer <token>", ""},
		{"a.md", "Authorization: Bearer YOUR_ACCESS_TOKEN_1", ""},
		{"a.go", "\"Authorization\", \"Bearer \"+token", ""},
		{"a.md", "Authorization: Bearer mytoken123", ""},

		// Passwords by name.
		{"a.py", "password = \"" + pw[:8] + "\"", "generic-password:1"},
		{"a.py", "x\npassword = 'hunter2'\n", "generic-password:2"},
		{"a.js", "const dbPassword = 'S0me$thing!'", "generic-password:1"},
		{"a.json", "{\"db\": {\"passwd\": \"tr0ub4dor&3\"}}", "generic-password:1"},
		{"a.yaml", "db:\n  password: \"tr0ub4dor&3\"\n", "generic-password:2"},
		{"a.yaml", "db:\n  password: tr0ub4dor&3\n", "generic-password-unquoted:2"},
		{"a.yaml", "- pwd: tr0ub4dor&3 # of it\r\n", "generic-password-unquoted:1"},
		{"app.env", "DB_PASSWORD=tr0ub4dor&3\n", "generic-password-unquoted:1"},
		{".envrc", "export DB_PASSWD=tr0ub4dor&3\n", "generic-password-unquoted:1"},
		{"a.properties", "spring.datasource.password=tr0ub4dor&3\n", "generic-password-unquoted:1"},
		{"a.toml", "secret = 'tr0ub4dor&3'\n", "generic-password:1"},
		{"a.rb", ":password => \"tr0ub4dor&3\"", "generic-password:1"},
		{"a.cs", "string pwd = \"tr0ub4dor&3\";", "generic-password:1"},

		{"a.py", "password = \"password1\"", ""},
		{"a.py", "password = \"changeme1\"", ""},
		{"a.py", "password = \"${DB_PASSWORD1}\"", ""},
		{"a.py", "password = \"xxxxxxxx\"", ""},
		{"a.py", "password = \"<your password 1>\"", ""},
		{"a.py", "password = \"example-1\"", ""},
		{"a.py", "password = os.environ['DB_PASSWORD1']", ""},
		{"a.js", "password: 'current-pass'", ""},
		{"a.js", "type === 'password' ? 'a1b2c3' : x", ""},
		{"a.py", "tests/password: \"\"", ""},
		{"tests/a.py", "password = \"tr0ub4dor&3\"", ""},
		{"a.yaml", "password: {{ .Values.password1 }}\n", ""},
		{"a.yaml", "password: !vault abc1\n", ""},
		{"a.yaml", "secret: my-app-secret-v2\n", ""},
		{"a.go", "password: tr0ub4dor&3\n", ""},
		{"a.yaml", "passwordFile: /run/secrets/db1\n", ""},

		// Others.
		{"hosts", "machine api.acme.io login svc password " + pw, "netrc-password:1"},
		{"hosts", "machine api.acme.io\n  login svc\n  password " + pw + "\n", "netrc-password:1"},
		{"hosts", "machine example.com login user password secret", ""},
		{"hosts", "the machine has a login and a password field", ""},
		{"bot.py", "BOT_TOKEN = '" + bot + "'", "telegram-bot-token:1"},
		{"bot.py", "x = '" + bot + "'", "telegram-bot-token:1"},
		{"bot.py", "https://api.telegram.org/bot" + bot + "/getMe", "telegram-bot-token:1"},
		{"bot.py", "BOT_TOKEN = '110201543:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'", ""},
	} {
		if got := found(t, s, c.path, c.content); got != c.want {
			t.Errorf("%s: %.30s...: %q, want %q", c.path, c.content, got, c.want)
		}
	}
}
