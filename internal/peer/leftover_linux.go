package peer

import (
	"bytes"
	"os"
	"strconv"
)

// runVariable is the environment variable with the id of the run, in all processes that a run starts.
const runVariable = "PARLEY_RUN="

// kill kills each matching process once, and reports whether there were none.
func (l leftovers) kill() (none bool, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}
	none = true
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() && killIf(pid, l.belongs) {
			none = false
		}
	}
	return none, nil
}

// killIf kills a process if matches returns true, and reports whether it did. It opens a handle of the process first, so that it
// cannot kill another process that gets the same PID after the check.
func killIf(pid int, matches func(pid int) bool) bool {
	handle, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = handle.Release() }()
	return matches(pid) && handle.Kill() == nil // the process may have just ended, or belong to another user
}

// belongs reports whether a process is one of the processes to kill.
func (l leftovers) belongs(pid int) bool {
	s, err := readStat(pid)
	if err != nil || s.state == 'Z' {
		return false
	}
	if began, known := l.sessions[s.session]; known && s.started >= began {
		return true
	}
	if found, err := limitsOf(pid); err == nil && (l.marks[found.mark] || l.isOwn != nil && l.isOwn(found.mark)) {
		return true
	}
	if len(l.runs) == 0 {
		return false
	}
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && l.namesRun(environment)
}

// namesRun reports whether an environment has the id of one of the runs.
func (l leftovers) namesRun(environment []byte) bool {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if run, ok := bytes.CutPrefix(variable, []byte(runVariable)); ok {
			return l.runs[string(run)]
		}
	}
	return false
}
