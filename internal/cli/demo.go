package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/server"
)

func (a *app) demoCommand() *cobra.Command {
	var once bool
	addr := "127.0.0.1:7717"
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a small company of agents at work",
		Long: `Start a hub in a temporary home, with six agents that follow rules instead of a model: no API key, no network.
They hold a standup, share the work on a report and ask each other. Then they wait for you, until you interrupt the demo.
When the demo ends, it removes the hub and the temporary home.`,
		Example: `  parley demo
  parley demo --once`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().BoolVar(&once, "once", false, "end after the show, and approve the request automatically")
	cmd.Flags().StringVar(&addr, "addr", addr, "`address` to listen on; if it is in use, the demo takes a free port")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		removeStaleDemos()
		dir, err := newDemoHome()
		if err != nil {
			return err
		}
		err = a.runDemo(cmd.Context(), dir, addr, once)
		return errors.Join(err, os.RemoveAll(string(dir)))
	}
	return cmd
}

// runDemo runs a hub and plays the show on it.
func (a *app) runDemo(ctx context.Context, dir home.Dir, addr string, once bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var show sync.WaitGroup
	var shown error
	perform := func(s *server.Server) {
		show.Go(func() {
			shown = a.runDemoShow(ctx, dir, s, once)
			cancel() // the show is over, or failed
		})
	}
	err := a.demoHub(ctx, dir, addr, perform)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = a.demoHub(ctx, dir, "127.0.0.1:0", perform)
	}
	cancel()
	show.Wait()
	if errors.Is(shown, context.Canceled) {
		shown = nil // the user interrupted the demo
	}
	return errors.Join(err, shown)
}

// demoHub runs a hub with the settings of the demo only. It ignores the files and the environment of the user.
func (a *app) demoHub(ctx context.Context, dir home.Dir, addr string, started func(*server.Server)) error {
	c, err := config.Load(dir.Config(), nil, map[string]string{"addr": addr, "log.level": "error"})
	if err != nil {
		return err
	}
	log := server.NewLog(c, a.err, isTerminal(a.err))
	return server.Run(ctx, server.Options{Home: dir, Config: c, Log: log, Grace: -1}, started)
}

// demoPrefix begins the names of the homes of demos. The id of the process that created the home follows.
const demoPrefix = "parley-demo-"

func newDemoHome() (home.Dir, error) {
	path, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", demoPrefix, os.Getpid()))
	if err != nil {
		return "", err
	}
	return home.Locate(path)
}

// removeStaleDemos removes the homes of demos that were killed. It ignores errors, because the user did not ask for
// this.
func removeStaleDemos() {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), demoPrefix+"*"))
	for _, path := range found {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), demoPrefix), "-")
		if pid, err := strconv.Atoi(maker); err != nil || pid <= 0 || pid != os.Getpid() && isAlive(pid) {
			continue
		}
		dir := home.Dir(path)
		if dir.CheckMade() != nil { // it belongs to another user, or is a link
			continue
		}
		if lock, err := dir.Acquire(); err == nil {
			_ = lock.Remove()
		} else {
			_ = os.Remove(path) // a home in which no hub was started
		}
	}
}

// isAlive reports whether a process with this id exists.
func isAlive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
