package mcpapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// meantBy returns the URI, by its id, of the resource that a URI names in any way. result is what the caller has read there. It returns
// the URI itself if the caller has not seen the id: then the call needs an approval.
func meantBy(ctx context.Context, c Caller, uri string, result tools.Result) string {
	var data struct {
		ID       string `json:"id"`
		Messages []struct {
			Conversation string `json:"conversation"`
		} `json:"messages"`
		Approval string `json:"approval"`
	}
	encoded, err := json.Marshal(result.Data)
	if err != nil || json.Unmarshal(encoded, &data) != nil || data.Approval != "" {
		return uri
	}
	switch kind, id := splitURI(uri); {
	case kind == "tasks":
		return taskURI(data.ID)
	case kind == "agents":
		return agentURI(data.ID)
	case len(data.Messages) > 0:
		return conversationURI(data.Messages[0].Conversation)
	default:
		return emptyConversation(ctx, c, uri, id)
	}
}

// emptyConversation is meantBy for a conversation without messages. As everywhere, a name means first the conversation of that name
// that the caller is a member of.
func emptyConversation(ctx context.Context, c Caller, uri, ref string) string {
	list, err := c.Workspace.Conversations(ctx, parley.ListFilter{All: true, Limit: maxSearched})
	if err != nil {
		return uri
	}
	name := parley.Fold(strings.TrimPrefix(ref, "#"))
	for _, one := range list {
		switch {
		case one.ID == name, one.Joined && one.Name == name:
			return conversationURI(one.ID)
		case one.Name == name || one.DisplayName != "" && parley.Fold(one.DisplayName) == name:
			uri = conversationURI(one.ID)
		}
	}
	return uri
}

// maxSearched is among how many conversations the server looks for an empty one.
const maxSearched = 1000
