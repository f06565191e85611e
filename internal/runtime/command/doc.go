// Package command runs agents that are programs: the command-line clients of the vendors, and any program of
// the user's own. A preset says how one of them is called; presets are data, built in or from config.yaml,
// never from the database or the API.
//
// A run is one process, in a process group of its own. Its arguments are constant; the prompt goes in on
// stdin, text, session and cost come out of stdout. The process is made known by Job.Begin before its prompt
// is written, so that nothing that was told something can call the hub as a stranger. Whatever ends the run
// ends the whole group: TERM, a grace, KILL.
package command
