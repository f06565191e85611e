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

// runtimes are what runs agents, each by the name that agents have it under.
type runtimes map[string]parley.Runtime

// makeRuntimes makes those that are built in and those of the configuration.
func (s *Server) makeRuntimes(context.Context) error {
	presets, err := command.ParsePresets(s.Config.Runtimes)
	if err != nil {
		return s.inConfig(err)
	}
	providers, err := llm.ParseProviders(s.Config.Providers)
	if err != nil {
		return s.inConfig(err)
	}
	model, err := llm.New(providers, llm.Options{})
	if err != nil {
		return err
	}
	hook, err := webhook.New(webhook.Options{
		Dir: s.Home.Agent, Allow: s.Config.Webhook.Allow, Answered: s.answered,
		Failed: func(agent string, err error) {
			s.Log.Warn("cannot reach the webhook of an agent", "agent", agent, "error", err)
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

// ownDirectory is where this program is, for agents that call it by its name.
func ownDirectory() string {
	self, err := os.Executable()
	if err != nil {
		return "" // then it must be in the PATH anyway
	}
	return filepath.Dir(self)
}

// withoutKeys is an environment without the keys of providers and the secrets of notifiers, which no program gets. Those of the vendors
// have well-known names, by which their own programs look for them: what these get, their presets say.
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

// grace is what runs get to end.
func (s *Server) grace() time.Duration {
	switch {
	case s.Grace != 0:
		return s.Grace
	case s.Config.Runs.Grace == 0:
		return -1 // nothing
	default:
		return s.Config.Runs.Grace
	}
}

// inConfig says in which file it is that something is wrong.
func (s *Server) inConfig(err error) error {
	e := *parley.AsError(err)
	e.Message = s.Home.Config() + ": " + e.Message
	return &e
}

// forAgent is the runtime of an agent.
func (r runtimes) forAgent(a parley.Agent) (parley.Runtime, error) {
	if runtime, ok := r[a.Runtime]; ok {
		return runtime, nil
	}
	names := append(slices.Sorted(maps.Keys(r)), parley.RuntimeAttached)
	return nil, parley.Errorf(parley.BadInput, "there is no runtime %q", a.Runtime).
		Suggest("%s", parley.DidYouMean(parley.Nearest(a.Runtime, names), "add it under runtimes in config.yaml and restart the hub, or use one of: "+strings.Join(names, ", ")))
}

// check says why an agent cannot be run.
func (r runtimes) check(ctx context.Context, a parley.Agent) error {
	runtime, err := r.forAgent(a)
	if err != nil {
		return err
	}
	return runtime.Check(ctx, a)
}

// startRuns turns what waits for agents into runs. They can call the hub by then, and until they have ended.
func (s *Server) startRuns(ctx context.Context) error {
	if err := command.ForgetEnviron(); err != nil {
		s.Log.Warn("programs that agents run can read the environment of the hub", "error", err)
	}
	if err := command.KeepFiles(); err != nil {
		s.Log.Warn("programs that agents run may have files open that the hub was given", "error", err)
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

// urlFor is where a run reaches the hub with a token of this kind.
func (s *Server) urlFor(k parley.TokenKind) string {
	if k == parley.TokenRun {
		return "unix://" + s.about.Socket
	}
	return s.Origin()
}

// toolsOf is what an agent is told that it may use. A program has its own tools, and among them a shell.
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

// answerPoll is for answers to some of several messages, or of one that others have to answer too.
const answerPoll = time.Second

// answered waits until a run has answered one of its triggers.
func (s *Server) answered(ctx context.Context, job parley.Job) error {
	owner := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	newest := job.Triggers[len(job.Triggers)-1].ID
	for {
		for _, trigger := range job.Triggers {
			shown, err := s.hub.Message(ctx, owner, trigger.ID)
			if err != nil || slices.ContainsFunc(shown.Deliveries, func(d parley.Delivery) bool {
				return d.Recipient == job.Agent.ID && d.State == parley.DeliveryAnswered
			}) {
				return err
			}
		}
		if _, err := s.hub.AwaitState(ctx, owner, newest, parley.DeliveryAnswered, answerPoll); err != nil {
			return err
		}
	}
}
