package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/dialect"
)

func (a *app) blackboardRead() *cobra.Command {
	var ack bool
	cmd := &cobra.Command{
		Use:   "read PATH",
		Short: "Print the documents of an inbox, or one document",
		Long: `Print the documents of an inbox (AGENT/inbox/) as a JSON array, oldest first, or one document (AGENT/inbox/ID.json).
The documents stay in the inbox. With --ack, the hub settles the printed documents, as if a script had moved them to
processed/.`,
		Example: `  parley blackboard read worker-1/inbox/
  parley blackboard read worker-1/inbox/ --ack
  parley blackboard read worker-1/inbox/5b0c8f6e-58cb-4f0e-9ad5-3a3c8d0e2b11.json`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().BoolVar(&ack, "ack", false, "acknowledge the printed documents")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parseBoardPath(args[0])
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		c, err := a.newClientAs(ctx, at.agent)
		if err != nil {
			return err
		}
		defer c.Close()
		return a.readBoard(ctx, c, at, ack)
	}
	return cmd
}

// maxDocuments is how many documents one call reads.
const maxDocuments = 500 // documents in one call

func (a *app) readBoard(ctx context.Context, c *client.Client, at boardPath, ack bool) error {
	peeked, err := c.Peek(ctx, maxDocuments)
	if err != nil {
		return err
	}
	found := inboxItems("", peeked.Deliveries, peeked.Messages)
	if at.id != "" {
		if found, err = a.findDocument(ctx, c, at, found); err != nil {
			return err
		}
	}
	documents, err := documentsOf(ctx, c, found)
	if err != nil {
		return err
	}
	if err := a.printDocuments(documents, at.id != ""); err != nil {
		return err
	}
	if more := peeked.Waking + peeked.Quiet + peeked.Work - len(peeked.Deliveries); more > 0 && at.id == "" {
		a.printStderr("note: the inbox has %d more documents; to read them, first acknowledge the printed documents with --ack", more)
	}
	if !ack || len(found) == 0 {
		return nil
	}
	ids := make([]string, len(found))
	for i, item := range found {
		ids[i] = item.Message.ID
	}
	_, err = c.Ack(ctx, "", ids...)
	return err
}

// findDocument finds the document with an id in an inbox, page by page, beginning with the given page. E003 (NotFound)
// if the inbox does not have it.
func (a *app) findDocument(ctx context.Context, c *client.Client, at boardPath, page []inboxItem) ([]inboxItem, error) {
	for after := int64(-1); len(page) > 0 && page[0].Message.Seq > after; { // a hub that cannot continue after a message begins again with the first
		for _, i := range page {
			if boardID(i.Message) == at.id || i.Message.ID == at.id {
				return []inboxItem{i}, nil
			}
		}
		after = page[len(page)-1].Message.Seq
		more, err := c.PeekAfter(ctx, after, maxDocuments)
		if err != nil {
			return nil, err
		}
		page = inboxItems("", more.Deliveries, more.Messages)
	}
	return nil, parley.Errorf(parley.BadInput, "%s has no document %s in its inbox", at.agent, at.id).Because(parley.NotFound).
		Suggest("list the inbox: %s", a.commandLine("blackboard", "read", at.agent+"/inbox/"))
}

func (a *app) printDocuments(documents []json.RawMessage, single bool) error {
	if a.output == formatTable {
		a.output = formatJSON // documents are JSON
	}
	if a.output == formatJSON && !single {
		return a.printJSON(documents)
	}
	for _, document := range documents {
		if err := a.printJSON(document); err != nil {
			return err
		}
	}
	return nil
}

// documentsOf encodes the messages of an inbox as documents.
func documentsOf(ctx context.Context, c *client.Client, list []inboxItem) ([]json.RawMessage, error) {
	agents, err := c.Agents(ctx)
	if err != nil {
		return nil, err
	}
	tiers := map[string]parley.Tier{}
	for _, agent := range agents {
		tiers[agent.ID] = agent.Tier
	}
	documents := make([]json.RawMessage, 0, len(list))
	for _, item := range list {
		out, err := departureOf(ctx, c, item)
		if err != nil {
			return nil, err
		}
		out.FromTier, out.ToTier = tiers[item.Message.From], tiers[item.Delivery.Recipient]
		document, err := dialect.Encode(dialect.ClawOS, out)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// departureOf returns a message of an inbox as a bridge would export it to a tree.
func departureOf(ctx context.Context, c *client.Client, item inboxItem) (parley.Departure, error) {
	written := boardMessage(item.Message)
	out := parley.Departure{
		Name: written.ID, Message: written, Recipient: item.Delivery.Recipient, Sequence: item.Delivery.PairSeq,
		Wakes: item.Delivery.Waking, Final: item.Message.Type == parley.TypeError,
	}
	answers, err := answeredMessageID(ctx, c, item)
	if err == nil && answers != "" {
		var answered parley.Shown
		if answered, err = c.Message(ctx, answers); err == nil {
			out.ReplyTo = boardID(answered.Message)
		}
	}
	if err != nil && parley.AsError(err).Reason != parley.NotFound {
		return out, err
	}
	if item.Message.Task != "" {
		task, err := c.Task(ctx, item.Message.Task)
		switch {
		case err == nil:
			out.Task = &task.Task
		case parley.AsError(err).Reason != parley.NotFound:
			return out, err
		}
	}
	return out, nil
}

// answeredMessageID returns the id of the message that a message answers. For the result of a task, that is the request
// that created the task.
func answeredMessageID(ctx context.Context, c *client.Client, item inboxItem) (string, error) {
	if item.Message.InReplyTo != "" || item.Delivery.Purpose != parley.PurposeCallback {
		return item.Message.InReplyTo, nil
	}
	for from := (client.PageRequest{}); ; {
		page, err := c.Tasks(ctx, client.TasksOptions{Requester: item.Delivery.Recipient}, from)
		if err != nil {
			return "", err
		}
		for _, task := range page.Items {
			if task.Callback == item.Message.ID {
				return task.Message, nil
			}
		}
		if page.Next == "" {
			return "", nil
		}
		from.Cursor = page.Next
	}
}
