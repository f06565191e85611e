package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const searchGoal = 50 * time.Millisecond

// searches are the queries for the large history. The most common word is in nearly every message.
var searches = []struct{ what, agent, query string }{
	{"a rare word", parley.Owner, "needle"},
	{"a common word", parley.Owner, word(0)},
	{"two common words", parley.Owner, word(0) + " " + word(5)},
	{"a phrase of common words", parley.Owner, fmt.Sprintf("%q", word(0)+" "+word(1))},
	{"the beginning of a word", parley.Owner, word(0)[:3] + "*"},
	{"a common word of one sender, long ago", parley.Owner, word(0) + " from:" + agentID(7) + " before:2023-11-17"},
	{"unanswered messages", parley.Owner, "is:unanswered"},
	{"a common word, by a participant of every conversation", agentID(0), word(0)},
	{"a common word, by a participant of one conversation", agentID(1), word(0)},
}

// measureSearch times searches in a large history.
func measureSearch(ctx context.Context, length time.Duration, l *library) ([]result, error) {
	var results []result
	for _, s := range searches {
		p50, p99, err := searchTimes(ctx, l.hub, s.agent, s.query, length)
		if err != nil {
			return nil, err
		}
		results = append(results, atMost(1, result{
			What: fmt.Sprintf("%s: %s, p99, against %s", l.name, s.what, searchGoal), Ratio: float64(p99) / float64(searchGoal),
			Parley: fmt.Sprintf("%s (p50 %s)", p99.Round(10*time.Microsecond), p50.Round(10*time.Microsecond)), Baseline: searchGoal.String(),
		}))
	}
	return results, nil
}

// measureNewSearch makes a library and times searches in it.
func measureNewSearch(ctx context.Context, length time.Duration, s libraryDatabase, size int) (results []result, err error) {
	l, err := newLibrary(ctx, s, size, conversationsFor(size))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	return measureSearch(ctx, length, l)
}

// measureIndexedPosts compares posting to a running hub with posting to a hub that was not started, whose indexer is idle. Each
// round uses new hubs, because an indexer that catches up would slow down the next measurement.
func measureIndexedPosts(ctx context.Context, rounds int, length time.Duration) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var perSecond [2][]float64
	for round := range rounds {
		for i, start := range []bool{true, false} {
			post, done, err := newHubPoster(ctx, filepath.Join(dir, fmt.Sprintf("posts-%d-%t", round, start)), start)
			if err != nil {
				return nil, err
			}
			n, err := throughput(length, posters, post)
			if err := errors.Join(err, done()); err != nil {
				return nil, err
			}
			perSecond[i] = append(perSecond[i], n)
		}
	}
	with, without := median(perSecond[0]), median(perSecond[1])
	return []result{atLeast(0.8, result{
		What: fmt.Sprintf("durable posts, %d posters, while they are indexed, against without", posters), Ratio: with / without,
		Parley: fmt.Sprintf("%.0f/s", with), Baseline: fmt.Sprintf("%.0f/s", without),
	})}, nil
}

func searchTimes(ctx context.Context, h *hub.Hub, agent, query string, length time.Duration) (p50, p99 time.Duration, err error) {
	var times []time.Duration
	for end := time.Now().Add(length); time.Now().Before(end) || len(times) < 20; {
		began := time.Now()
		found, err := h.Search(ctx, hub.Caller{Agent: agent}, parley.SearchRequest{Query: query})
		if err == nil && len(found.Hits) == 0 {
			err = fmt.Errorf("%s finds nothing", query)
		}
		if err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times[len(times)/2], times[len(times)*99/100], nil
}
