package model_test

import (
	"testing"

	"rewind/engine/model"
	"rewind/hooks"
)

// A prompt that begins no turn is not named as one: by its word nobody takes it for the begin of a turn.
func TestWordOf(t *testing.T) {
	for _, ev := range []hooks.Event{
		{Kind: hooks.Prompt},
		{Kind: hooks.Prompt, Notice: true},
		{Kind: hooks.Prompt, Subagent: "a"},
		{Kind: hooks.Prompt, Notice: true, Subagent: "a"},
	} {
		prompt := model.WordOf(&ev) == model.EventWords[hooks.Prompt]
		if begins := hooks.Decide(ev).Begins; prompt != begins {
			t.Errorf("%+v: it begins a turn: %v, its word is %q", ev, begins, model.WordOf(&ev))
		}
	}
}
