package cli

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/dialect"
)

func (a *app) blackboardWrite() *cobra.Command {
	file := "-"
	cmd := &cobra.Command{
		Use:   "write PATH",
		Short: "Post a document as a message",
		Long: `Post a document from standard input, or from a file, as a message. PATH is the path of the document on a blackboard:
AGENT/inbox/ID.json. It must match the recipient and the id of the document. Writing a document again changes nothing.`,
		Example: `  parley blackboard write worker-1/inbox/5b0c8f6e-58cb-4f0e-9ad5-3a3c8d0e2b11.json < request.json
  parley blackboard write worker-1/inbox/5b0c8f6e-58cb-4f0e-9ad5-3a3c8d0e2b11.json --file request.json`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().StringVar(&file, "file", file, "read the document from this `file`, or - for standard input")
	completeFlag(cmd, "file", completeFiles)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parseBoardPath(args[0])
		if err == nil && at.id == "" {
			err = parley.Errorf(parley.BadInput, "%s does not name a document", args[0]).Suggest(boardPathHint)
		}
		if err != nil {
			return err
		}
		document, err := a.readDocument(cmd.Context(), file)
		if err != nil {
			return err
		}
		return a.writeToBoard(cmd.Context(), at, document)
	}
	return cmd
}

func (a *app) readDocument(ctx context.Context, file string) (document []byte, err error) {
	err = a.readFrom(ctx, file, "reading", func(r io.Reader) (err error) {
		document, err = io.ReadAll(io.LimitReader(r, maxInput+1))
		return err
	})
	if err == nil && len(bytes.TrimSpace(document)) == 0 {
		err = parley.Errorf(parley.BadInput, "the document is empty").Suggest("give the document with --file, or on standard input")
	}
	if err == nil && len(document) > maxInput {
		err = parley.Errorf(parley.BadInput, "the document has more than %d KiB", maxInput>>10).Suggest("send large contents as a file: parley send --file")
	}
	return document, err
}

func (a *app) writeToBoard(ctx context.Context, at boardPath, document []byte) error {
	arrival, err := dialect.Decode(dialect.ClawOS, document)
	if err != nil {
		return err
	}
	a.printNotices(arrival.Warnings)
	if err := checkDocumentPath(at, arrival); err != nil {
		return err
	}
	c, err := a.newClientAs(ctx, arrival.From)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := checkTier(ctx, c, arrival); err != nil {
		return err
	}
	draft := arrival.Draft
	draft.Direct, draft.IdempotencyKey = []string{arrival.To}, string(dialect.ClawOS)+":"+arrival.Name
	if arrival.ReplyTo != "" {
		if draft.InReplyTo, err = findByBoardID(ctx, c, arrival.ReplyTo, draft.TraceID); err != nil {
			return err
		}
		if draft.InReplyTo == "" {
			a.printStderr("note: the hub has no message %s, to which the document replies", arrival.ReplyTo)
		}
	}
	receipt, err := a.postDraft(ctx, c, draft)
	if err != nil {
		return err
	}
	return a.printAccepted(ctx, c, receipt)
}

// checkDocumentPath refuses a document that does not match its path, or that has expired.
func checkDocumentPath(at boardPath, arrival parley.Arrival) error {
	to, _ := dialect.AgentID(dialect.ClawOS, at.agent)
	switch {
	case arrival.To == parley.All:
		return parley.Errorf(parley.BadInput, "the document is addressed to all agents, but the path names one inbox").
			Suggest("write one document for each agent, or post it: parley send-message --to all")
	case arrival.To != to:
		return parley.Errorf(parley.BadInput, "the document is addressed to %s, but the path names %s", arrival.To, at.agent).Suggest("use the same agent in both")
	case arrival.Name != at.id:
		return parley.Errorf(parley.BadInput, "the document's id is %s, but the path names %s", arrival.Name, at.id).Suggest("use the same id in both")
	case !arrival.ExpiresAt.IsZero() && arrival.ExpiresAt.Before(time.Now()):
		return parley.Errorf(parley.BadInput, "the document expired at %s", arrival.ExpiresAt.Format(time.RFC3339)).
			Suggest("write it with a newer timestamp, or a longer ttl")
	default:
		return nil
	}
}

// checkTier refuses a document that claims another tier than its sender has.
func checkTier(ctx context.Context, c *client.Client, arrival parley.Arrival) error {
	if arrival.FromTier == "" {
		return nil
	}
	sender, err := c.Agent(ctx, arrival.From)
	if err != nil || sender.Tier == arrival.FromTier || sender.Tier == "" {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s has the tier %s, but the document says %s", sender.ID, sender.Tier, arrival.FromTier).
		Suggest("correct from.tier")
}
