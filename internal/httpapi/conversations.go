package httpapi

import (
	"context"
	"net/http"

	"github.com/parley-hub/parley"
)

// conversationInput is the input of an operation on one conversation.
type conversationInput struct {
	Conversation string `path:"conversation" doc:"The conversation's id, name, #name or display name; @arya for the caller's direct conversation with arya; arya ↔ gendry for the direct conversation of these two." example:"project-x"`
}

type listConversationsInput struct {
	All       bool   `query:"all" doc:"Also conversations that the caller may read but is not a member of."`
	Archived  bool   `query:"archived" doc:"Archived conversations instead of the others."`
	Ephemeral bool   `query:"ephemeral" doc:"Also ephemeral conversations."`
	Limit     int    `query:"limit" minimum:"0" maximum:"500" doc:"The most items to return; 0 or missing: 100."`
	Cursor    string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

func listConversations(ctx context.Context, c *call, in *listConversationsInput) (page List[parley.ConversationView], err error) {
	filter := parley.ListFilter{All: in.All, Archived: in.Archived, Ephemeral: in.Ephemeral, Limit: in.Limit}
	if filter.Cursor, err = decodeCursor[parley.ListCursor](in.Cursor); err != nil {
		return page, err
	}
	list, next, err := c.hub.Conversations(ctx, c.caller, filter)
	if next != nil {
		page.Next = encodeCursor(next)
	}
	page.Items = list
	return page, err
}

func makeConversation(ctx context.Context, c *call, in *bodyInput[parley.NewConversation]) (parley.ConversationView, error) {
	return c.hub.CreateConversation(ctx, c.caller, in.Body)
}

func showConversation(ctx context.Context, c *call, in *conversationInput) (parley.ConversationView, error) {
	return c.hub.Conversation(ctx, c.caller, in.Conversation)
}

type changeConversationInput struct {
	Conversation string `path:"conversation" doc:"The conversation's id, name, #name or display name; @arya for the caller's direct conversation with arya; arya ↔ gendry for the direct conversation of these two." example:"project-x"`
	Body         parley.ConversationChange
}

func changeConversation(ctx context.Context, c *call, in *changeConversationInput) (parley.ConversationView, error) {
	return c.hub.ChangeConversation(ctx, c.caller, in.Conversation, in.Body)
}

func deleteConversation(ctx context.Context, c *call, in *conversationInput) error {
	return c.hub.DeleteConversation(ctx, c.caller, in.Conversation)
}

func join(ctx context.Context, c *call, in *conversationInput) error {
	return c.hub.Join(ctx, c.caller, in.Conversation)
}

func leave(ctx context.Context, c *call, in *conversationInput) error {
	return c.hub.Leave(ctx, c.caller, in.Conversation)
}

type memberInput struct {
	Conversation string `path:"conversation" doc:"The conversation's id, name, #name or display name; @arya for the caller's direct conversation with arya; arya ↔ gendry for the direct conversation of these two." example:"project-x"`
	Agent        string `path:"agent" doc:"The agent's id, UUID or name, in any case; an @ before it does not matter." example:"gendry"`
}

func addMember(ctx context.Context, c *call, in *memberInput) error {
	return c.hub.AddMember(ctx, c.caller, in.Conversation, in.Agent)
}

func removeMember(ctx context.Context, c *call, in *memberInput) error {
	return c.hub.RemoveMember(ctx, c.caller, in.Conversation, in.Agent)
}

type listMessagesInput struct {
	Conversation string `path:"conversation" doc:"The conversation's id, name, #name or display name; @arya for the caller's direct conversation with arya; arya ↔ gendry for the direct conversation of these two." example:"project-x"`
	Before       int64  `query:"before" doc:"Only messages with a smaller seq, the newest of them." minimum:"0"`
	After        int64  `query:"after" doc:"Only messages with a larger seq, the oldest first." minimum:"0"`
	Limit        int    `query:"limit" minimum:"0" maximum:"1000" doc:"The most items to return; 0 or missing: 50."`
	Names        bool   `query:"names" doc:"Also return the names of the participants in the messages."`
}

// MessageList is a list of messages.
type MessageList struct {
	List[parley.Message]
	Names []Name `json:"names,omitempty" doc:"The senders and receivers of the messages, if the request asks for their names."`

	Answered parley.ShortNames `json:"answered,omitempty" doc:"The short names of the messages that these answer, by id, as far as they are known, if the request asks for names."`
}

func listMessages(ctx context.Context, c *call, in *listMessagesInput) (MessageList, error) {
	page := parley.Page{Forward: in.After > 0, After: in.After, Before: in.Before, Limit: in.Limit}
	if !in.Names {
		list, err := listOf(c.hub.History(ctx, c.caller, in.Conversation, page))
		return MessageList{List: list}, err
	}
	read, err := c.hub.HistoryWithNames(ctx, c.caller, in.Conversation, page)
	list, err := listOf(read.Messages, err)
	return MessageList{list, namesOf(read.Names), read.Answered}, err
}

func contextOf(ctx context.Context, c *call, in *conversationInput) (List[parley.Message], error) {
	return listOf(c.hub.Context(ctx, c.caller, in.Conversation))
}

type markReadInput struct {
	Conversation string `path:"conversation" doc:"The conversation's id, name, #name or display name; @arya for the caller's direct conversation with arya; arya ↔ gendry for the direct conversation of these two." example:"project-x"`
	Body         ReadRequest
}

// ReadRequest says how far the caller has read.
type ReadRequest struct {
	Seq int64 `json:"seq,omitempty" doc:"The seq of the last message read; 0 or missing: the newest." minimum:"0"`
}

func markRead(ctx context.Context, c *call, in *markReadInput) error {
	return c.hub.MarkRead(ctx, c.caller, in.Conversation, in.Body.Seq)
}

type exportInput struct {
	Conversation string `path:"conversation" doc:"The conversation's id, name, #name or display name; @arya for the caller's direct conversation with arya; arya ↔ gendry for the direct conversation of these two." example:"project-x"`
	Format       string `query:"format" enum:"jsonl,markdown" doc:"Default: jsonl."`
}

var exportTypes = map[string]string{"jsonl": jsonLines, "markdown": "text/markdown; charset=utf-8"}

func exportConversation(w http.ResponseWriter, r *http.Request, c *call, in *exportInput) error {
	if in.Format == "" {
		in.Format = "jsonl"
	}
	return c.hub.Export(r.Context(), c.caller, in.Conversation, in.Format, &typedWriter{w, exportTypes[in.Format]})
}

const jsonLines = "application/jsonl"

// typedWriter sets the media type of the answer at the first write. Until then, the answer can still be an error.
type typedWriter struct {
	http.ResponseWriter
	mediaType string
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (t *typedWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *typedWriter) Write(p []byte) (int, error) {
	if h := t.Header(); h["Content-Type"] == nil {
		h.Set("Content-Type", t.mediaType)
		h["Cache-Control"] = noStoreHeader
	}
	return t.ResponseWriter.Write(p)
}
