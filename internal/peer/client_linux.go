package peer

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// programOf returns the program of a process, as far as the hub can see it.
func programOf(pid int) (p program) {
	dir := "/proc/" + strconv.Itoa(pid)
	name, err := os.ReadFile(dir + "/comm")
	if err != nil {
		return p
	}
	p.name = strings.TrimSuffix(string(name), "\n")
	p.file, _ = os.Readlink(dir + "/exe")
	p.file = strings.TrimSuffix(p.file, " (deleted)")
	if line, err := os.ReadFile(dir + "/cmdline"); err == nil {
		p.argv = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	return p
}

// leadsSession reports whether a process leads its session. It also returns true if this is unknown.
func leadsSession(pid int) bool {
	p, err := processOf(pid)
	return err != nil || p.session == pid
}

// hasTerminal reports whether a process has a controlling terminal. It also returns true if this is unknown.
func hasTerminal(pid int) bool {
	p, err := readStat(pid)
	return err != nil || p.terminal != 0
}

// userOf returns the effective user of a process, or -1 if it is unknown.
func userOf(pid int) int {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return -1
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(owner.Uid)
}

// boot returns an id of the current start of the system. Start times of processes count from it.
func boot() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// lower lowers the limits of a process, which its later descendants inherit. It reports whether it did.
func (l limits) lower(pid int) bool {
	for _, one := range []struct {
		which int
		limit uint64
	}{{unix.RLIMIT_LOCKS, l.mark}, {unix.RLIMIT_RTTIME, l.proof}} {
		if unix.Prlimit(pid, one.which, &unix.Rlimit{Cur: one.limit, Max: one.limit}, nil) != nil {
			return false
		}
	}
	return true
}
