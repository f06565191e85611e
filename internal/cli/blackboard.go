package cli

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) blackboardCommand() *cobra.Command {
	board := a.parentCommand("blackboard", "Write and read messages as blackboard files", a.blackboardWrite(), a.blackboardRead())
	board.Long = `Write and read messages as blackboard files, as scripts for a blackboard do. The paths are those of blackboard files; the
hub stores the messages. Only an owner may write as another agent or read its inbox.

If you run the program through a link named blackboard, it acts as this command.`
	return board
}

// boardPath is a path of a blackboard: the inbox of an agent, or a document in it.
type boardPath struct {
	agent string
	id    string // empty: the whole inbox
}

const boardPathHint = "write the path as AGENT/inbox/ID.json"

// parseBoardPath parses a path of a blackboard. E003 if the path is not in an inbox.
func parseBoardPath(name string) (boardPath, error) {
	steps := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
	switch {
	case len(steps) < 2 || steps[1] != "inbox" || len(steps) > 3:
		return boardPath{}, boardPathError(name, steps[0])
	case len(steps) == 2:
		return boardPath{agent: steps[0]}, nil
	}
	id, ok := strings.CutSuffix(steps[2], ".json")
	if !ok || id == "" {
		return boardPath{}, parley.Errorf(parley.BadInput, "%s does not name a document", name).Suggest(boardPathHint)
	}
	return boardPath{agent: steps[0], id: id}, nil
}

// boardPathError returns the error for a path outside of all inboxes. It says where to find what the path names.
func boardPathError(name, first string) error {
	e := parley.Errorf(parley.BadInput, "%s is not in an agent's inbox", name)
	switch first {
	case "shared":
		return e.Suggest("shared/ has files, not messages: read and write them in the directory tree")
	case "tasks":
		return e.Suggest("see tasks with: parley task list -o json")
	case "inbox":
		return e.Suggest("create a task: parley task new \"…\" --assignee gm; requests without a recipient are files in the tree of a bridge")
	default:
		return e.Suggest(boardPathHint + ", or AGENT/inbox/ for the whole inbox")
	}
}

// boardMetadata is the part of a message's metadata that keeps its blackboard document.
type boardMetadata struct {
	Document struct {
		ID        string    `json:"id"`
		Timestamp time.Time `json:"timestamp"`
	} `json:"clawos"`
}

// boardMessage returns a message with the id and the time that it has on a blackboard: those of its document, or else
// its own.
func boardMessage(m parley.Message) parley.Message {
	var kept boardMetadata
	if json.Unmarshal(m.Metadata, &kept) == nil && kept.Document.ID != "" {
		m.ID, m.CreatedAt = kept.Document.ID, kept.Document.Timestamp
	}
	return m
}

// boardID returns the id that a message has on a blackboard.
func boardID(m parley.Message) string { return boardMessage(m).ID }

// findByBoardID returns the hub's id of the message with an id on a blackboard: one of the same trace, or one with that
// id in the hub. It returns an empty id if there is none.
func findByBoardID(ctx context.Context, c *client.Client, id, trace string) (string, error) {
	if trace != "" {
		shown, err := c.Trace(ctx, trace)
		if err != nil && parley.AsError(err).Reason != parley.NotFound {
			return "", err
		}
		for _, m := range shown.Items {
			if boardID(m.Message) == id || m.ID == id {
				return m.ID, nil
			}
		}
	}
	m, err := c.Message(ctx, id)
	if err != nil && parley.AsError(err).Code != parley.BadInput {
		return "", err
	}
	return m.ID, nil
}
