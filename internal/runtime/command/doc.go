// Package command runs agents that are programs: the command-line clients of the vendors, and any other program. A preset
// describes how to start a program. Presets are built in or come from config.yaml, never from the database or the API.
//
// A run is one process, in a process group of its own. Its arguments are constant. The runtime writes the prompt to stdin, and
// reads text, session and cost from stdout. RunRequest.Begin registers the process before it gets the prompt, so the hub knows every
// process that has read a prompt. When the run ends, the runtime ends the whole group: TERM, a grace period, KILL.
package command
