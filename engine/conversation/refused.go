package conversation

import (
	"rewind/engine/model"
	"rewind/transcript"
)

// Refused is what a session's file says of calls that a person did not allow. A file that cannot be read says nothing.
func Refused(s *model.Session) transcript.Refusal {
	if s.Agent != transcript.Claude || s.Transcript == "" { // no other one writes it
		return transcript.Refusal{}
	}
	f, err := OpenSession(s.Agent, s.Transcript)
	if err != nil {
		return transcript.Refusal{}
	}
	defer f.Close()
	r, err := transcript.Refused(s.Agent, f.Source(f.Info.Size()))
	if err != nil {
		return transcript.Refusal{}
	}
	return r
}
