package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
)

// programInfo describes this program.
type programInfo struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func newProgramInfo() programInfo { return programInfo{parley.Version, runtime.Version(), platform()} }

func (p programInfo) String() string {
	return fmt.Sprintf("parley %s (%s, %s)", p.Version, p.Go, p.System)
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  parley version\n  parley version -o json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.printValue(newProgramInfo(), func() { _, _ = fmt.Fprintln(a.out, newProgramInfo()) })
		},
	}
}
