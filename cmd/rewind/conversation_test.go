package main

import (
	"strings"
	"testing"

	"rewind/api"
	"rewind/internal/term"
)

func TestConverse(t *testing.T) {
	t.Parallel()
	paths := []api.Text{"a"}
	for _, c := range []struct {
		name  string
		with  api.Wish
		paths []api.Text
		env   bool   // the conversation is asked for
		want  string // of the error
	}{
		{name: "nothing", env: true},
		{name: "paths", paths: paths},
		{name: "code only", with: api.Wish{CodeOnly: true}},
		{name: "context only", with: api.Wish{ContextOnly: true}, env: true},
		{name: "in place", with: api.Wish{InPlace: true, Force: true}, env: true},
		{name: "title", with: api.Wish{Title: "x"}, env: true},
		{name: "both alone", with: api.Wish{CodeOnly: true, ContextOnly: true}, want: "exclude each other"},
		{name: "code only in place", with: api.Wish{CodeOnly: true, InPlace: true}, want: "--code-only leaves"},
		{name: "code only title", with: api.Wish{CodeOnly: true, Title: "x"}, want: "--code-only leaves"},
		{name: "title in place", with: api.Wish{InPlace: true, Title: "x"}, want: "--title names"},
		{name: "paths in place", with: api.Wish{InPlace: true}, paths: paths, want: "with paths"},
		{name: "paths context only", with: api.Wish{ContextOnly: true}, paths: paths, want: "with paths"},
	} {
		s, _, _ := term.Test("", false)
		err := newApp(s).converse(&c.with, c.paths)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case (c.with.Env.Home != "") != c.env:
			t.Errorf("%s: environment %+v", c.name, c.with.Env)
		}
	}
}
