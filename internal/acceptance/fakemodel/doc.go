// Package fakemodel is a model that plays a script, for running real coding agents without a network. It speaks
// Anthropic Messages, OpenAI Responses (with the one-tool "code mode"), OpenAI Chat Completions and Gemini, streamed
// and whole, as the agents' own clients accept them.
//
// It keeps no conversation: the reply is a function of the request, so that a resumed, forked or truncated conversation
// gets the reply that fits the context it really sent. The last user message that a turn of the script matches names
// the turn; the number of replies after that message is the step. What was asked is kept for the tests.
package fakemodel
