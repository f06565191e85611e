// Package cli is the command line: the commands of parley, their flags, and what they print. Data goes to standard
// output, everything else to standard error.
package cli

import (
	"context"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/client"
)

// app is one run of the program: its streams, and the flags that every command has.
type app struct {
	in       io.Reader
	out, err io.Writer

	program string // the name by which the program was called

	home   string
	as     string
	output format

	started bool // a command has started: the command line was valid
}

// Run runs one command line and returns the exit code. The first INT or TERM signal ends the command's context, the
// second ends the process.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return RunAs(programName, args, stdin, stdout, stderr)
}

const programName = "parley"

// RunAs is Run for a program that was called by another name, such as that of a link to it.
func RunAs(program string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := &app{in: stdin, out: stdout, err: stderr, output: formatTable}
	root := a.rootFor(filepath.Base(program))
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	a.markStart(root)
	err := a.handleHeld(root.ExecuteContext(ctx))
	if err == nil {
		return exitDone
	}
	if !a.started {
		err = usageError{err}
	}
	return a.fail(ctx, err)
}

// markStart makes each command note that it has started.
func (a *app) markStart(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.started = true
			return run(cmd, args)
		}
	}
	for _, below := range cmd.Commands() {
		a.markStart(below)
	}
}

// The groups in which help lists the commands.
const (
	groupTalk   = "talk"
	groupPeople = "people"
	groupHub    = "hub"
	groupCare   = "care"
)

func (a *app) newRoot() *cobra.Command {
	root := a.parentCommand("parley", "The place where AI agents and people talk to each other")
	root.Long = `Parley is the place where AI agents and people talk to each other.

Start the hub with "parley up", add an agent with "parley agent add arya", and write to it with
"parley send arya hello". The help of each command has examples: parley send --help`
	a.program = programName
	a.configureRoot(root)
	a.addCommands(root)
	return root
}

// configureRoot gives a command the version, the usage and the flags of a root command.
func (a *app) configureRoot(root *cobra.Command) {
	root.SetUsageTemplate(usageTemplate(root))
	root.Version = newProgramInfo().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	a.globalFlags(root)
}

func (a *app) globalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.home, "home", "", "home `directory` of the hub (default $PARLEY_HOME, or ~/.parley)")
	flags.StringVar(&a.as, "as", "", "act as this `agent` (owners only; the hub audits it)")
	flags.VarP(&a.output, "output", "o", "output `format`: table, json or jsonl")
	completeFlag(root, "as", a.completeAgents)
	completeFlag(root, "output", completeWords(string(formatTable), string(formatJSON), string(formatLines)))
}

func (a *app) addCommands(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: groupTalk, Title: "Talking:"},
		&cobra.Group{ID: groupPeople, Title: "Agents, conversations and tasks:"},
		&cobra.Group{ID: groupHub, Title: "The hub:"},
		&cobra.Group{ID: groupCare, Title: "Maintenance:"},
	)
	root.SetHelpCommandGroupID(groupHub)
	root.SetCompletionCommandGroupID(groupHub)
	addGroup(root, groupTalk, a.chatCommand(), a.sendCommand(), a.replyCommand(), a.askCommand(), a.delegateCommand(), a.notifyCommand(), a.waitCommand(),
		a.inboxCommand(), a.ackCommand(), a.watchCommand(), a.mcpCommand(), a.hookCommand(), a.searchCommand(), a.traceCommand(), a.logCommand(), a.sendMessageCommand(), a.blackboardCommand())
	addGroup(root, groupPeople, a.agentCommand(), a.convCommand(), a.taskCommand(), a.memoryCommand(), a.approvalCommand(), a.permitCommand(), a.bridgeCommand(), a.tokenCommand(),
		a.whoCommand(), a.sessionCommand(), a.topCommand(), a.whoamiCommand(), a.signInCommand(), a.connectCommand(), a.disconnectCommand(), a.runCommand())
	addGroup(root, groupHub, a.upCommand(), a.demoCommand(), a.downCommand(), a.statusCommand(), a.configCommand(), a.versionCommand())
	addGroup(root, groupCare, a.doctorCommand(), a.backupCommand(), a.restoreCommand(), a.exportCommand(), a.importCommand(),
		a.deadCommand(), a.redactCommand(), a.artifactCommand(), a.auditCommand(), a.uninstallCommand())
	addCobraCommands(root)
}

func addGroup(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.GroupID = id
	}
	root.AddCommand(commands...)
}

// parentCommand returns a command that only has subcommands.
func (a *app) parentCommand(use, short string, below ...*cobra.Command) *cobra.Command {
	menu := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noArgs,
		RunE:  showHelp,

		Annotations: map[string]string{parentAnnotation: "yes"},
	}
	menu.AddCommand(below...)
	var examples []string
	for _, cmd := range below[:min(len(below), parentExamples)] {
		first, _, _ := strings.Cut(cmd.Example, "\n")
		examples = append(examples, first)
	}
	menu.Example = strings.Join(examples, "\n")
	return menu
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

const parentExamples = 5

// parentAnnotation marks parent commands. Their help has no usage line of their own.
const parentAnnotation = "menu"

// usageTemplate returns cobra's template without the line that a parent command does not need.
func usageTemplate(root *cobra.Command) string {
	return strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (not (index .Annotations "`+parentAnnotation+`"))}}`, 1)
}

// commandLine returns a command line to suggest, for the same hub.
func (a *app) commandLine(words ...string) string {
	if a.home != "" {
		words = append([]string{"--home", a.home}, words...)
	}
	return "parley " + strings.Join(words, " ")
}

// newClient returns a client of the hub that the flags and the environment name.
func (a *app) newClient() (*client.Client, error) {
	options, err := client.Find(a.home)
	if err != nil {
		return nil, err
	}
	options.As, options.Source = a.as, "cli"
	return client.New(options)
}

// clientFunc is the part of a command that calls the hub.
type clientFunc func(ctx context.Context, c *client.Client, args []string) error

// withClient returns the function of a command that calls do with a client, and closes the client afterwards.
func (a *app) withClient(do clientFunc) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := a.newClient()
		if err != nil {
			return err
		}
		defer c.Close()
		return do(cmd.Context(), c, args)
	}
}
