package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/plain"
)

func (a *app) watchCommand() *cobra.Command {
	var o client.EventsOptions
	var limit int
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Show events as they happen",
		Long: `Show events as they happen, until you interrupt the command. After a restart of the hub, the command continues with
the next event. As JSON, every event is one line. A table leaves out events that say little to a person, unless --kinds names them.`,
		Example: `  parley watch
  parley watch --conv project-x
  parley watch --kinds message,delivery.seen -o jsonl
  parley watch --after 1200 --limit 10`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&o.Conversation, "conv", "", "show only events in this `conversation`")
	cmd.Flags().StringSliceVar(&o.Kinds, "kinds", nil, "show only events of these `kinds`, or whose kind begins with one of them, such as message or delivery.seen")
	cmd.Flags().Int64Var(&o.After, "after", 0, "also show events since the event with this `number`")
	cmd.Flags().Var(countFlag{&limit}, "limit", "end after this `number` of events")
	completeFlag(cmd, "conv", a.completeConvs)
	completeFlag(cmd, "kinds", completeWords(eventFamilies()...))
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
		if err := checkWatch(cmd, o); err != nil {
			return err
		}
		w := watcher{app: a, client: c, titles: map[string]string{}}
		o.Bodies, o.Past = a.output == formatTable, cmd.Flags().Changed("after")
		if o.Conversation != "" {
			view, err := c.Conversation(ctx, o.Conversation)
			if err != nil {
				return err
			}
			o.Conversation = view.ID
		} else if _, err := c.Whoami(ctx); err != nil { // the watch does not wait for a hub that is unavailable at the start
			return err
		}
		defer a.openSession(ctx, c, parley.SessionWatch)()
		return w.watch(ctx, o, limit)
	})
	return cmd
}

// checkWatch refuses options for which no event would ever come.
func checkWatch(cmd *cobra.Command, o client.EventsOptions) error {
	if o.After < 0 {
		return usagef(cmd, "--after takes the number of an event, 0 or more")
	}
	for _, kind := range o.Kinds {
		known := func(k parley.EventKind) bool { return k.Within(parley.EventKind(kind)) }
		if !slices.ContainsFunc(parley.EventKinds(), known) {
			return usagef(cmd, "there is no event kind %q; kinds begin with %s", kind, strings.Join(eventFamilies(), ", "))
		}
	}
	return nil
}

// eventFamilies returns the first parts of the kinds of events.
func eventFamilies() (families []string) {
	for _, kind := range parley.EventKinds() {
		family, _, _ := strings.Cut(string(kind), ".")
		if !slices.Contains(families, family) {
			families = append(families, family)
		}
	}
	return families
}

// watcher prints events.
type watcher struct {
	*app
	client *client.Client
	titles map[string]string // titles of conversations by id
	lost   bool
}

func (w *watcher) watch(ctx context.Context, o client.EventsOptions, limit int) (last error) {
	shown := 0
	for e, err := range w.client.Events(ctx, o) {
		if last = err; err != nil {
			w.disconnected(err)
			continue
		}
		if w.connected(e) || w.output == formatTable && len(o.Kinds) == 0 && isMinor(e.Kind) {
			continue
		}
		if err := w.show(ctx, e); err != nil {
			return err
		}
		if shown++; shown == limit {
			return nil
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return last
}

// disconnected prints once that the connection to the hub was lost.
func (w *watcher) disconnected(err error) {
	if !w.lost {
		w.printStderr("note: %s; retrying", parley.AsError(err).Message)
	}
	w.lost = true
}

// connected handles the events about the stream itself, and reports whether an event is one of them.
func (w *watcher) connected(e parley.Event) bool {
	switch e.Kind {
	case client.EventReady:
		if w.lost {
			w.printStderr("note: connected again")
		}
		w.lost = false
		return true
	case client.EventReset:
		w.printStderr("note: the hub no longer has the events before event %d", e.Num)
		return true
	default:
		return false
	}
}

func (w *watcher) show(ctx context.Context, e parley.Event) error {
	if w.output != formatTable {
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = w.out.Write(append(plain.JSON(raw), '\n'))
		return err
	}
	line := []string{w.formatClock(e.At), string(e.Kind)}
	if e.Kind == parley.EventConversationChanged {
		delete(w.titles, e.Conversation) // the name may have changed
	}
	if e.Conversation != "" {
		line = append(line, w.title(ctx, e.Conversation))
	}
	text, known := eventInWords(func(id string) string { return w.title(ctx, id) }, e)
	if !known {
		text = w.eventText(e)
	}
	w.printWords(append(line, text)...)
	return nil
}

// formatClock formats the time of an event. On a terminal, it omits the date.
func (w *watcher) formatClock(at time.Time) string {
	if isTerminal(w.out) {
		return at.Local().Format(time.TimeOnly)
	}
	return w.formatTime(at)
}

// title returns the title of a conversation, or its id if the caller cannot read the conversation any more.
func (w *watcher) title(ctx context.Context, id string) string {
	if title, known := w.titles[id]; known {
		return title
	}
	title := id
	view, err := w.readConversation(ctx, id)
	if err == nil {
		title = conversationTitle(view)
	}
	w.titles[id] = title
	return title
}

// eventText returns what an event is about: the text of a message, the participants, or its data.
func (w *watcher) eventText(e parley.Event) string {
	if e.Body != nil {
		return e.Body.From + ": " + messageBody(*e.Body)
	}
	var about []string
	for _, part := range []string{e.Agent, e.Message, string(e.Data)} {
		if part != "" {
			about = append(about, part)
		}
	}
	if e.By != "" && e.By != e.Agent {
		about = append(about, "by "+e.By)
	}
	return strings.Join(about, " ")
}

// readConversation reads a conversation. It retries while the hub is unavailable.
func (w *watcher) readConversation(ctx context.Context, id string) (parley.ConversationView, error) {
	for {
		view, err := w.client.Conversation(ctx, id)
		if !isUnavailable(err) {
			return view, err
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return view, context.Cause(ctx)
		}
	}
}
