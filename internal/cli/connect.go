package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/connect"
	"github.com/parley-hub/parley/internal/home"
)

// connectFlags are the flags of connect that run has too.
type connectFlags struct {
	name                         string
	project, plugin, dryRun, yes bool
	elsewhere                    bool // at the place at which the client is connected as the agent, if the environment names none
}

func (a *app) connectCommand() *cobra.Command {
	var flags connectFlags
	cmd := &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Connect Claude Code, Codex, Gemini CLI, OpenCode or Cursor with the hub",
		Long: `Connect an agent client that you start yourself with the hub. CLIENT is claude, codex, gemini, opencode or cursor.

The command shows what it changes in the files of the client, and asks once. It then adds an agent with the runtime attached,
stores a token for it in the home, and registers the MCP server and the hooks of Parley with the client. The files of the
client get no secret. All other text in them stays as it is. If everything is connected already, the command changes nothing.

With --project, the command changes the files of the project in the current directory instead of your own. You can commit these
files. With --plugin, it changes no files, because a plugin of the client registers Parley.`,
		Example: `  parley connect claude
  parley connect codex --name ana
  parley connect gemini --dry-run
  parley connect claude --project --yes`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(completeWords(connect.Names()...), completeNothing),
	}
	cmd.Flags().StringVar(&flags.name, "name", "", "`agent` that the client acts as (default: the agent as before, or the name of the client)")
	cmd.Flags().BoolVar(&flags.project, "project", false, "change the files of the project in the current directory")
	cmd.Flags().BoolVar(&flags.plugin, "plugin", false, "change no files: a plugin of the client registers Parley")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "show the changes, and change nothing")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask for confirmation")
	cmd.MarkFlagsMutuallyExclusive("project", "plugin")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := requireNonEmpty(cmd, "name"); err != nil {
			return err
		}
		c, err := a.newConnecting(cmd, args[0], flags)
		if err != nil {
			return err
		}
		defer c.close()
		return c.run(cmd.Context())
	}
	return cmd
}

// connecting is one call of connect.
type connecting struct {
	*app
	cmd   *cobra.Command
	flags connectFlags
	home  home.Dir
	known *connect.Connection // the present connection, or nil
	setup connect.Setup
	list  []connect.Connection // all connections of the home
	// isEarlier says that the agent is the one as before a disconnect. It may not exist any more.
	isEarlier bool
	hub       *connectHub
}

func (a *app) newConnecting(cmd *cobra.Command, client string, flags connectFlags) (*connecting, error) {
	c := &connecting{app: a, cmd: cmd, flags: flags}
	err := c.findClient(client)
	if err == nil {
		c.known, err = connect.Load(c.home, c.setup)
	}
	if err == nil && !flags.project && !flags.plugin {
		err = c.setup.Machine.CheckInstalled(c.setup.Client)
	}
	if err == nil {
		err = c.chooseAgent()
	}
	if err != nil {
		return nil, err
	}
	c.hub, err = a.newConnectHub(c.home)
	return c, err
}

func (c *connecting) close() { c.hub.Close() }

// findClient fills in the setup, but for the agent.
func (c *connecting) findClient(id string) (err error) {
	if c.home, c.setup, err = c.findSetup(id, c.flags.project); err != nil {
		return err
	}
	if c.list, err = connect.List(c.home); err != nil {
		return err
	}
	if c.flags.elsewhere {
		c.setup.Dir = c.dirOfAgent()
	}
	if standard, err := filepath.EvalSymlinks(filepath.Join(c.setup.Machine.UserHome, ".parley")); err != nil || standard != string(c.home) {
		c.setup.Home = string(c.home)
	}
	c.setup.Plugin = c.flags.plugin
	c.setup.Parley, err = programPath()
	return err
}

// findSetup returns the home, and which client is meant at which place: that of the environment, or the project in the current directory.
func (a *app) findSetup(id string, project bool) (dir home.Dir, s connect.Setup, err error) {
	if s.Client, err = connect.Find(id); err != nil {
		return dir, s, usageError{err}
	}
	if dir, err = home.Locate(a.home); err != nil {
		return dir, s, err
	}
	if s.Machine, err = thisMachine(); err != nil || !project {
		s.Dir = s.Machine.DirOf(s.Client)
		return dir, s, err
	}
	s.Project, err = os.Getwd()
	s.Project = connect.WithoutLinks(s.Project)
	return dir, s, err
}

// chooseAgent chooses the agent: the given one, the present one, the earlier one, or one with the name of the client.
func (c *connecting) chooseAgent() (err error) {
	switch {
	case c.flags.name != "":
		c.setup.Agent = c.flags.name
	case c.known != nil:
		c.setup.Agent = c.known.Agent
	case !c.flags.plugin: // a plugin names the agent
		c.setup.Agent, err = connect.EarlierAgent(c.home, c.setup)
		c.isEarlier = c.setup.Agent != ""
	}
	c.setup.Agent = cmp.Or(c.setup.Agent, c.setup.Client.ID)
	return err
}

// thisMachine returns what connect must know of this machine and its user.
func thisMachine() (connect.Machine, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		return connect.Machine{}, parley.Errorf(parley.BadInput, "this user has no home directory: %w", err).Suggest("set HOME")
	}
	return connect.Machine{UserHome: connect.WithoutLinks(user), Getenv: os.Getenv, LookPath: exec.LookPath}, nil
}

// programPath returns the path of this program. If the program is in PATH, it is the path there, which stays the same when another
// version is installed.
func programPath() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(programName)
	if err != nil || !filepath.IsAbs(found) {
		return path, nil //nolint:nilerr // it is not in PATH
	}
	this, err1 := os.Stat(path)
	other, err2 := os.Stat(found)
	if err1 == nil && err2 == nil && os.SameFile(this, other) {
		return found, nil
	}
	return path, nil
}

// connected is what connect prints.
type connected struct {
	Client  string   `json:"client"`
	Agent   string   `json:"agent"`
	Changed bool     `json:"changed"`
	Files   []string `json:"files"`
	Diff    string   `json:"diff,omitempty"`
	Next    []string `json:"next,omitempty"`
}

func (c *connecting) run(ctx context.Context) error {
	done, err := c.connect(ctx)
	if err != nil {
		return err
	}
	return c.printValue(done, func() {
		if !done.Changed {
			c.printWords("already connected", done.Client, done.Agent)
			return
		}
		if c.flags.dryRun {
			c.printText(done.Diff)
			return
		}
		c.printWords("connected", done.Client, done.Agent)
		for _, step := range done.Next {
			c.printStderr("%s", step)
		}
	})
}

// connect connects the client, after a confirmation.
func (c *connecting) connect(ctx context.Context) (done connected, err error) {
	todo, err := c.hub.look(ctx, c.setup.Agent, c.flags.dryRun)
	if c.isEarlier && (todo.add || parley.CodeOf(err) == parley.BadInput || err != nil && parley.AsError(err).Reason == parley.Gone) {
		todo, err = c.hub.look(ctx, c.setup.Client.ID, c.flags.dryRun)
	}
	if err == nil {
		err = c.checkOthers(todo.agent)
	}
	if err != nil {
		return done, err
	}
	c.setup.Agent = todo.agent
	plan, err := connect.NewPlan(c.setup, c.known)
	if errors.Is(err, connect.ErrLink) && c.flags.dryRun {
		c.preview()
	}
	if err != nil {
		return done, err
	}
	done = connected{Client: c.setup.Client.ID, Agent: todo.agent, Files: []string{}, Diff: plan.Diff()}
	for _, change := range plan.Changes {
		done.Files = append(done.Files, change.Path())
	}
	sameAgent := c.known != nil && c.known.Agent == todo.agent
	done.Changed = len(plan.Changes) > 0 || todo.add || todo.token || !sameAgent
	if !done.Changed {
		return done, nil
	}
	c.describe(ctx, plan, todo)
	if !c.flags.yes && !c.flags.dryRun {
		_, _ = c.err.Write([]byte(plainDiff(c.app, done.Diff)))
	}
	c.describeOthers(todo.agent)
	if c.flags.dryRun {
		return done, nil
	}
	question := "Connect " + c.setup.Client.Title + " with the hub as " + todo.agent + "?"
	if err := c.confirmWith(c.cmd, c.flags.yes, question, "there is no terminal for a confirmation; add --yes"); err != nil {
		return done, err
	}
	token, err := c.hub.prepare(ctx, todo)
	if err == nil {
		err = plan.Apply(c.home, token)
	}
	if err == nil && c.known != nil && !sameAgent {
		_, err = c.dropToken(ctx, c.home, *c.known) // of the agent as which the client was connected
	}
	done.Next = c.next(todo.agent)
	return done, err
}

// preview shows a change that a person must make by hand, because it leads through links.
func (c *connecting) preview() {
	if plan, err := connect.Preview(c.setup); err == nil && c.output == formatTable {
		c.printText(plan.Diff())
	}
}

// describe prints what is to be done besides the changes of files.
func (c *connecting) describe(ctx context.Context, plan *connect.Plan, todo hubWork) {
	if program := c.setup.Machine.ProgramOf(c.setup.Client); program != "" {
		c.printStderr("%s is installed: %s", strings.TrimSpace(c.setup.Client.Title+" "+versionOf(ctx, program)), program)
	}
	if todo.add {
		c.printStderr("The hub gets an agent %s with the runtime attached.", todo.agent)
	}
	if todo.token {
		c.printStderr("A new token of %s is stored in the home %s.", todo.agent, c.home)
	}
	if len(plan.Changes) == 0 {
		c.printStderr("The files of %s stay as they are.", c.setup.Client.Title)
	}
}

// next returns what the user must still do.
func (c *connecting) next(agent string) (steps []string) {
	list := c.setup.Client.User
	if c.setup.Project != "" {
		list = c.setup.Client.Project
	}
	for _, step := range list {
		steps = append(steps, strings.ReplaceAll(step, "%s", agent))
	}
	if c.setup.Project != "" && c.setup.Home != "" {
		steps = append(steps, "Set PARLEY_HOME="+c.setup.Home+" where you start the client: the files of a project name no home.")
	}
	if os.Getenv("PARLEY_URL") != "" && c.app.home == "" {
		steps = append(steps, "Set PARLEY_URL where you start the client, as it is set here, if the agent uses the command parley in its shell.")
	}
	return steps
}
