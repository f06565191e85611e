// Command bench measures the hot paths against bare baselines in the same run. A run of all parts writes docs/benchmarks.md and
// docs/benchmarks.json, the results from which the page is rendered. A run of some parts prints their tables and writes nothing:
// only the figures of one run can be compared, not those of two runs or two machines.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// options select the measurements and their length.
type options struct {
	only    string
	rounds  int
	length  time.Duration
	history int
	out     string
}

// part is a measurement: the section of the page to which it belongs, the name that selects it, and the function that measures.
type part struct {
	section, name string
	measure       func() ([]result, error)
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "measure only the parts with this in their name (posts, history, takes, postgres …), print them and write nothing")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each measurement; the median counts")
	flag.DurationVar(&o.length, "length", 2*time.Second, "length of a round")
	flag.IntVar(&o.history, "history", 200_000, "messages in the large history")
	flag.StringVar(&o.out, "out", "docs", "directory that a run of everything writes benchmarks.md and benchmarks.json to")
	render := flag.Bool("render", false, "measure nothing: write benchmarks.md anew from benchmarks.json")
	flag.Parse()
	if err := start(context.Background(), o, *render); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, o options, render bool) error {
	if os.Getenv(eventHubVariable) != "" {
		return serveEventHub(ctx)
	}
	if render {
		return renderAgain(o.out)
	}
	server, large := &lazyServer{}, &sharedLibrary{size: o.history}
	finishReport := beginReport(ctx, server, o)
	err := run(o, finishReport, parts(ctx, o, server, large))
	server.stop()
	return errors.Join(err, large.remove())
}

// run measures the selected parts and prints their tables. It writes the page only if it has measured all parts without an error.
func run(o options, finishReport func() (report, error), list []part) error {
	began, measured := time.Now(), map[string][]result{}
	for _, p := range list {
		if !strings.Contains(p.name, o.only) {
			continue
		}
		at := time.Now()
		results, err := p.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(os.Stderr, "measured %s in %s\n", p.name, time.Since(at).Round(time.Second))
		measured[p.section] = append(measured[p.section], results...)
	}
	if len(measured) == 0 {
		return fmt.Errorf("nothing has %q in its name", o.only)
	}
	var sections []section
	for _, p := range list {
		if results, ok := measured[p.section]; ok {
			sections = append(sections, section{p.section, results})
			delete(measured, p.section)
		}
	}
	for _, s := range sections {
		fmt.Printf("## %s\n\n%s\n", s.Name, s.Table())
	}
	if o.only != "" {
		return nil
	}
	r, err := finishReport()
	if err != nil {
		return err
	}
	r.Took, r.Sections = time.Since(began).Round(time.Second).String(), sections
	return r.write(o.out)
}

// parts returns all measurements, in the order in which run makes them.
func parts(ctx context.Context, o options, server *lazyServer, large *sharedLibrary) []part {
	rounds, length := o.rounds, o.length
	return []part{
		{durablePosts, "posts", func() ([]result, error) { return measurePosts(ctx, rounds, length) }},
		{durablePosts, "postgres posts", func() ([]result, error) { return measurePostgres(ctx, rounds, length, server) }},
		{durablePosts, "jetstream posts", func() ([]result, error) { return measureJetStream(ctx, rounds, length) }},
		{durablePosts, "indexed posts", func() ([]result, error) { return measureIndexedPosts(ctx, rounds, length) }},
		{durablePosts, "http posts", func() ([]result, error) { return measureHTTP(ctx, rounds, length) }},
		{inboxes, "takes", func() ([]result, error) { return measureTakes(ctx, rounds, length, onSQLite()) }},
		{inboxes, "postgres takes", func() ([]result, error) { return measureTakes(ctx, rounds, length, onPostgres(server)) }},
		{runsAndContacts, "runs", func() ([]result, error) { return measureRuns(ctx, rounds, length) }},
		{runsAndContacts, "contacts", func() ([]result, error) { return measureContacts(ctx, rounds, length) }},
		{eventStreams, "events", func() ([]result, error) { return measureEvents(ctx, rounds, length) }},
		{overMCP, "mcp", func() ([]result, error) { return measureMCP(ctx, rounds, length) }},
		{bridgedFiles, "bridges", func() ([]result, error) { return measureBridges(ctx, rounds, length) }},
		{bridgedFiles, "bus", func() ([]result, error) { return measureBus(ctx, rounds, length) }},
		{largeHistory, "history", func() ([]result, error) {
			l, err := large.open(ctx)
			if err != nil {
				return nil, err
			}
			return measureHistory(ctx, rounds, length, l)
		}},
		{search, "search", func() ([]result, error) {
			l, err := large.open(ctx)
			if err != nil {
				return nil, err
			}
			return measureSearch(ctx, length, l)
		}},
		{search, "postgres search", func() ([]result, error) { return measureNewSearch(ctx, length, postgresLibrary(server), o.history) }},
		{theProgram, "first call", func() ([]result, error) { return measureFirstCall(ctx) }},
		{theProgram, "program", func() ([]result, error) { return measureProgram(ctx, large) }},
	}
}

// atLeast sets the goal of a result: the smallest ratio that meets it.
func atLeast(goal float64, r result) result {
	r.Goal, r.Met = fmt.Sprintf("≥ %.2g ×", goal), r.Ratio >= goal
	return r
}

// atMost sets the goal of a result: the largest ratio that meets it.
// atMost sets the goal of a result: the largest ratio that meets it.
func atMost(goal float64, r result) result {
	r.Goal, r.Met = fmt.Sprintf("≤ %.2g ×", goal), r.Ratio <= goal
	return r
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
