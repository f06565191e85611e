package peer

import (
	"fmt"
	"os"
	"strconv"
)

// launcher is the first argument of this program where it is to become another one.
const launcher = "parley: start of a run"

// A run is started by way of this program, which marks itself and then becomes the other one. That happens before main,
// so that every program that has the hub in it can do it, tests too.
func init() {
	const mark, path = 2, 3
	if len(os.Args) <= path || os.Args[1] != launcher {
		return
	}
	number, err := strconv.ParseUint(os.Args[mark], 10, 64)
	if err == nil {
		err = become(number, os.Args[path], os.Args[path:])
	}
	fmt.Fprintln(os.Stderr, "the program cannot be started:", err)
	os.Exit(notStarted)
}

const notStarted = 127 // as a shell says it

// Launch returns how to start a program as a process of a run, so that the process and everything it ever starts carry
// a mark. Where there are no marks, that is the program itself.
func (r *Registry) Launch(run, path string, args []string) (program string, arguments []string) {
	mark := r.markOf(run)
	if mark == 0 {
		return path, args
	}
	return "/proc/self/exe", append([]string{launcher, strconv.FormatUint(mark, 10), path}, args...)
}
