package value

// Setting is one key of the configuration.
type Setting struct {
	Key   string `json:"key"`
	Value any    `json:"value"` // a boolean, a number, a string (one of a few words, or an age) or a list of strings
	From  string `json:"from"`  // default, global or project
	Help  string `json:"help"`
	Unit  string `json:"unit,omitempty"` // of a number: bytes; none: it counts
}
