package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
	home "github.com/parley-hub/parley/internal/store/sqlite"
)

// measureHTTP compares posts through the HTTP API, by clients with persistent connections, with the same posts in process.
// Clients and hub share the machine.
func measureHTTP(ctx context.Context, rounds int, length time.Duration) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	h, closeHub, err := newHub(ctx, filepath.Join(dir, "hub"), true)
	if err != nil {
		return nil, err
	}
	inProcess, err := dmPoster(ctx, h)
	if err != nil {
		return nil, err
	}
	overHTTP, closeServer, err := httpPoster(ctx, h)
	if err != nil {
		return nil, err
	}
	var a, b []float64
	for range rounds {
		x, err := throughput(length, posters, overHTTP)
		if err != nil {
			return nil, err
		}
		y, err := throughput(length, posters, inProcess)
		if err != nil {
			return nil, err
		}
		a, b = append(a, x), append(b, y)
	}
	return []result{atLeast(0.5, result{
		What: "posts over HTTP, 64 clients, against the same posts in process", Ratio: median(a) / median(b),
		Parley: fmt.Sprintf("%.0f/s", median(a)), Baseline: fmt.Sprintf("%.0f/s", median(b)),
	})}, errors.Join(closeServer(), closeHub())
}

// ownerWithAllScopes is a caller that can make tokens.
var ownerWithAllScopes = hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}

// httpPoster posts over HTTP. Each worker has a token and connections of its own.
func httpPoster(ctx context.Context, h *hub.Hub) (poster, func() error, error) {
	url, stop, err := serveHTTP(h)
	if err != nil {
		return nil, nil, err
	}
	var clients [posters]*client.Client
	var dms [posters][partners]string
	for w := range posters {
		made, err := h.NewToken(ctx, ownerWithAllScopes, parley.NewToken{Agent: agentID(w)})
		if err != nil {
			return nil, nil, err
		}
		if clients[w], err = client.New(client.Options{URL: url, Token: made.Secret}); err != nil {
			return nil, nil, err
		}
		for p := range partners {
			receipt, err := clients[w].Post(ctx, parley.Draft{Direct: []string{agentID(w + p + 1)}, Content: parley.Content{Text: body}})
			if err != nil {
				return nil, nil, err
			}
			dms[w][p] = receipt.Message.Conversation
		}
	}
	return func(worker, n int) error {
		_, err := clients[worker].Post(ctx, parley.Draft{
			Conversation: dms[worker][n%partners], Content: parley.Content{Text: body},
		})
		return err
	}, stop, nil
}

// serveHTTP serves the HTTP API of a hub on this machine.
func serveHTTP(h *hub.Hub) (url string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	closing, endStreams := context.WithCancel(context.Background())
	server := &http.Server{Handler: httpapi.New(h, httpapi.Options{Closing: closing}), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() error {
		endStreams()
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}, nil
}

const firstCalls = 25 // restarts for each measurement of a first call

// measureFirstCall measures the first call with a token after a start. It compares a hub of many agents with a hub of few.
func measureFirstCall(ctx context.Context) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	const few, many = 10, 10_000
	var times [2][]time.Duration
	var secrets [2]string
	for i, agents := range []int{few, many} {
		if secrets[i], err = addAgentsWithTokens(ctx, filepath.Join(dir, strconv.Itoa(i)), agents); err != nil {
			return nil, err
		}
	}
	for range firstCalls {
		for i := range times {
			took, err := firstCall(ctx, filepath.Join(dir, strconv.Itoa(i)), secrets[i])
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], took)
		}
	}
	a, b := median(times[1]), median(times[0])
	return []result{atMost(1.2, result{
		What: "first call with a token after a start, 10,000 agents, p50, against with 10", Ratio: float64(a) / float64(b),
		Parley: a.Round(time.Microsecond).String(), Baseline: b.Round(time.Microsecond).String(),
	})}, nil
}

// addAgentsWithTokens adds agents with a token each, and returns the token of the last agent.
func addAgentsWithTokens(ctx context.Context, dir string, agents int) (secret string, err error) {
	db, err := home.Open(ctx, dir)
	if err != nil {
		return "", err
	}
	h, err := hub.New(ctx, db, hub.Config{})
	if err != nil {
		return "", err
	}
	err = inParallel(agents, func(n int) error {
		if _, err := h.AddAgent(ctx, ownerWithAllScopes, parley.NewAgent{ID: agentName(n)}); err != nil {
			return err
		}
		made, err := h.NewToken(ctx, ownerWithAllScopes, parley.NewToken{Agent: agentName(n)})
		if n == agents-1 {
			secret = made.Secret
		}
		return err
	})
	return secret, errors.Join(err, db.Close())
}

func firstCall(ctx context.Context, dir, secret string) (took time.Duration, err error) {
	db, err := home.Open(ctx, dir)
	if err != nil {
		return 0, err
	}
	h, err := hub.New(ctx, db, hub.Config{})
	if err != nil {
		return 0, err
	}
	url, stop, err := serveHTTP(h)
	if err != nil {
		return 0, err
	}
	c, err := client.New(client.Options{URL: url, Token: secret})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = c.Whoami(ctx)
	took = time.Since(began)
	return took, errors.Join(err, stop(), db.Close())
}
