package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/plain"
	"github.com/parley-hub/parley/internal/quote"
)

func (a *app) inboxCommand() *cobra.Command {
	var take parley.Take
	var peek bool
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "Take the messages in your inbox, or look at them",
		Long: `Take the messages in your inbox, or look at them.

A person sees the newest messages first. The hub settles printed messages, unless you need to act: asks, tasks, approvals
and messages that require an ack stay until you do.

An agent leases the messages that it takes. Acknowledge them with "parley ack", or answer them with "parley reply".
Otherwise the hub delivers them again when the lease ends.`,
		Example: `  parley inbox --peek
  parley inbox --wait --limit 1
  parley --as arya inbox --at-most-once -o jsonl`,
		Args: afterWait(noArgs),
	}
	flags := cmd.Flags()
	flags.BoolVar(&peek, "peek", false, "look at the messages without taking them")
	flags.BoolVar(&take.AtMostOnce, "at-most-once", false, "acknowledge the messages at once: the hub never delivers them again")
	flags.Var(durationFlag{&take.Wait}, "wait", "wait this long for a message")
	flags.Lookup("wait").NoOptDefVal = client.MaxWait.String()
	flags.Var(countFlag{&take.Limit}, "limit", "take at most this `number` of messages (default 20)")
	flags.Var(durationFlag{&take.Lease}, "lease", "how long the lease lasts (default 60s)")
	cmd.MarkFlagsMutuallyExclusive("peek", "at-most-once")
	cmd.MarkFlagsMutuallyExclusive("peek", "wait")
	cmd.MarkFlagsMutuallyExclusive("peek", "lease")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
		self, err := c.Whoami(ctx)
		if err != nil {
			return err
		}
		person := self.Agent.Kind == parley.KindHuman
		switch {
		case person && (peek || take.Wait == 0 && take.Lease == 0 && !take.AtMostOnce):
			return a.readInbox(ctx, c, take.Limit, peek)
		case peek:
			return a.peekInbox(ctx, c, take.Limit)
		}
		taken, err := a.takeInbox(ctx, c, take)
		if err == nil && person {
			a.markShown(ctx, c, taken...)
		}
		return err
	})
	cmd.AddCommand(a.inboxNack(), a.inboxExtend())
	return cmd
}

// inboxItem is the JSON line of a message in an inbox.
type inboxItem struct {
	Lease    string          `json:"lease,omitempty"`
	Delivery parley.Delivery `json:"delivery"`
	Message  parley.Message  `json:"message"`
}

func inboxItems(lease string, deliveries []parley.Delivery, messages []parley.Message) []inboxItem {
	list := make([]inboxItem, 0, len(deliveries))
	for i := range min(len(deliveries), len(messages)) {
		list = append(list, inboxItem{lease, deliveries[i], messages[i]})
	}
	return list
}

// readInbox prints a person's inbox, newest message first.
func (a *app) readInbox(ctx context.Context, c *client.Client, limit int, peek bool) error {
	inbox, err := c.PeekNewest(ctx, 0, limit)
	if err != nil {
		return err
	}
	if a.output == formatJSON {
		err = a.printJSON(inbox)
	} else {
		err = a.printItems(inboxItems("", inbox.Deliveries, inbox.Messages))
	}
	if err != nil {
		return err
	}
	if inbox.More > 0 && a.output != formatJSON {
		a.printStderr("note: the inbox has %d more; see them: %s", inbox.More, a.commandLine("inbox", "--limit", strconv.Itoa(min(len(inbox.Messages)+inbox.More, maxMessagesPerCall))))
	}
	if !peek {
		a.markShown(ctx, c, inbox.Messages...)
	}
	return nil
}

func (a *app) peekInbox(ctx context.Context, c *client.Client, limit int) error {
	peeked, err := c.Peek(ctx, limit)
	if err != nil {
		return err
	}
	if a.output == formatJSON {
		return a.printJSON(peeked)
	}
	if err := a.printItems(inboxItems("", peeked.Deliveries, peeked.Messages)); err != nil {
		return err
	}
	if more := peeked.Waking + peeked.Quiet + peeked.Work - len(peeked.Deliveries); more > 0 && len(peeked.Deliveries) > 0 {
		a.printStderr("note: the inbox has %d more; see them with a higher --limit", more)
	}
	return nil
}

// takeInbox takes messages, prints them and returns them.
func (a *app) takeInbox(ctx context.Context, c *client.Client, t parley.Take) ([]parley.Message, error) {
	taken, err := a.takeWaiting(ctx, c, t)
	if t.Wait > 0 && isUnavailable(err) {
		return nil, parley.Errorf(parley.TimedOut, "the connection to the hub was lost, and no message came within %s", t.Wait).
			Suggest("check the hub: %s", a.commandLine("status")).From(err)
	}
	if err != nil {
		return nil, err
	}
	if t.Wait > 0 && len(taken.Deliveries) == 0 {
		return nil, parley.Errorf(parley.TimedOut, "no message came within %s", t.Wait).Suggest("try again, or wait longer with --wait")
	}
	if a.output == formatJSON {
		return taken.Messages, a.printJSON(struct {
			Lease        string  `json:"lease,omitempty"`
			LeaseSeconds float64 `json:"lease_seconds,omitempty"`
			parley.Taken
		}{taken.Lease, taken.For.Seconds(), taken})
	}
	if err := a.printItems(inboxItems(taken.Lease, taken.Deliveries, taken.Messages)); err != nil {
		return nil, err
	}
	if taken.Lease != "" && len(taken.Deliveries) > 0 {
		a.printStderr("leased for %s; acknowledge with: %s", taken.For, a.commandLine("ack", "--lease", taken.Lease))
	}
	return taken.Messages, nil
}

// takeWaiting takes messages as soon as there are some, with as many calls as the wait needs.
func (a *app) takeWaiting(ctx context.Context, c *client.Client, t parley.Take) (taken parley.Taken, err error) {
	if t.Wait == 0 {
		return c.Take(ctx, t)
	}
	p := a.newHubRetry(t.Wait)
	for t.Wait > 0 && err == nil && len(taken.Deliveries) == 0 {
		err = p.call(ctx, func() (err error) {
			t.Wait = max(time.Until(p.deadline), 0)
			taken, err = c.Take(ctx, t)
			return err
		})
	}
	return taken, err
}

func (a *app) printItems(list []inboxItem) error {
	if len(list) == 0 {
		a.printStderr("the inbox is empty")
	}
	for i, one := range list {
		if a.output == formatLines {
			if err := a.printJSON(one); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			_, _ = fmt.Fprintln(a.out)
		}
		a.printMessage(one.Message)
	}
	return nil
}

// printMessage prints a message for a person: a line about it, and its content.
func (a *app) printMessage(m parley.Message) {
	about := []string{m.ShortName(), "from " + m.From, a.formatTime(m.CreatedAt)}
	if m.Type != parley.TypeChat {
		about = append(about, string(m.Type))
	}
	if m.Priority.Level() != parley.DefaultPriority.Level() {
		about = append(about, m.Priority.Class())
	}
	if m.RequiresAck {
		about = append(about, "requires an ack")
	}
	a.printWords(about...)
	for line := range strings.Lines(messageBody(m)) {
		_, _ = fmt.Fprintln(a.out, "  "+strings.TrimRight(plain.Text(line), "\n"))
	}
	if approval := approvalAskedFor(m); approval != "" {
		_, _ = fmt.Fprintln(a.out, "  "+a.decideCommands(approval))
	}
}

// approvalAskedFor returns the approval that a message of the hub asks for, or nothing.
func approvalAskedFor(m parley.Message) string {
	var request struct {
		Approval string `json:"approval"`
		Name     string `json:"name"`
	}
	if m.From != parley.System || m.Source != "approval" || m.Type != parley.TypeRequest || json.Unmarshal(m.Payload, &request) != nil {
		return ""
	}
	return cmp.Or(request.Name, request.Approval)
}

// decideCommands returns the commands that decide about an approval.
func (a *app) decideCommands(approval string) string {
	return a.commandLine("approval", "approve", approval) + " (or: " + a.commandLine("approval", "deny", approval) + ")"
}

// messageText returns the text of a message. In a message of the hub, it marks the words of others.
func messageText(m parley.Message) string {
	if m.From == parley.System {
		return quote.Shown(m.Wording().Map(plain.Text))
	}
	return m.Content.Text
}

// messageBody returns the content of a message, with the names of its files.
func messageBody(m parley.Message) string {
	parts := []string{}
	payload := string(m.Payload)
	if m.Content.Text != "" && (m.From == parley.System || m.Type == parley.TypeCommand) {
		payload = "" // the payload repeats the text for programs
	}
	for _, part := range []string{messageText(m), m.Content.Code, payload} {
		if part != "" {
			parts = append(parts, strings.TrimRight(part, "\n"))
		}
	}
	for _, file := range m.Content.Artifacts {
		parts = append(parts, strings.TrimSpace("file "+file.Name+" "+file.SHA256+file.Path))
	}
	if m.RedactedAt != nil {
		parts = append(parts, "(redacted)")
	}
	return strings.Join(parts, "\n")
}
