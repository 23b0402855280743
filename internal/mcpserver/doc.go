// Package mcpserver answers an agent over the Model Context Protocol: 'rewind mcp'. It is read only. A tool's arguments
// become the command line of a command of rewind that looks (list, show, diff, cat, grep, blame, turns), which is run
// as a process and whose text is the answer.
//
// So a tool says what a person would read in a terminal, errors and remedies included, refuses what the command
// refuses, and needs no way of its own to the daemon. The server lives as long as the agent's session, its commands for
// a moment: when rewind is upgraded meanwhile, the next call runs the new one.
//
// An answer is bounded: see page. What it shows was written by others (prompts, files, names of files): control bytes
// and what is not UTF-8 are escaped, and the tools' descriptions say that it is data.
package mcpserver
