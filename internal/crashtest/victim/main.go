// Command victim uses a hub of its own and prints what was acknowledged, until it is killed.
//
//	victim post HOME WORKERS COUNT   post from WORKERS goroutines, COUNT messages each (0: for ever)
//	victim stubborn HOME COUNT       post COUNT messages whatever fails, print yes or no, and crash
//	victim take HOME POSTERS         post from POSTERS goroutines and take as each agent, for ever
//	victim order HOME                post and take in order, with one taker for each agent, for ever
//	victim verify HOME               compare the home with the output of victims on stdin
//	victim drain HOME                take and acknowledge all deliveries, and compare them with the output of victims on stdin
//	victim absent HOME               check that no message has one of the texts on stdin
//	victim run HOME AGENTS FROM TO   run AGENTS agents and post messages FROM to TO for them, until all runs have ended
//	victim judge HOME COUNT          check that agents did each of COUNT messages once, or failed
//	victim bridge BASE FROM TO       bridge two trees under BASE and post messages FROM to TO for them, until all files are carried
//	victim bridged BASE COUNT        check that COUNT files each way through each tree were carried once
//	victim child, victim linger      the process of a run, and the process that a child leaves behind
//	victim small DIR PROGRAM ARGS…   run a program in a small disk mounted on DIR
//	victim full DIR                  fill a small disk mounted on DIR, free space, and compare the home with the acknowledgements
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(1)
	}
}

const usage = "usage: victim post HOME WORKERS COUNT | stubborn HOME COUNT | take HOME POSTERS | order HOME | verify HOME | drain HOME | " +
	"absent HOME | full DIR | small DIR PROGRAM ARGS… | run HOME AGENTS FROM TO | judge HOME COUNT | bridge BASE FROM TO | " +
	"bridged BASE COUNT | child | linger"

func run(ctx context.Context, args []string) error {
	if len(args) > 2 && args[0] == "small" {
		return small(args[1], args[2:])
	}
	numbers := make([]int, 3) // the arguments after the home
	for i := range numbers {
		if len(args) > i+2 {
			var err error
			if numbers[i], err = strconv.Atoi(args[i+2]); err != nil {
				return err
			}
		}
	}
	switch {
	case len(args) == 4 && args[0] == "post":
		return post(ctx, args[1], numbers[0], numbers[1])
	case len(args) == 3 && args[0] == "stubborn":
		return postStubbornly(ctx, args[1], numbers[0])
	case len(args) == 3 && args[0] == "take":
		return take(ctx, args[1], numbers[0])
	case len(args) == 2 && args[0] == "order":
		return order(ctx, args[1])
	case len(args) == 2 && args[0] == "drain":
		return drain(ctx, args[1], os.Stdin)
	case len(args) == 2 && args[0] == "verify":
		return verify(ctx, args[1], os.Stdin)
	case len(args) == 2 && args[0] == "absent":
		return checkAbsent(ctx, args[1], os.Stdin)
	case len(args) == 2 && args[0] == "full":
		return fillDisk(ctx, args[1])
	case len(args) == 5 && args[0] == "run":
		return runAgents(ctx, args[1], numbers[0], numbers[1], numbers[2])
	case len(args) == 3 && args[0] == "judge":
		return judge(ctx, args[1], numbers[0])
	case len(args) == 4 && args[0] == "bridge":
		return runBridges(ctx, args[1], numbers[0], numbers[1])
	case len(args) == 3 && args[0] == "bridged":
		return checkBridges(ctx, args[1], numbers[0])
	case len(args) == 1 && args[0] == "child":
		return child()
	case len(args) == 1 && args[0] == "linger":
		return linger()
	default:
		return errors.New(usage)
	}
}

const agents = 8

func agentID(n int) string { return fmt.Sprintf("agent-%d", n%agents) }

// open opens a hub, and adds a few agents and a channel unless they already exist.
func open(ctx context.Context, home string) (*hub.Hub, *sqlite.DB, error) {
	db, err := sqlite.Open(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	// Each two agents write to each other all the time, so the limit on exchanges must be high.
	h, err := hub.New(ctx, db, hub.Config{Rate: hub.Rate{PerSecond: -1}, Loops: hub.Loops{Exchanges: 1 << 30}})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	owner := hub.Caller{Agent: parley.Owner}
	for n := range agents {
		if _, err := h.AddAgent(ctx, owner, parley.NewAgent{
			ID: agentID(n), Profile: parley.Profile{InboxOverflow: parley.OverflowUnbounded, Attempts: 100},
		}); err != nil && !conflict(err) {
			return nil, nil, errors.Join(err, db.Close())
		}
	}
	_, err = h.CreateConversation(ctx, owner, parley.NewConversation{Name: "general"})
	if err != nil && !conflict(err) {
		return nil, nil, errors.Join(err, db.Close())
	}
	return h, db, nil
}

func conflict(err error) bool { return parley.AsError(err).Reason == parley.Conflict }

func post(ctx context.Context, home string, workers, count int) error {
	h, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		errs  []error
	)
	for w := range workers {
		group.Go(func() {
			for n := 0; count == 0 || n < count; n++ {
				if err := postOne(ctx, h, w, n); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, err)
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(append(errs, db.Close())...)
}

// postStubbornly posts and prints the outcome of each message: stored, refused or unknown. It ends without closing anything, like
// a crash.
func postStubbornly(ctx context.Context, home string, count int) error {
	h, _, err := open(ctx, home)
	if err != nil {
		return err
	}
	for n := range count {
		d := draft(0, n)
		receipt, err := h.Post(ctx, hub.Caller{Agent: agentID(0)}, d)
		switch {
		case err == nil:
			fmt.Println("yes", receipt.Message.ID, d.Content.Text)
		case strings.Contains(err.Error(), "not known whether"):
			fmt.Println("perhaps", d.Content.Text)
		default:
			fmt.Println("no", d.Content.Text)
		}
	}
	os.Exit(0)
	return nil
}

// postOne posts to a channel, a DM, a group or an ephemeral conversation, in turn. Every eighth message has an artifact. It prints
// the acknowledgement in one write.
func postOne(ctx context.Context, h *hub.Hub, worker, n int) error {
	me, d := hub.Caller{Agent: agentID(worker)}, draft(worker, n)
	if n%8 == 7 {
		a, err := h.PutArtifact(ctx, me, strings.NewReader(fmt.Sprintf("body %d", n))) // some workers store the same body
		if err != nil {
			return err
		}
		d.Content.Artifacts = []parley.Artifact{a}
	}
	receipt, err := h.Post(ctx, me, d)
	if err != nil {
		return err
	}
	return acknowledge(receipt.Message)
}

func acknowledge(m parley.Message) error {
	_, err := os.Stdout.WriteString(m.ID + " " + m.Content.Text + "\n")
	return err
}

func draft(worker, n int) parley.Draft {
	d := parley.Draft{Content: parley.Content{Text: fmt.Sprintf("token-%d-%d-%d-end", os.Getpid(), worker, n)}}
	switch other := agentID(worker + 1 + n%(agents-1)); n % 8 {
	case 0:
		d.Conversation, d.To = "#general", other
	case 1:
		d.Conversation, d.To = "#general", parley.All
	case 2:
		d.Direct = []string{other, agentID(worker + 1), agentID(worker + 2)}
	case 3:
		d.Direct, d.Ephemeral = []string{other}, true
	default:
		d.Direct = []string{other}
	}
	return d
}
