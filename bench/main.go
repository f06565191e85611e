// Command bench measures the hot paths against bare baselines in the same run and prints the
// ratios as a Markdown table. Figures of one run compare with each other; those of two runs or two
// machines do not.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// result is one line of the table: how Parley compares with a baseline.
type result struct {
	what, parley, baseline string
	ratio                  float64
	goal                   string
	met                    bool
}

func main() {
	rounds := flag.Int("rounds", 5, "rounds of each measurement; the median counts")
	length := flag.Duration("length", 2*time.Second, "length of a round")
	history := flag.Int("history", 1_000_000, "messages in the large history")
	only := flag.String("only", "", "measure only what has this in its name: posts, history, takes, postgres …")
	flag.Parse()
	if os.Getenv(servesEvents) != "" {
		if err := serveEventHub(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(context.Background(), *only, *rounds, *length, *history); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, rounds int, length time.Duration, history int) error {
	server := &lazyServer{}
	defer server.stop()
	var results []result
	for _, m := range []struct {
		name    string
		measure func() ([]result, error)
	}{
		{"posts", func() ([]result, error) { return measurePosts(ctx, rounds, length) }},
		{"postgres posts", func() ([]result, error) { return measurePostgres(ctx, rounds, length, server) }},
		{"jetstream posts", func() ([]result, error) { return measureJetStream(ctx, rounds, length) }},
		{"history", func() ([]result, error) { return measureHistory(ctx, rounds, length, history) }},
		{"takes", func() ([]result, error) { return measureTakes(ctx, rounds, length, onSQLite()) }},
		{"postgres takes", func() ([]result, error) { return measureTakes(ctx, rounds, length, onPostgres(server)) }},
		{"indexed posts", func() ([]result, error) { return measureIndexedPosts(ctx, rounds, length) }},
		{"search", func() ([]result, error) { return measureSearch(ctx, length, history, sqliteLibrary()) }},
		{"events", func() ([]result, error) { return measureEvents(ctx, rounds, length) }},
		{"runs", func() ([]result, error) { return measureRuns(ctx, rounds, length) }},
		{"contacts", func() ([]result, error) { return measureContacts(ctx, rounds, length) }},
		{"postgres search", func() ([]result, error) { return measureSearch(ctx, length, history, postgresLibrary(server)) }},
		{"http posts", func() ([]result, error) { return measureHTTP(ctx, rounds, length) }},
		{"first call", func() ([]result, error) { return measureFirstCall(ctx) }},
		{"bus", func() ([]result, error) { return measureBus(ctx, rounds, length) }},
		{"bridges", func() ([]result, error) { return measureBridges(ctx, rounds, length) }},
		{"program", func() ([]result, error) { return measureProgram(ctx, history) }},
	} {
		if !strings.Contains(m.name, only) {
			continue
		}
		more, err := m.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		results = append(results, more...)
	}
	fmt.Println("| What | Parley | Baseline | Ratio | Goal | Met |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range results {
		met := "yes"
		if !r.met {
			met = "**no**"
		}
		fmt.Printf("| %s | %s | %s | %.2f × | %s | %s |\n", r.what, r.parley, r.baseline, r.ratio, r.goal, met)
	}
	return nil
}

// atLeast and atMost make a line whose ratio has a lower or upper bound.
func atLeast(goal float64, r result) result {
	r.goal, r.met = fmt.Sprintf("≥ %.2g ×", goal), r.ratio >= goal
	return r
}

func atMost(goal float64, r result) result {
	r.goal, r.met = fmt.Sprintf("≤ %.2g ×", goal), r.ratio <= goal
	return r
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
