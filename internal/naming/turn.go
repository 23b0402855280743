package naming

import (
	"fmt"
	"strings"
)

// ShortID is how an id of a session begins, as far as that tells it from others: the first 8 of a random one; one that
// begins with its time (UUID version 7) as far as the milliseconds.
func ShortID(id string) string {
	if n := len("01a20108-90c4"); len(id) > n+1 && id[n] == '-' && id[n+1] == '7' {
		return id[:n]
	}
	return fmt.Sprintf("%.8s", id)
}

// Whose is what a session, agent/id, is called beside the number of a turn; "": it is no agent's.
func Whose(session string) string {
	_, id, _ := strings.Cut(session, "/")
	return ShortID(id)
}

// TurnWords are a turn as people read it: "turn 4 of ecb90d2e". whose is what its session is called, see Whose; "": the
// project has no other session, and the number is enough. Every turn that is told of goes through here, or TurnName.
func TurnWords(turn uint64, whose string) string {
	if whose == "" {
		return fmt.Sprintf("turn %d", turn)
	}
	return fmt.Sprintf("turn %d of %s", turn, whose)
}

// TurnName is a turn as a person types it: "turn:4@ecb90d2e", or "turn:4".
func TurnName(turn uint64, whose string) string {
	if whose == "" {
		return fmt.Sprintf("turn:%d", turn)
	}
	return fmt.Sprintf("turn:%d@%s", turn, whose)
}
