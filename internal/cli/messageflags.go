package cli

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// messageFlags is a message as the command line describes it.
type messageFlags struct {
	draft    parley.Draft
	files    []string
	payload  string
	kind     string
	deadline string
	ttl      time.Duration
	wait     time.Duration // for the answer; 0: not at all
	timeout  time.Duration // older scripts give the duration with this flag
}

func (f *messageFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(durationFlag{&f.wait}, "wait", "wait this long for the answer and print it (without a duration: "+defaultWait.String()+")")
	flags.Lookup("wait").NoOptDefVal = defaultWait.String()
	flags.Var(durationFlag{&f.timeout}, "timeout", "with --wait: how long to wait")
	flags.Lookup("timeout").Hidden = true
	flags.StringVar(&f.kind, "type", "", "message `type`: chat, request, notification, …")
	flags.Var(priorityFlag{&f.draft.Priority}, "priority", "0 to 10, or low, normal, high, urgent")
	flags.Var(durationFlag{&f.ttl}, "ttl", "how long the hub may deliver the message, such as 10m")
	flags.StringVar(&f.deadline, "deadline", "", "`time` when an answer is due, or a duration such as 2h")
	flags.BoolVar(&f.draft.RequiresAck, "requires-ack", false, "require the recipient to acknowledge the message")
	flags.StringArrayVar(&f.files, "file", nil, "`file` to send with the message; repeat the flag for several")
	flags.StringVar(&f.payload, "payload", "", "`JSON` object to send as the payload")
	flags.StringVar(&f.draft.IdempotencyKey, "key", "", "idempotency `key`: the hub stores a repeated message with this key once")
	completeFlag(cmd, "type", completeWords("chat", "request", "response", "notification", "command", "status", "result"))
	completeFlag(cmd, "priority", completeWords("low", "normal", "high", "urgent"))
}

// textOnly reports whether the message has nothing but a text.
func (f *messageFlags) textOnly() bool { return len(f.files) == 0 && f.payload == "" }

// checkArgs requires a recipient and a text. A message with files or a payload needs no text, and a message to a
// conversation needs no recipient.
func (f *messageFlags) checkArgs(cmd *cobra.Command, args []string, toConversation bool) error {
	minimum := 2
	if toConversation {
		minimum--
	}
	if !f.textOnly() {
		minimum--
	}
	if toConversation && len(args) == 0 && minimum > 0 {
		return usagef(cmd, "TEXT is missing")
	}
	if len(args) > 2 || toConversation && len(args) == 2 {
		return afterWait(argCount(minimum, 2))(cmd, args)
	}
	return argCount(minimum, 2)(cmd, args)
}

// buildDraft completes the draft with its text, its times and its files. It first stores the files.
func (f *messageFlags) buildDraft(ctx context.Context, a *app, cmd *cobra.Command, c *client.Client, text []string) (err error) {
	if cmd.Flags().Changed("timeout") {
		if f.wait == 0 {
			return usagef(cmd, "--timeout needs --wait")
		}
		f.wait = f.timeout
	}
	if len(text) > 0 {
		if f.draft.Content.Text, err = a.readTextArg(ctx, text[0]); err != nil {
			return err
		}
	}
	f.draft.Type, f.draft.TTL = parley.Type(f.kind), int64(f.ttl.Round(time.Second).Seconds())
	if f.draft.Deadline, err = parseDeadline(cmd, f.deadline); err != nil {
		return err
	}
	if f.payload != "" {
		if f.draft.Payload = json.RawMessage(f.payload); !json.Valid(f.draft.Payload) {
			return usagef(cmd, "--payload is not valid JSON")
		}
	}
	f.draft.Content.Artifacts, err = a.storeFiles(ctx, c, f.files)
	return err
}

// storeFiles stores files as artifacts.
func (a *app) storeFiles(ctx context.Context, c *client.Client, names []string) (artifacts []parley.Artifact, err error) {
	for _, name := range names {
		if err := parley.CheckArtifactName(filepath.Base(name)); err != nil {
			return nil, err
		}
		err := a.readFrom(ctx, name, "sending "+filepath.Base(name), func(r io.Reader) error {
			stored, err := c.PutArtifact(ctx, r)
			stored.Name = filepath.Base(name)
			stored.MediaType = mime.TypeByExtension(filepath.Ext(name))
			artifacts = append(artifacts, stored)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return artifacts, nil
}
