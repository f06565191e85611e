package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/connect"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/hook"
)

func (a *app) hookCommand() *cobra.Command {
	var agent, scope string
	cmd := &cobra.Command{
		Use:   "hook client event",
		Short: "Answer a hook of an agent client (clients run this command themselves)",
		Long: `Answer a hook of an agent client. "parley connect" registers this command with the hooks of Claude Code, Codex, Gemini CLI,
OpenCode and Cursor. The client writes JSON to standard input and reads JSON from standard output.

The hooks bring the agent its messages, wake an idle client when a message comes, and turn requests for permissions into approvals.
If there is nothing to say, the command prints nothing. If anything fails, it prints nothing, and the exit code is 0, within 200 ms.`,
		Example: `  echo '{"session_id":"s-1"}' | parley hook claude UserPromptSubmit --agent ana
  echo '{"session_id":"s-1"}' | parley hook claude PostToolUse --agent ana`,
		// A wrong command line is no error: with the exit code of one, Claude Code would block its turn.
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		ValidArgsFunction:  completeNothing,
	}
	cmd.Flags().StringVar(&agent, "agent", "", "act as this connected `agent`")
	cmd.Flags().StringVar(&scope, "scope", "", "`where` the hook is registered: with user, it is silent in projects with a registration of their own")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 || !hook.Known(args[0], args[1]) {
			if isTerminal(a.in) {
				return usagef(cmd, "name a client and one of its events, such as: parley hook claude Stop")
			}
			return nil
		}
		if code := a.runHook(cmd.Context(), args[0], args[1], agent, scope); code != exitDone {
			return silentError{code}
		}
		return nil
	}
	return cmd
}

// runHook answers a hook, and returns the exit code. A client that the hub runs has no hooks: the hub gives each run its messages.
func (a *app) runHook(ctx context.Context, name, event, agent, scope string) (code int) {
	defer func() {
		if recover() != nil {
			code = exitDone // the exit code of a panic would block the client
		}
	}()
	if os.Getenv("PARLEY_RUN") != "" {
		return exitDone
	}
	signal.Ignore(syscall.SIGPIPE) // a client that has gone is an error of the write, after which the messages go back
	hub, err := a.clientAs(agent, "hook")
	if err != nil {
		return exitDone
	}
	defer hub.Close()
	dir, err := client.Home(a.home)
	if err == nil && agent == "" {
		agent, err = whoCalls(ctx, hub)
	}
	if err != nil {
		return exitDone
	}
	call := hook.Call{
		Hub: hookHub{hub}, Agent: agent, Client: name, Event: event, Wait: hook.DefaultWait, Env: os.Getenv, Session: hookSession(name),
		Waits: hook.Waits{Dir: filepath.Join(home.Dir(dir).Clients(), "waits"), ClientEnded: watchClient()},
		In:    a.in, Out: a.out, Err: a.err,
		Elsewhere: func(project string) bool {
			return scope == connect.ScopeUser && isProjectConnected(dir, name, event, project)
		},
		Detach: func(event, session string) { a.detachHook(name, event, agent, session) },
		Queue:  queueCodex,
	}
	return call.Run(ctx)
}

// isProjectConnected reports whether this person has connected a project as an agent, whose token the home has, and the files of the
// project register the hook. The files alone prove nothing: whoever writes a repository would silence the hooks of all who open it.
func isProjectConnected(dir, client, event, project string) bool {
	agent := connect.ProjectAgent(home.Dir(dir), client, event, project)
	if agent == "" {
		return false
	}
	_, err := home.Dir(dir).AgentToken(agent)
	return err == nil // without it, the hook of the project is silent
}

// whoCalls returns the id of the participant that the environment makes the caller.
func whoCalls(ctx context.Context, hub *client.Client) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, hook.Quick)
	defer cancel()
	me, err := hub.Whoami(ctx)
	return me.Agent.ID, err
}

// hookHub is the hub for hooks. Its calls fail at once if the hub is away, unlike those of a Workspace.
type hookHub struct{ *client.Client }

func (h hookHub) OpenSession(ctx context.Context, n parley.NewSession) (parley.SessionStream, error) {
	s, err := h.Client.OpenSession(ctx, n)
	if err != nil { // a nil *SessionStream would not be a nil interface
		return nil, err
	}
	return s, nil
}

func (h hookHub) Named(ctx context.Context, ids ...string) ([]parley.Presence, error) {
	return h.Names(ctx, ids...)
}

// clientPID is the variable by which a detached hook knows its client: it has another parent.
const clientPID = "PARLEY_CLIENT_PID"

// detachHook starts a hook that goes on after this one.
func (a *app) detachHook(client, event, agent, session string) {
	program, err := os.Executable()
	if err != nil {
		return
	}
	args := []string{"hook", client, event, "--agent", agent}
	if a.home != "" {
		args = append(args, "--home", a.home)
	}
	input, err := json.Marshal(map[string]string{"session_id": session})
	if err != nil {
		return
	}
	// A file, and not a pipe: the input must be there after this process has ended.
	in, err := os.CreateTemp("", "parley-hook-*")
	if err != nil {
		return
	}
	defer func() { _ = in.Close() }()
	defer func() { _ = os.Remove(in.Name()) }()
	if _, err := in.Write(input); err != nil {
		return
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return
	}
	cmd := exec.Command(program, args...) //nolint:noctx // it goes on after this process
	cmd.Env = append(os.Environ(), clientPID+"="+strconv.Itoa(os.Getppid()), sessionVariable+"="+hookSession(client))
	cmd.Stdin = in
	detachProcess(cmd)
	_ = cmd.Start() // without it, the client is not woken
}

// queueCodex puts a prompt into the queue of an open session of Codex.
func queueCodex(ctx context.Context, session, text string) error {
	program, err := exec.LookPath("codex")
	if err != nil {
		return err
	}
	return exec.CommandContext(ctx, program, "queue", "--thread", session, "--message", text).Run()
}

// watchClient returns a function that reports whether the client that has started this process has ended: then the process gets another
// parent. Claude Code, and a hook that has started this one, also tell the number of the client's process.
func watchClient() func() bool {
	parent := os.Getppid()
	if pid, err := strconv.Atoi(os.Getenv(clientPID)); err == nil {
		return func() bool { return hook.HasEnded(pid) }
	}
	pid, err := strconv.Atoi(os.Getenv("CLAUDE_PID"))
	return func() bool { return os.Getppid() != parent || err == nil && hook.HasEnded(pid) }
}
