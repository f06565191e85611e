package peer

import (
	"os"
	"strconv"
	"strings"
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
