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
	const mark, proof, path = 2, 3, 4
	if len(os.Args) <= path || os.Args[1] != launcher {
		return
	}
	var marks limits
	_, err := fmt.Sscan(os.Args[mark]+" "+os.Args[proof], &marks.mark, &marks.proof)
	if err == nil {
		err = become(marks, os.Args[path], os.Args[path:])
	}
	fmt.Fprintln(os.Stderr, "the program cannot be started:", err)
	os.Exit(notStarted)
}

const notStarted = 127 // as a shell says it

// Launch returns how to start a program as a process of a run, so that the process and everything it ever starts carry
// a mark. Where there are no marks, that is the program itself.
func (r *Registry) Launch(run, path string, args []string) (program string, arguments []string) {
	marks := r.limitsFor(run)
	if marks.mark == 0 {
		return path, args
	}
	return "/proc/self/exe", append([]string{launcher, strconv.FormatUint(marks.mark, 10), strconv.FormatUint(marks.proof, 10), path}, args...)
}
