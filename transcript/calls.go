package transcript

// Targets gives what the tool calls of these ids were about: the path, the command, as Call.Target. A call that a session file does not
// have is not in the answer.
func Targets(agent Agent, src Source, calls map[string]bool) (map[string]string, error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	err = d.lines(src, 0, newLine(maxSummaryText, false), func(l *line) error {
		for _, c := range l.Calls {
			if calls[c.ID] && c.Target != "" {
				out[c.ID] = c.Target
			}
		}
		return nil
	})
	return out, err
}
