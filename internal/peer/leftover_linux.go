package peer

import (
	"bytes"
	"os"
	"strconv"
)

// runVariable names the run in the environment of everything that it starts.
const runVariable = "PARLEY_RUN="

// kill kills all matching processes once, and reports whether there were none.
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

// killIf kills a process if it matches, and reports whether it did. It opens a handle first, so that no other process can get
// the number between the check and the kill.
func killIf(pid int, one func(pid int) bool) bool {
	held, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = held.Release() }()
	return one(pid) && held.Kill() == nil // the process may have just ended, or belong to another user
}

func (l leftovers) belongs(pid int) bool {
	s, err := readStat(pid)
	if err != nil || s.state == 'Z' {
		return false
	}
	if began, known := l.sessions[s.session]; known && s.started >= began {
		return true
	}
	if found, err := limitsOf(pid); err == nil && (l.marks[found.mark] || l.ours != nil && l.ours(found.mark)) {
		return true
	}
	if len(l.runs) == 0 {
		return false
	}
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && l.named(environment)
}

// named reports whether an environment names one of the runs.
func (l leftovers) named(environment []byte) bool {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if run, ok := bytes.CutPrefix(variable, []byte(runVariable)); ok {
			return l.runs[string(run)]
		}
	}
	return false
}
