package httpapi

import (
	"context"

	"github.com/parley-hub/parley"
)

type rememberInput struct {
	Key  string `header:"Idempotency-Key" doc:"The same as idempotency_key in the body."`
	Body parley.NewNote
}

func remember(ctx context.Context, c *call, in *rememberInput) (n parley.Note, err error) {
	note := in.Body
	if note.IdempotencyKey, err = idempotencyKey(in.Key, note.IdempotencyKey); err != nil {
		return n, err
	}
	return c.hub.Remember(ctx, c.caller, note)
}

type recallInput struct {
	Scope        string `query:"scope" enum:"private,conversation" doc:"private (the default), or conversation (the default with a conversation)."`
	Agent        string `query:"agent" doc:"Whose private notes; missing: the caller's. Only owners may name another participant."`
	Conversation string `query:"conversation" doc:"The notes of this conversation. A run may leave it out: its own conversation." example:"project-x"`
	Query        string `query:"q" doc:"Words; missing: all notes." example:"deploy"`
	Limit        int    `query:"limit" minimum:"0" maximum:"256" doc:"The most items to return; 0 or missing: 20."`
}

func recall(ctx context.Context, c *call, in *recallInput) (List[parley.Note], error) {
	return listOf(c.hub.Recall(ctx, c.caller, parley.NoteFilter{
		Scope: parley.NoteScope(in.Scope), Agent: in.Agent, Conversation: in.Conversation, Query: in.Query, Limit: in.Limit,
	}))
}

// noteInput is the input of an operation on one note.
type noteInput struct {
	Note string `path:"note" doc:"The note's short name." example:"note-12"`
}

func forget(ctx context.Context, c *call, in *noteInput) error {
	return c.hub.Forget(ctx, c.caller, in.Note)
}

type redactNoteInput struct {
	Note string `path:"note" doc:"The note's short name." example:"note-12"`
	Body RedactRequest
}

func redactNote(ctx context.Context, c *call, in *redactNoteInput) (parley.Note, error) {
	return c.hub.RedactNote(ctx, c.caller, in.Note, in.Body.Reason)
}
