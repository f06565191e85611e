package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/connect"
	"github.com/parley-hub/parley/internal/home"
)

// verdict is the result of a check.
type verdict string

const (
	verdictOK   verdict = "ok"
	verdictWarn verdict = "warn"
	verdictFail verdict = "fail"
)

// finding is what a check found, and how to fix it.
type finding struct {
	Check   string  `json:"check"`
	Verdict verdict `json:"verdict"`
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitempty"`
}

// doctor checks a home and the hub in it.
type doctor struct {
	app      *app
	deep     bool
	dir      home.Dir
	config   *config.Config
	findings []finding

	connected []connect.Connection // the connected clients of this user
}

func (a *app) doctorCommand() *cobra.Command {
	var deep bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the home, the hub and its data, and say how to fix problems",
		Long: `Check home, permissions, configuration, connected clients, hub, address, versions, clock, disk and database, and say
how to fix problems. The hub may be running or stopped. With --deep, doctor verifies every message and artifact. It also sends a
message to each agent whose connected client is open, and says how far the message comes.`,
		Example: `  parley doctor
  parley doctor --deep -o json`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "verify the checksum of every message and artifact, and send a message to open clients")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := home.Locate(a.home)
		if err != nil {
			return err
		}
		d := &doctor{app: a, deep: deep, dir: dir}
		if err := d.examine(cmd.Context()); err != nil {
			return err
		}
		return d.print()
	}
	return cmd
}

func (d *doctor) addFinding(check string, v verdict, format string, args ...any) *finding {
	d.findings = append(d.findings, finding{Check: check, Verdict: v, Message: fmt.Sprintf(format, args...)})
	return &d.findings[len(d.findings)-1]
}

// noteError adds an error and its suggestion as a finding.
func (d *doctor) noteError(check string, err error) {
	e := parley.AsError(err)
	d.addFinding(check, verdictFail, "%s", e.Message).Fix = e.Suggestion
}

// print prints the findings. It returns an error if a check failed.
func (d *doctor) print() error {
	if d.app.output != formatTable {
		if err := printList(d.app, d.findings); err != nil {
			return err
		}
	} else {
		for _, f := range d.findings {
			d.app.printText(d.findingText(f))
		}
	}
	for _, f := range d.findings {
		if f.Verdict == verdictFail {
			return silentError{exitError}
		}
	}
	return nil
}

func (d *doctor) findingText(f finding) string {
	word := fmt.Sprintf("%-4s", f.Verdict)
	line := fmt.Sprintf("%s  %-11s  %s", word, f.Check, oneLine(f.Message))
	if f.Fix != "" {
		line += "\n" + strings.Repeat(" ", 19) + "fix: " + oneLine(f.Fix)
	}
	return line
}

// examine runs all checks. It skips a check if something that the check needs is missing.
func (d *doctor) examine(ctx context.Context) error {
	if !d.checkHome() {
		return nil
	}
	c, err := config.Load(d.dir.Config(), os.Environ(), nil)
	if err != nil {
		d.noteError("config", err)
		return nil
	}
	d.config = c
	d.checkConfig()
	d.checkNotify()
	d.connected = d.checkClients()
	_, running, err := d.dir.Running()
	if err != nil {
		return err
	}
	if running {
		return d.examineHub(ctx)
	}
	return d.examineStore(ctx)
}
