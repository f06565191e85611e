// Package script runs agents that follow rules instead of a model. The first rule that matches a message decides the steps.
// Rules are YAML; docs/runtimes/script.md describes them. The same messages always lead to the same answers.
package script

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/parley-hub/parley"
)

// Runtime runs agents by their rules.
type Runtime struct {
	mu    sync.Mutex
	cache map[string]parsedRules // by agent
}

// parsedRules are the rules of an agent and the runtime_config that they were parsed from.
type parsedRules struct {
	config string
	rules  rules
}

// New makes the runtime.
func New() *Runtime { return &Runtime{cache: map[string]parsedRules{}} }

// Instant reports that a run needs no time to start and no prompt, so its messages count as seen at once.
func (*Runtime) Instant() bool { return true }

// Check returns E003 with the line of the first mistake in an agent's rules, or nil.
func (r *Runtime) Check(_ context.Context, a parley.Agent) error {
	_, err := r.rulesOf(a)
	return err
}

// Run executes the rules for each of the messages, in order, and answers with all replies together.
func (r *Runtime) Run(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
	rules, err := r.rulesOf(request.Agent)
	if err != nil {
		return parley.Result{}, err
	}
	if err := request.Begin(ctx, parley.Process{}); err != nil {
		return parley.Result{}, err
	}
	run := newExecution(request)
	for _, trigger := range request.Triggers {
		if err := run.execute(ctx, rules, trigger); err != nil {
			return parley.Result{}, err
		}
	}
	return parley.Result{Text: run.answer()}, nil
}

// cacheSize is how many agents the cache holds at most.
const cacheSize = 1000

// rulesOf returns the rules of an agent, from the cache if its runtime_config is unchanged.
func (r *Runtime) rulesOf(a parley.Agent) (rules, error) {
	config := string(a.RuntimeConfig)
	r.mu.Lock()
	defer r.mu.Unlock()
	if cached, ok := r.cache[a.ID]; ok && cached.config == config {
		return cached.rules, nil
	}
	parsed, err := parseConfig(a.RuntimeConfig)
	if err != nil {
		return nil, err
	}
	if len(r.cache) >= cacheSize {
		clear(r.cache)
	}
	r.cache[a.ID] = parsedRules{config, parsed}
	return parsed, nil
}

// parseConfig parses an agent's runtime_config: {"rules": "<YAML>"}.
func parseConfig(raw json.RawMessage) (rules, error) {
	var config map[string]json.RawMessage
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &config); err != nil {
			return nil, parley.Errorf(parley.BadInput, "runtime_config is not a JSON object: %w", err).Suggest(hintConfig)
		}
	}
	for name := range config {
		if name != "rules" {
			return nil, parley.Errorf(parley.BadInput, "a script agent has no setting %q", name).Suggest(hintConfig)
		}
	}
	var text string
	if err := json.Unmarshal(config["rules"], &text); err != nil || text == "" {
		return nil, parley.Errorf(parley.BadInput, "a script agent needs rules").Suggest(hintConfig)
	}
	return parseRules(text)
}

const hintConfig = `give them in a file with --rules FILE, or as runtime_config {"rules": "…"}`
