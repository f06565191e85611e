// Package llm runs agents on the API of a model. It streams the answer, and calls the hub's tools for the model until the model
// has answered.
//
// A run is a few turns. The runtime retries a failed request for a turn a few times, so a busy API costs no attempt of the
// delivery. A turn has no effects before it is complete.
package llm

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/parley-hub/parley"
)

// Runtime runs agents of runtime llm.
type Runtime struct {
	providers map[string]Provider
	prices    prices
	client    *http.Client
	getenv    func(string) string
	pause     func(context.Context, time.Duration) error
	jitter    func() float64
}

// Options configure a runtime. The zero value of a field means its default.
type Options struct {
	Client *http.Client                               // sends the requests
	Getenv func(string) string                        // returns the variables that hold keys
	Pause  func(context.Context, time.Duration) error // waits before another attempt
}

// New makes a runtime of the built-in providers and the given ones, which override built-in ones of the same name. It returns
// E003 if a provider is wrong.
func New(providers map[string]Provider, o Options) (*Runtime, error) {
	all, err := withBuiltin(providers)
	if err != nil {
		return nil, err
	}
	r := &Runtime{providers: all, prices: builtinPrices().with(providers), client: o.Client, getenv: o.Getenv, pause: o.Pause, jitter: rand.Float64}
	if r.client == nil {
		r.client = newClient()
	}
	if r.getenv == nil {
		r.getenv = os.Getenv
	}
	if r.pause == nil {
		r.pause = pause
	}
	return r, nil
}

// Check returns E003 if an agent cannot be run: its runtime_config is wrong, its provider has no key, or it has a budget in
// dollars and the price of its model is unknown.
func (r *Runtime) Check(_ context.Context, a parley.Agent) error {
	s, p, err := r.settingsOf(a)
	if err != nil {
		return err
	}
	if err := r.prices.checkBudget(a, s); err != nil {
		return err
	}
	_, err = p.key(s.Provider, r.getenv)
	return err
}

// Run does one run.
func (r *Runtime) Run(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
	s, p, err := r.settingsOf(request.Agent)
	if err != nil {
		return parley.Result{}, err
	}
	key, err := p.key(s.Provider, r.getenv)
	if err != nil {
		return parley.Result{}, err
	}
	x := &modelRun{Runtime: r, request: request, settings: s, provider: p, key: key, dialogue: r.newDialogue(request, s, p, key)}
	text, err := x.converse(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return parley.Result{Text: text, Usage: x.used}, err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
