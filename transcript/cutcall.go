package transcript

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNoCall says that the conversation has no call of that id.
var ErrNoCall = errors.New("no such call")

// CutCall is the last safe place at or before the end of a call's result, or, if it has none, of the record that makes the call: the agent may have
// gone on since. The newest call of that id is meant. An error wraps ErrNoCall or ErrEmpty.
func CutCall(agent Agent, src Source, call string) (Cut, error) {
	at, err := callEnd(agent, src, call)
	if err != nil {
		return Cut{}, err
	}
	return CutAt(agent, src, at)
}

// HasCall reports whether a conversation has a call of that id.
func HasCall(agent Agent, src Source, call string) (bool, error) {
	_, err := callEnd(agent, src, call)
	if errors.Is(err, ErrNoCall) {
		return false, nil
	}
	return err == nil, err
}

func callEnd(agent Agent, src Source, call string) (int64, error) {
	at := int64(0)
	err := Read(agent, src, 0, func(r *Record) error {
		if r.Side {
			return nil
		}
		if slices.ContainsFunc(r.Calls, func(c Call) bool { return c.ID == call }) || at > 0 && slices.Contains(r.Results, call) {
			at = r.Offset + r.Size
		}
		return nil
	})
	if err == nil && (at == 0 || call == "") {
		err = fmt.Errorf("transcript: cut %s at call %q: %w", src.Name, oneLine(call, maxTarget), ErrNoCall)
	}
	return at, err
}
