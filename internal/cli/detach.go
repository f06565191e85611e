package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/server"
)

// startReport says how the start of a detached hub went.
type startReport struct {
	Origin string        `json:"origin,omitempty"`
	Error  *parley.Error `json:"error,omitempty"`
}

// reportFD is the file descriptor to which a detached hub writes its report.
const reportFD = 3

// startDetachedHub starts this program again in a session of its own, and waits for its report.
func (a *app) startDetachedHub(cmd *cobra.Command, dir home.Dir) error {
	if err := dir.Make(); err != nil {
		return err
	}
	log, err := dir.OpenLog()
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	child, reports, err := startDetached(cmd, dir, log)
	if err != nil {
		return err
	}
	defer func() { _ = reports.Close() }()
	stop := context.AfterFunc(cmd.Context(), func() { _ = child.Process.Kill() })
	defer stop()
	var r startReport
	if err := json.NewDecoder(reports).Decode(&r); err != nil {
		r.Error = parley.Errorf(parley.Internal, "the hub ended before it was ready: %w", err).Suggest("see %s", dir.Log())
	}
	if r.Error != nil {
		_ = child.Wait() // wait, so that no process is left
		return errors.Join(cmd.Context().Err(), r.Error)
	}
	return a.printDetachedHub(cmd.Context(), dir, r)
}

func startDetached(cmd *cobra.Command, dir home.Dir, log *os.File) (*exec.Cmd, io.ReadCloser, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	reports, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	child := exec.Command(program, "up", "--detached", "--home", string(dir))
	child.Args[0] = os.Args[0]
	child.Env = os.Environ()
	passSettings(child, changedSettings(cmd))
	child.Dir, child.Stdout, child.Stderr, child.ExtraFiles = string(dir), log, log, []*os.File{write}
	detachProcess(child)
	err = child.Start()
	_ = write.Close()
	if err != nil {
		return nil, nil, errors.Join(err, reports.Close())
	}
	return child, reports, nil
}

// passSettings passes settings to the hub that is started. Secrets go through the environment, because every user of
// the machine can read the command line.
func passSettings(child *exec.Cmd, given map[string]string) {
	for _, key := range config.Keys() {
		value, ok := given[key.Name]
		switch {
		case ok && key.Secret():
			child.Env = append(child.Env, key.Variable()+"="+value)
		case ok:
			child.Args = append(child.Args, "--"+key.Flag()+"="+value)
		}
	}
}

// printDetachedHub prints where the hub is. It asks the hub for a sign-in link, so that no log has the link, and prints
// the link only on a terminal.
func (a *app) printDetachedHub(ctx context.Context, dir home.Dir, r startReport) error {
	link := ""
	if c, err := a.newClientIn(dir); err == nil && isTerminal(a.err) {
		defer c.Close()
		if made, err := c.NewLink(ctx, ""); err == nil {
			link = made.URL
		}
	}
	a.printAddresses(r.Origin, link, dir.Socket(), string(dir))
	a.printStderr("The hub logs to %s. Stop it with: %s", dir.Log(), a.commandLine("down"))
	return nil
}

// runDetached runs a detached hub, and reports its start to the parent process.
func (a *app) runDetached(ctx context.Context, dir home.Dir, c *config.Config) error {
	out := os.NewFile(reportFD, "report")
	tell := func(r startReport) {
		_ = json.NewEncoder(out).Encode(r)
		_ = out.Close()
	}
	err := a.runHub(ctx, dir, c, func(s *server.Server) { tell(startReport{Origin: s.Origin()}) })
	if err != nil {
		tell(startReport{Error: parley.AsError(err)}) // the parent has stopped reading if the hub was running
	}
	return err
}
