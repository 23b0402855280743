// Package confine runs a command in a private view of a project. What the command writes into the project's directory
// is thrown away. No process that it started outlives it.
//
// On Linux the command is started by a supervisor, a process of this program ([Main]), which is told over a pipe what
// to run. The supervisor has a mount namespace of its own, and a user namespace where the user is not root. It mounts,
// starts the command, waits for it, and ends all that is left. It is the reaper of its descendants, so that a process
// that called setsid or forked twice is found. If the pipe closes, who asked is gone, and the supervisor ends
// everything too. Who asked is a reaper as well, and does the same for a supervisor that was killed.
//
// There is no PID namespace: the numbers that a command writes into files would mean other processes to everybody else.
//
//   - confine.go has what is asked for and what came of it; wire_linux.go is that between the two processes.
//   - probe.go finds out once what the system allows.
//   - client_linux.go starts a supervisor and waits for it; supervisor_linux.go is the supervisor.
//   - view_linux.go mounts.
//   - descendants_linux.go finds and ends processes.
//   - run_other.go is for systems without these: a process group.
package confine
