package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineCalls answer the plain calls of a client on standard streams without the SDK.
type lineCalls struct {
	ctx     context.Context //nolint:containedctx // of the whole stream, which outlives each call
	options Options
	caller  func(p *plainRequest) Caller

	running sync.WaitGroup
	mu      sync.Mutex
	cancels map[string]context.CancelFunc // by the id of the call
}

// take takes a line if it is a plain call, or cancels one. begun says that the client has begun a session of an earlier revision: then its
// calls have no metadata.
func (c *lineCalls) take(l *lines, text []byte, begun bool) bool {
	if bytes.Contains(text, []byte(`"notifications/cancelled"`)) {
		return c.cancel(text)
	}
	p, ok := plainRequestOf(text, begun)
	if !ok || !p.isCall() {
		return false
	}
	id, err := idOf(p.ID)
	ctx, cancel := context.WithCancel(c.ctx)
	if err != nil || !c.add(&p, cancel) {
		cancel()
		return false
	}
	l.begin(id)
	c.running.Go(func() {
		defer l.answered(id)
		defer c.drop(&p)
		_ = l.send(p.answer(ctx, c.options, c.caller(&p))) // the client may have left
	})
	return true
}

func idOf(text jsontext.Value) (jsonrpc.ID, error) {
	var id any
	if err := json.Unmarshal(text, &id); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(id)
}

func (c *lineCalls) add(p *plainRequest, cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancels[string(p.ID)] != nil {
		return false
	}
	c.cancels[string(p.ID)] = cancel
	return true
}

func (c *lineCalls) drop(p *plainRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels[string(p.ID)]()
	delete(c.cancels, string(p.ID))
}

// cancel cancels the call that a notice names. It returns false if the SDK has the call.
func (c *lineCalls) cancel(notice []byte) bool {
	var n struct {
		Method string
		Params struct {
			ID json.RawMessage `json:"requestId"`
		}
	}
	if json.Unmarshal(notice, &n) != nil || n.Method != "notifications/cancelled" {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel := c.cancels[string(n.Params.ID)]
	if cancel == nil {
		return false
	}
	cancel()
	return true
}
