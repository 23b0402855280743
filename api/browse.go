package api

import "time"

// ProjectsRequest asks for the projects of this user; of the one that Dir is in, if that is not empty.
type ProjectsRequest struct {
	Project
	Sessions bool `json:"sessions,omitempty"` // with their sessions: each store is opened
	After    Text `json:"after,omitempty"`    // the page behind another one, whose next this is
	Limit    int  `json:"limit,omitempty"`    // at most so many; 0: all
}

// ProjectsResponse lists them by root.
type ProjectsResponse struct {
	Projects []ProjectInfo `json:"projects"`
	More     bool          `json:"more"`
	Next     Text          `json:"next,omitempty"` // where more are: what after takes for them
}

// ProjectInfo is a project.
type ProjectInfo struct {
	ID       string           `json:"store_id"`
	Root     Text             `json:"root"`
	Wrong    Text             `json:"wrong,omitempty"`    // why nothing can be asked of it
	Current  string           `json:"current,omitempty"`  // with sessions: where it stands: agent/id, or manual
	Sessions []ProjectSession `json:"sessions,omitempty"` // with sessions: each behind what it was forked from
}

// ProjectSession is a session of a project.
type ProjectSession struct {
	Session  string    `json:"session"` // agent/id
	Agent    Agent     `json:"agent"`
	Title    Text      `json:"title,omitempty"`
	Turns    uint64    `json:"turns"`
	Last     time.Time `json:"last"`
	Current  bool      `json:"current,omitempty"`
	Running  bool      `json:"running,omitempty"`
	Rewound  bool      `json:"rewound,omitempty"`  // it stands before its newest checkpoint
	Parent   string    `json:"parent,omitempty"`   // the branch that it was forked from
	Branches []string  `json:"branches,omitempty"` // what hangs on it: forks of it, and branches within it, as a switch takes them
	Worktree Text      `json:"worktree,omitempty"` // the other worktree of the family in which it goes on; absent: here
}

// NamesRequest asks for the names that a checkpoint, a session or a branch can be called by.
type NamesRequest struct {
	Project
	Like Text `json:"like,omitempty"` // only those that are like it, the most alike first
}

// NamesResponse has tags by name, then sessions, the newest first, each with the branches within it.
type NamesResponse struct {
	Names   []Name   `json:"names"`
	Notices []string `json:"notices,omitempty"`
}

// Name is a name with what it stands for.
type Name struct {
	Name       string `json:"name"` // a tag, agent/id, or turn:n@session
	Kind       string `json:"kind"` // tag, session, branch
	Title      Text   `json:"title,omitempty"`
	Session    string `json:"session,omitempty"`    // of a session and a branch
	Checkpoint string `json:"checkpoint,omitempty"` // that a tag names; of a session the newest
}

// FilesRequest asks what a checkpoint has in a directory.
type FilesRequest struct {
	Project
	Walk
	Checkpoint Text `json:"checkpoint"`
	Path       Text `json:"path,omitempty"`  // the directory, as in a CatRequest; empty: the root
	Deep       bool `json:"deep,omitempty"`  // what is in directories below it, too
	After      Text `json:"after,omitempty"` // the page behind another one, whose next this is
	Limit      int  `json:"limit,omitempty"` // at most so many; 0: all
}

// FilesResponse is in the order of a walk: a directory before what is in it.
type FilesResponse struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Path       Text       `json:"path"` // the directory, from the root
	Files      []File     `json:"files"`
	More       bool       `json:"more"`
	Next       Text       `json:"next,omitempty"` // where more are: what after takes for them
	Notices    []string   `json:"notices,omitempty"`
}

// File is what a checkpoint has at a path.
type File struct {
	Path Text   `json:"path"` // from the root
	Kind string `json:"kind"` // file, link, dir
	Mode string `json:"mode"` // git's notation: 100644, 120000, 040000
	Size int64  `json:"size,omitempty"`
	ID   string `json:"id"` // of its content in the store: the same content has the same
}

// MessagesRequest asks for a page of a conversation: of the session that is walked along, as far as it has come, or
// with a checkpoint up to that. Without before and from it is the newest one.
type MessagesRequest struct {
	Project
	Walk
	Checkpoint Text   `json:"checkpoint,omitempty"`
	Before     *int64 `json:"before,omitempty"`     // the messages before this byte; an answer's older
	From       *int64 `json:"from,omitempty"`       // those from this byte on; an answer's newer
	Begin      bool   `json:"begin,omitempty"`      // from the prompt of the turn on in which the checkpoint lies
	Generation uint64 `json:"generation,omitempty"` // an answer's: if the session file was replaced since, it is refused
	Limit      int    `json:"limit,omitempty"`      // at most so many messages; 0: 50
	Whole      bool   `json:"whole,omitempty"`      // with a limit of 1: up to 1 MiB of its text, instead of 4 KiB
}

// MessagesResponse is oldest first. Places stay what they are while the conversation grows.
type MessagesResponse struct {
	Session      string    `json:"session"`
	Generation   uint64    `json:"generation,omitempty"` // from 1: versions of the file that did not continue each other
	Turns        int       `json:"turns"`                // of the whole conversation
	Messages     []Message `json:"messages"`
	Older        *int64    `json:"older,omitempty"`        // what before takes for the page in front of this one; absent: there is none
	Newer        *int64    `json:"newer,omitempty"`        // what from takes for the one behind it; absent: there is none yet
	End          int64     `json:"end"`                    // where the conversation ends now: from there on comes what is said next
	Conversation Text      `json:"conversation,omitempty"` // why there are none
	Notices      []string  `json:"notices,omitempty"`
}
