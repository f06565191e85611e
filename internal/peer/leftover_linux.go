package peer

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// runVariable names the run in the environment of everything that it starts.
const runVariable = "PARLEY_RUN="

// kill kills what is there, and says whether there was nothing.
func (l leftovers) kill() (none bool, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}
	none = true
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() && l.killOne(pid) {
			none = false
		}
	}
	return none, nil
}

// killOne kills a process if it belongs here. It is held before it is looked at: its number cannot become
// another's in between.
func (l leftovers) killOne(pid int) bool {
	held, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = held.Release() }()
	if !l.belongs(pid) {
		return false
	}
	_ = held.Kill() // or it has just ended
	return true
}

func (l leftovers) belongs(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	s, err := readStat(pid)
	if err != nil || s.state == 'Z' {
		return false
	}
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return false
	}
	if l.groups[s.group] {
		return true
	}
	environment, err := os.ReadFile(dir + "/environ")
	return err == nil && l.named(environment)
}

// named says whether an environment has one of the runs in it.
func (l leftovers) named(environment []byte) bool {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if run, ok := bytes.CutPrefix(variable, []byte(runVariable)); ok {
			return l.runs[string(run)]
		}
	}
	return false
}
