package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/server"
)

func (a *app) upCommand() *cobra.Command {
	var detach, detached bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the hub",
		Long: `Start the hub, and run it until you interrupt it. The hub needs no configuration. You can also set every flag, except
--detach and the global flags, in config.yaml of the home or in the environment.`,
		Example: `  parley up
  parley up --detach
  parley up --addr 127.0.0.1:0 --home ./hub
  parley up --store postgres://parley@db.example.org/parley`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "run the hub in the background, and return when it is ready")
	cmd.Flags().BoolVar(&detached, "detached", false, "report the start to the parent process")
	_ = cmd.Flags().MarkHidden("detached")
	for _, key := range config.Keys() {
		cmd.Flags().Var(&settingFlag{key.Default, placeholder(key.Type)}, key.Flag(), asHelp(key.Doc))
	}
	completeFlag(cmd, "log-level", completeWords("debug", "info", "warn", "error"))
	completeFlag(cmd, "log-format", completeWords("auto", "text", "json"))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, c, err := a.loadConfig(cmd)
		switch {
		case err != nil:
			return err
		case detach:
			return a.startDetachedHub(cmd, dir)
		case detached:
			return a.runDetached(cmd.Context(), dir, c)
		default:
			return a.runHub(cmd.Context(), dir, c, func(s *server.Server) { a.printStartedHub(cmd.Context(), s) })
		}
	}
	return cmd
}

// loadConfig returns the home and its configuration: from its file, the environment, and the flags of the command.
func (a *app) loadConfig(cmd *cobra.Command) (home.Dir, *config.Config, error) {
	dir, err := home.Locate(a.home)
	if err != nil {
		return "", nil, err
	}
	c, err := config.Load(dir.Config(), os.Environ(), changedSettings(cmd))
	return dir, c, err
}

// newClientIn returns a client of the hub in a home. It ignores PARLEY_URL.
func (a *app) newClientIn(dir home.Dir) (*client.Client, error) {
	options, err := client.Find(string(dir))
	if err != nil {
		return nil, err
	}
	options.Home, options.As, options.Source = a.home, a.as, "cli"
	return client.New(options)
}

// changedSettings returns the settings that the command line sets.
func changedSettings(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for _, key := range config.Keys() {
		if flag := cmd.Flags().Lookup(key.Flag()); flag != nil && flag.Changed {
			given[key.Name] = flag.Value.String()
		}
	}
	return given
}

func (a *app) runHub(ctx context.Context, dir home.Dir, c *config.Config, started func(*server.Server)) error {
	log := server.NewLog(c, a.err, isTerminal(a.err))
	for _, warning := range c.Warnings() {
		log.Warn(warning)
	}
	return server.Run(ctx, server.Options{Home: dir, Config: c, Log: log}, started)
}

// printStartedHub prints where the started hub is. It prints a sign-in link only on a terminal: other outputs may be
// stored where others can read them.
func (a *app) printStartedHub(ctx context.Context, s *server.Server) {
	link := ""
	if isTerminal(a.err) {
		var err error
		if link, err = s.SignInLink(ctx); err != nil {
			s.Log.Warn("cannot create a sign-in link", "error", err)
		}
	}
	about := s.About()
	a.printAddresses(s.Origin(), link, about.Socket, about.Home)
	a.printStderr("Stop it with Ctrl-C.")
}

// printAddresses prints where a hub is. Without a link, it says how to get one.
func (a *app) printAddresses(page, link, socket, dir string) {
	_, _ = fmt.Fprintf(a.err, `The hub is running.
  page    %s
  socket  %s
  home    %s
`, page, socket, dir)
	if link == "" {
		a.printStderr("To sign in with a browser, create a link: %s", a.commandLine("sign-in"))
		return
	}
	_, _ = fmt.Fprintf(a.err, `Sign in with this link:
%s
It works once, for ten minutes.
`, link)
}
