package server

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dispatch"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/prompt"
	"github.com/parley-hub/parley/internal/runtime/command"
	"github.com/parley-hub/parley/internal/runtime/llm"
	"github.com/parley-hub/parley/internal/runtime/script"
	"github.com/parley-hub/parley/internal/runtime/webhook"
	"github.com/parley-hub/parley/internal/tools"
)

// runtimes maps the name in an agent's profile to the runtime that runs the agent.
type runtimes map[string]parley.Runtime

// makeRuntimes makes the built-in runtimes and those of the configuration.
func (s *Server) makeRuntimes(context.Context) error {
	presets, err := command.ParsePresets(s.Config.Runtimes)
	if err != nil {
		return s.prefixConfigPath(err)
	}
	providers, err := llm.ParseProviders(s.Config.Providers)
	if err != nil {
		return s.prefixConfigPath(err)
	}
	model, err := llm.New(providers, llm.Options{})
	if err != nil {
		return err
	}
	hook, err := webhook.New(webhook.Options{
		Dir: s.Home.Agent, Allow: s.Config.Webhook.Allow, Answered: s.awaitRunAnswer,
		Failed: func(agent string, err error) {
			s.Log.Warn("cannot reach the webhook of an agent; its run fails", "agent", agent, "error", err)
		},
	})
	if err != nil {
		return err
	}
	s.onStop(func() error { hook.Close(); return nil })
	programs := command.New(presets, command.Options{
		Environ: withoutKeys(os.Environ(), providers, s.notified.Variables()), Bin: ownDirectory(),
		Dirs: append([]string{}, s.Config.Runs.Dirs...), Home: string(s.Home), Env: append([]string{}, s.Config.Runs.Env...),
		Grace: s.grace(), OutputLimit: s.Config.Runs.Output, Launch: s.peers.Launch, Kill: s.peers.Kill,
	})
	s.runtimes = runtimes{parley.RuntimeScript: script.New(), parley.RuntimeLLM: model, parley.RuntimeWebhook: hook}
	for _, name := range programs.Names() {
		s.runtimes[name] = programs
	}
	return nil
}

// ownDirectory returns the directory of this program, which the hub adds to the PATH of agents that run parley.
func ownDirectory() string {
	self, err := os.Executable()
	if err != nil {
		return "" // then agents find parley only if it is in the PATH already
	}
	return filepath.Dir(self)
}

// withoutKeys returns an environment without the keys of configured providers and without the other variables that are named,
// which no program of an agent may read. It keeps the well-known variables of vendors:
// the presets say which program gets them.
func withoutKeys(environ []string, providers map[string]llm.Provider, others []string) []string {
	known := map[string]bool{}
	for _, p := range llm.Builtin() {
		known[p.KeyEnv] = true
	}
	secret := map[string]bool{}
	for _, p := range providers {
		secret[p.KeyEnv] = !known[p.KeyEnv]
	}
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return secret[name] || slices.Contains(others, name)
	})
}

// grace returns how long runs may take to end at the stop.
func (s *Server) grace() time.Duration {
	switch {
	case s.Grace != 0:
		return s.Grace
	case s.Config.Runs.Grace == 0:
		return -1 // no time
	default:
		return s.Config.Runs.Grace
	}
}

// prefixConfigPath puts the path of the configuration file before the message of an error.
func (s *Server) prefixConfigPath(err error) error {
	e := *parley.AsError(err)
	e.Message = s.Home.Config() + ": " + e.Message
	return &e
}

// forAgent returns the runtime of an agent, or E003 if the configuration has none of that name.
func (r runtimes) forAgent(a parley.Agent) (parley.Runtime, error) {
	if runtime, ok := r[a.Runtime]; ok {
		return runtime, nil
	}
	names := append(slices.Sorted(maps.Keys(r)), parley.RuntimeAttached)
	return nil, parley.Errorf(parley.BadInput, "there is no runtime %q", a.Runtime).
		Suggest("%s", parley.DidYouMean(parley.Nearest(a.Runtime, names), "add it under runtimes in config.yaml and restart the hub, or use one of: "+strings.Join(names, ", ")))
}

// check returns an error that says why the hub cannot run an agent, or nil.
func (r runtimes) check(ctx context.Context, a parley.Agent) error {
	runtime, err := r.forAgent(a)
	if err != nil {
		return err
	}
	return runtime.Check(ctx, a)
}

// startRuns starts the dispatcher, which runs agents for their pending deliveries. It comes after serve, and stops before it,
// because runs call the hub.
func (s *Server) startRuns(ctx context.Context) error {
	if err := command.EraseEnviron(); err != nil {
		s.Log.Warn("cannot hide the environment of the hub from the programs of agents; they can read its secrets", "error", err)
	}
	if err := command.CloseFilesOnExec(); err != nil {
		s.Log.Warn("cannot close inherited files to the programs of agents; they may read files that were open when the hub started", "error", err)
	}
	runs := dispatch.New(s.hub, dispatch.Options{
		Node: s.node, Total: s.Config.Runs.Total, Deadline: s.Config.Runs.Deadline, Grace: s.grace(), URL: s.urlFor,
		Runtime: s.runtimes.forAgent, Prompt: prompt.Build, Dir: s.Home.Agent, Files: prompt.Files,
		Tools:     toolsOf,
		Processes: s.peers, Log: s.Log,
	})
	runs.Start(context.WithoutCancel(ctx))
	s.onStop(func() error { runs.Stop(); return nil })
	return nil
}

// urlFor returns the URL by which a run calls the hub with a token of this kind.
func (s *Server) urlFor(k parley.TokenKind) string {
	if k == parley.TokenRun {
		return "unix://" + s.about.Socket
	}
	return s.Origin()
}

// toolsOf returns the tools that the prompt lists for an agent. A program has its own tools, among them a shell, so its prompt
// lists commands.
func toolsOf(a parley.Agent) []parley.ToolDoc {
	switch a.Runtime {
	case parley.RuntimeLLM:
		return tools.Docs()
	case parley.RuntimeScript, parley.RuntimeWebhook:
		return nil
	default:
		return tools.Commands()
	}
}

// answerPoll is how often awaitRunAnswer looks at all triggers. AwaitState waits for one of them only, and only until all of its
// recipients have answered.
const answerPoll = time.Second

// awaitRunAnswer waits until the agent of a run has answered one of the run's triggers. It returns the error of ctx, or that
// of a trigger that cannot be read.
func (s *Server) awaitRunAnswer(ctx context.Context, request parley.RunRequest) error {
	owner := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	newest := request.Triggers[len(request.Triggers)-1].ID
	for {
		for _, trigger := range request.Triggers {
			shown, err := s.hub.Message(ctx, owner, trigger.ID)
			if err != nil || slices.ContainsFunc(shown.Deliveries, func(d parley.Delivery) bool {
				return d.Recipient == request.Agent.ID && d.State == parley.DeliveryAnswered
			}) {
				return err
			}
		}
		if _, err := s.hub.AwaitState(ctx, owner, newest, parley.DeliveryAnswered, answerPoll); err != nil {
			return err
		}
	}
}
