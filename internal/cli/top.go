package cli

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/top"
)

func (a *app) topCommand() *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch agents, inboxes and runs, live",
		Long: `Watch agents, inboxes and runs, live, on a terminal. Without a terminal, or with --once, the command prints them once.

Keys: the arrows select an agent, Enter shows its details, p pauses or resumes it, s changes the sort order, q quits.`,
		Example: `  parley top
  parley top --once
  parley top -o json`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&once, "once", false, "print the view once")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
		source := &topSource{client: c, titles: newConversationTitles(c), spent: map[string]spending{}}
		if a.output == formatTable && !once && isTerminal(a.in) && isTerminal(a.out) && os.Getenv("TERM") != "dumb" {
			return top.Run(ctx, source, a.in, a.out, os.Environ())
		}
		snapshot, err := source.Load(ctx)
		if err != nil {
			return err
		}
		if a.output != formatTable {
			return a.printJSON(snapshot)
		}
		return top.Print(a.out, snapshot)
	})
	return cmd
}

// topSource reads from a hub what package top shows.
type topSource struct {
	client *client.Client

	mu         sync.Mutex // one load at a time
	titles     conversationTitles
	spent      map[string]spending
	stuck      []parley.TaskView
	stuckKnown bool // stuck is up to date
}

// spending is what an agent has used, as of a time.
type spending struct {
	hour, day parley.Spent
	at        time.Time
}

const (
	maxLiveRuns   = 200
	maxSpenders   = 100              // agents whose spending is loaded
	spendingAge   = 30 * time.Second // when spending is loaded again
	detailRuns    = 20
	maxStuckTasks = 20
)

// Load returns a snapshot of the hub.
func (s *topSource) Load(ctx context.Context) (top.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := top.Snapshot{At: time.Now(), Hub: s.client.Address(), Agents: []top.Agent{}, Titles: map[string]string{}}
	var err error
	if p.Status, err = s.client.Status(ctx); err != nil {
		return p, err
	}
	present, err := s.client.Who(ctx)
	if err != nil {
		return p, err
	}
	live, err := s.client.Runs(ctx, client.RunsOptions{Live: true}, client.PageRequest{Limit: maxLiveRuns})
	if err != nil {
		return p, err
	}
	p.Runs = live.Items
	for _, run := range p.Runs {
		p.Titles[run.Conversation] = s.titles.title(ctx, run.Conversation)
	}
	if p.Stuck, err = s.stuckTasks(ctx); err != nil {
		return p, err
	}
	for _, one := range present {
		used := s.spendingOf(ctx, one, p.At)
		p.Agents = append(p.Agents, top.Agent{Presence: one, LastHour: used.hour, LastDay: used.day})
	}
	return p, ctx.Err()
}

// stuckTasks returns the tasks that cannot continue without help.
func (s *topSource) stuckTasks(ctx context.Context) (_ []parley.TaskView, err error) {
	if !s.stuckKnown {
		s.stuck, err = tasksWhere(ctx, s.client, client.TasksOptions{Open: true}, maxStuckTasks, func(v parley.TaskView) bool { return v.Blocked() })
		s.stuckKnown = err == nil
	}
	return s.stuck, err
}

// spendingOf returns what an agent has used. It asks the hub again after a while, or after a run of the agent has
// ended.
func (s *topSource) spendingOf(ctx context.Context, p parley.Presence, now time.Time) spending {
	known, asked := s.spent[p.ID]
	if p.Runtime == "" || asked && now.Sub(known.at) < spendingAge || !asked && len(s.spent) == maxSpenders {
		return known
	}
	view, err := s.client.Agent(ctx, p.ID)
	if err != nil {
		return known // the next load asks again
	}
	known.at = now
	if view.LastHour != nil {
		known.hour = *view.LastHour
	}
	if view.LastDay != nil {
		known.day = *view.LastDay
	}
	s.spent[p.ID] = known
	return known
}

// Detail returns an agent with its newest runs.
func (s *topSource) Detail(ctx context.Context, agent string) (detail top.Detail, err error) {
	if detail.View, err = s.client.Agent(ctx, agent); err != nil {
		return detail, err
	}
	page, err := s.client.Runs(ctx, client.RunsOptions{Agent: agent}, client.PageRequest{Limit: detailRuns})
	detail.Runs = page.Items
	return detail, err
}

// Follow reports events of runs, tasks, agents and loops.
func (s *topSource) Follow(ctx context.Context, report func(parley.Event)) (last error) {
	for e, err := range s.client.Events(ctx, client.EventsOptions{Kinds: []string{"run", "task", "agent", "loop"}}) {
		if last = err; err != nil {
			continue
		}
		if strings.HasPrefix(string(e.Kind), "run.") && e.Kind != parley.EventRunProgress {
			s.markSpendingStale(e.Agent)
		}
		if e.Kind.Within("task") || e.Kind == client.EventReady {
			s.taskChanged()
		}
		report(e)
	}
	return last
}

// taskChanged makes the next load ask for stuck tasks again.
func (s *topSource) taskChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuckKnown = false
}

// markSpendingStale makes the next load ask for the spending of an agent again.
func (s *topSource) markSpendingStale(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, asked := s.spent[agent]; asked {
		known.at = time.Time{}
		s.spent[agent] = known
	}
}

// Command sends an agent a control message.
func (s *topSource) Command(ctx context.Context, agent string, c parley.Command) error {
	_, err := s.client.Command(ctx, agent, c)
	return err
}
