package project

// RegisterRemedy is what puts hooks right.
const RegisterRemedy = "rewind config --register-hooks"
