package peer

import (
	"fmt"
	"os"
	"strconv"
)

// launcher is the first argument with which this program marks itself and then becomes another program.
const launcher = "parley: start of a run"

// The hub starts its own program for each run. This program marks itself and then becomes the program of the run. It does so
// before main, so that it works in every program that contains the hub, including tests.
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

const notStarted = 127 // as in a shell

// Launch returns the program and the arguments with which the hub starts a process of a run. The process and all its descendants
// have the mark of the run. On systems without marks, Launch returns path and args unchanged.
func (r *Registry) Launch(run, path string, args []string) (program string, arguments []string) {
	marks := r.limitsFor(run)
	if marks.mark == 0 {
		return path, args
	}
	return "/proc/self/exe", append([]string{launcher, strconv.FormatUint(marks.mark, 10), strconv.FormatUint(marks.proof, 10), path}, args...)
}
