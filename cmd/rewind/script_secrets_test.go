package main

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdMakeToken: maketoken file... puts a token, another each time, in the place of @TOKEN@. They are made here so that
// nothing in the repository looks like a secret.
func cmdMakeToken(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) > 0, "maketoken file...")
	const from = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for _, name := range args {
		token := []byte("gh" + "p_")
		for range 36 {
			token = append(token, from[rand.IntN(len(from))])
		}
		text := strings.ReplaceAll(ts.ReadFile(name), "@TOKEN@", string(token))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
	}
}

// cmdWaitStatus: waitstatus regexp asks for the status until it says so.
func cmdWaitStatus(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "waitstatus regexp")
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		ts.Check(ts.Exec("rewind", "status", "-v"))
		if re.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("status does not come to say %s", args[0])
		}
	}
}
