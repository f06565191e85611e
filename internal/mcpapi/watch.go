package mcpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
)

// watches follow the events of the hub while clients of a server subscribe to resources, and send them change notices. The hub cuts
// the events to what the subscriber may see at that moment.
type watches struct {
	server *mcp.Server
	log    *slog.Logger
	// extended says that the server has more resources than those of the hub.
	extended bool

	mu     sync.Mutex
	uris   map[string]subscribed // by the URI of the subscription
	cancel context.CancelFunc
}

// subscribed is a resource to which clients subscribe by one URI.
type subscribed struct {
	count int    // of subscriptions
	meant string // the resource by its id, which no rename changes
}

// maxSubscriptions is to how many resources the clients of one server may subscribe.
const maxSubscriptions = 256

// subscribe checks that the caller may read the resource, and begins to follow it.
func (w *watches) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	c, meant := callerOf(ctx), req.Params.URI
	if strings.HasPrefix(req.Params.URI, scheme) || !w.extended {
		result, err := readResource(ctx, c, req.Params.URI)
		if err != nil {
			return mcp.ResourceNotFoundError(req.Params.URI)
		}
		meant = meantBy(ctx, c, req.Params.URI, result)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.uris) >= maxSubscriptions && w.uris[req.Params.URI].count == 0 {
		return rpcError(parley.Errorf(parley.Unavailable, "this client subscribes to %d resources, which is the limit", maxSubscriptions).
			Suggest("end a subscription first"))
	}
	if w.uris == nil {
		w.uris = map[string]subscribed{}
	}
	w.uris[req.Params.URI] = subscribed{w.uris[req.Params.URI].count + 1, meant}
	if w.cancel == nil {
		following, cancel := context.WithCancel(context.WithoutCancel(ctx))
		w.cancel = cancel
		go w.follow(following, c)
	}
	return nil
}

// unsubscribe ends one subscription. With the last one, the server stops to follow events.
func (w *watches) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.uris[req.Params.URI]
	if left.count--; left.count > 0 {
		w.uris[req.Params.URI] = left
	} else {
		delete(w.uris, req.Params.URI) // or follow has given up, and forgotten all of them
	}
	if len(w.uris) == 0 && w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
	return nil
}

// followed are the kinds of events that change a resource.
var followed = []parley.EventKind{"message", "conversation.changed", "member", "task", "agent.changed", "agent.presence"}

// follow sends a notice for each event that changes a subscribed resource, until ctx is done. After a gap in the events it sends one for
// each subscribed resource. A client that has left without ending its subscriptions ends it too.
func (w *watches) follow(ctx context.Context, c Caller) {
	for e, err := range c.Workspace.Events(ctx, parley.EventFilter{Kinds: followed}) {
		if !hasSessions(w.server) {
			break
		}
		if err != nil {
			w.log.Debug("cannot follow events for a client; it gets no change notices for a while", "agent", c.ID, "error", err)
			continue
		}
		for _, uri := range w.changed(e) {
			_ = w.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil && ctx.Err() == nil { // nobody has replaced this loop
		w.cancel()
		w.cancel, w.uris = nil, nil
	}
}

// changed returns the URIs of the subscriptions to the resource that an event changes, or all if events may be missing. Clients may name
// one resource in several ways.
func (w *watches) changed(e parley.Event) (uris []string) {
	changed := resourceOf(e)
	w.mu.Lock()
	defer w.mu.Unlock()
	for named, s := range w.uris {
		if e.Kind == parley.EventReset || s.meant == changed {
			uris = append(uris, named)
		}
	}
	slices.Sort(uris)
	return uris
}

// resourceOf returns the resource that an event changes.
func resourceOf(e parley.Event) string {
	switch {
	case e.Kind.Within("task"):
		var data struct {
			Task string `json:"task"`
		}
		_ = json.Unmarshal(e.Data, &data) // without a task, it changes no resource
		return taskURI(data.Task)
	case e.Kind.Within("agent"):
		return agentURI(e.Agent)
	default:
		return conversationURI(e.Conversation)
	}
}
