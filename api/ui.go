package api

// UIRequest asks for a way into the page, for the project of Dir.
type UIRequest struct {
	Project
	Env AgentEnv `json:"env"` // of the person for whom the page does what it does
}

// UIResponse has the address to open. It lets one browser in, once, within two minutes.
type UIResponse struct {
	Address string `json:"address"`
	Project string `json:"project,omitempty"` // the id of the project; "": Dir is in none, and all projects are shown
}
