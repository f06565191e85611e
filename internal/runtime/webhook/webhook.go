// Package webhook runs agents behind a URL. A run is one signed POST to the URL. The answer comes in the response, or later
// through the API. Everybody who may add agents can choose a URL, so a guard checks each address before the connection: it
// refuses private addresses unless the configuration allows them. docs/runtimes/webhook.md describes the receiver.
package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"syscall"

	"github.com/parley-hub/parley"
)

// Options configure a runtime.
type Options struct {
	// Dir returns the directory of an agent, by its id. The directory contains the secret of the agent.
	Dir func(agent string) string
	// Allow lists private addresses that the runtime may call: networks (10.0.0.0/8), hosts, or host:port.
	Allow []string
	// Failed is called with the reason why a call got no response, in full detail. The detail is for the hub's own log, because
	// it may name addresses of this network. Failed may be nil.
	Failed func(agent string, err error)
	// Answered returns once the run has answered one of its triggers by the API.
	Answered func(ctx context.Context, run parley.RunRequest) error
}

// Runtime runs agents behind URLs.
type Runtime struct {
	options     Options
	guard       *guard
	client      *http.Client
	secretMutex sync.Mutex // held while a secret is read or made
}

// New makes the runtime. It returns E003 if an entry of Options.Allow is malformed.
func New(o Options) (*Runtime, error) {
	g, err := newGuard(o.Allow)
	if err != nil {
		return nil, err
	}
	return &Runtime{options: o, guard: g, client: g.client()}, nil
}

// Close closes the idle connections.
func (r *Runtime) Close() { r.client.CloseIdleConnections() }

// Check returns an error if an agent cannot be called: E003 if its runtime_config or its secret is wrong, E001 if its URL is
// private, E002 if its secret cannot be read. It makes the secret of the agent if there is none.
func (r *Runtime) Check(_ context.Context, a parley.Agent) error {
	target, err := parseConfig(a.RuntimeConfig)
	if err == nil {
		err = r.guard.checkURL(target)
	}
	if err == nil {
		_, err = r.secret(a.ID)
	}
	return err
}

// RunToken returns the kind of token that the receiver gets. The token leaves this machine, so it allows one answer and nothing
// else.
func (r *Runtime) RunToken(parley.Agent) parley.TokenKind { return parley.TokenReply }

// Run posts the run to the agent's URL. The messages are seen once the request is written.
func (r *Runtime) Run(ctx context.Context, run parley.RunRequest) (parley.Result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	begin := sync.OnceValue(func() error {
		err := run.Begin(ctx, parley.Process{})
		if err != nil {
			end(err)
		}
		return err
	})
	response, err := r.post(ctx, run, func() { _ = begin() })
	if err != nil {
		if r.options.Failed != nil && ctx.Err() == nil {
			r.options.Failed(run.Agent.ID, withoutURL(err))
		}
		return parley.Result{}, explain(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := begin(); err != nil {
		return parley.Result{}, err
	}
	if response.StatusCode == http.StatusAccepted {
		return parley.Result{}, r.awaitAnswer(ctx, run)
	}
	return readResponse(ctx, response, run.Log)
}

// post sends the request and calls written when it is on its way.
func (r *Runtime) post(ctx context.Context, run parley.RunRequest, written func()) (*http.Response, error) {
	target, err := parseConfig(run.Agent.RuntimeConfig)
	if err != nil {
		return nil, err
	}
	secret, err := r.secret(run.Agent.ID)
	if err != nil {
		return nil, err
	}
	request, err := newRequest(target, run, secret)
	if err != nil {
		return nil, err
	}
	trace := &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			written()
		}
	}}
	return r.client.Do(request.WithContext(httptrace.WithClientTrace(ctx, trace)))
}

func (r *Runtime) awaitAnswer(ctx context.Context, run parley.RunRequest) error {
	err := r.options.Answered(ctx, run)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// explain turns the error of a request without a response into the failure of a run.
func explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if refused, ok := errors.AsType[*parley.Error](err); ok {
		return refused
	}
	return failed(parley.FailureServer, 0, "cannot reach the webhook: %s", networkReason(err))
}

// withoutURL returns an error without its URL, which may contain a secret.
func withoutURL(err error) error {
	if call, ok := errors.AsType[*url.Error](err); ok {
		return call.Err
	}
	return err
}

// networkReason returns the reason of a network failure for senders: without addresses and without the name server.
func networkReason(err error) string {
	var (
		timeout interface{ Timeout() bool }
		number  syscall.Errno
	)
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return "its host name does not exist"
		}
		return "the lookup of its host name failed"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted"
	}
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it did not answer in time"
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection"
	default:
		return "the connection failed"
	}
}
