// Command bench measures the hot paths against bare baselines in the same run. A run of everything writes
// docs/benchmarks.md and the results it is made from, docs/benchmarks.json. A run of a part prints its tables and
// writes nothing: figures of one run compare with each other; those of two runs or two machines do not.
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

// part is a measurement: the section of the page it belongs to, the name by which it can be measured alone, and how.
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
	if os.Getenv(servesEvents) != "" {
		return serveEventHub(ctx)
	}
	if render {
		return renderAgain(o.out)
	}
	server, large := &lazyServer{}, &sharedLibrary{size: o.history}
	facts := about(ctx, server, o)
	err := run(o, facts, parts(ctx, o, server, large))
	server.stop()
	return errors.Join(err, large.remove())
}

// run measures the parts and prints them. It writes the page only when nothing was left out and nothing failed.
func run(o options, facts func() (report, error), list []part) error {
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
	r, err := facts()
	if err != nil {
		return err
	}
	r.Took, r.Sections = time.Since(began).Round(time.Second).String(), sections
	return r.write(o.out)
}

// parts are all measurements, in the order in which they are made.
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
		{search, "postgres search", func() ([]result, error) { return measureNewSearch(ctx, length, postgresShelf(server), o.history) }},
		{theProgram, "first call", func() ([]result, error) { return measureFirstCall(ctx) }},
		{theProgram, "program", func() ([]result, error) { return measureProgram(ctx, large) }},
	}
}

// atLeast and atMost make a line whose ratio has a lower or upper bound.
func atLeast(goal float64, r result) result {
	r.Goal, r.Met = fmt.Sprintf("≥ %.2g ×", goal), r.Ratio >= goal
	return r
}

func atMost(goal float64, r result) result {
	r.Goal, r.Met = fmt.Sprintf("≤ %.2g ×", goal), r.Ratio <= goal
	return r
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
