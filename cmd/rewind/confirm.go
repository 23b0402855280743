package main

import (
	"bufio"
	"fmt"
	"strings"

	"rewind/api"
)

// confirm asks a person before what cannot be undone: it wants yes, typed. Where nobody can be asked it is refused,
// which says what would be done. no is what is said when the answer is another.
func (a *app) confirm(ask string, refused *api.Error, no string) error {
	if !a.asks() {
		return refused
	}
	fmt.Fprint(a.Err, ask+"\nType yes to go on: ")
	answer, _ := bufio.NewReader(a.In).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return &api.Error{Word: api.WordFailed, Message: no}
	}
	return nil
}

// asks reports whether there is a person to ask.
func (a *app) asks() bool { return a.InTTY && a.ErrTTY && !a.json }
