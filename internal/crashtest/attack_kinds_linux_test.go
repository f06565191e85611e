package crashtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"
)

// attackKind is one way to attack a hub. The attack lasts until its context ends.
type attackKind struct {
	name   string
	attack func(ctx context.Context, a *attackedHub, random *rand.Rand)
}

// attackLength is how long one attack of a campaign lasts.
const attackLength = 4 * time.Second

// attackKinds are the known ways to attack.
var attackKinds = []attackKind{
	{"25 unread traces", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.requestUnread(ctx, 25, "/v1/traces/"+a.trace)
	}},
	{"100 unread histories", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.requestUnread(ctx, 100, "/v1/conversations/square/messages?limit=1000")
	}},
	{"50 unread searches", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.requestUnread(ctx, 50, "/v1/search?limit=100&q="+url.QueryEscape("many words"))
	}},
	{"50 unread inboxes", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.requestUnread(ctx, 50, "/v1/inbox?limit=500")
	}},
	{"500 streams, unread", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.requestUnread(ctx, 500, "/v1/events?include=message&after=0")
	}},
	{"200 waiting calls", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.sendAndHold(ctx, 200, postHead("/v1/inbox/take", a.token, 11), `{"wait":50}`)
	}},
	{"60 stalled uploads", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.sendAndHold(ctx, 60, uploadHead(a.token, 60<<20), strings.Repeat("x", 1<<20))
	}},
	{"100 stalled posts", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.sendAndHold(ctx, 100, postHead("/v1/messages", a.token, 2<<20-1), `{"content":{"text":"`+strings.Repeat("x", 1<<20))
	}},
	{"1,000 idle connections", func(ctx context.Context, a *attackedHub, _ *rand.Rand) { a.sendAndHold(ctx, 1000, "", "") }},
	{"500 heads that stop", func(ctx context.Context, a *attackedHub, _ *rand.Rand) {
		a.sendAndHold(ctx, 500, "GET /v1/who HTTP/1.1\r\nHost: "+a.address+"\r\nX-Long: ", strings.Repeat("x", 32<<10))
	}},
	{"300 connections after a call", func(ctx context.Context, a *attackedHub, _ *rand.Rand) { a.requestUnread(ctx, 300, "/v1/whoami") }},
	{"a flood of posts", func(ctx context.Context, a *attackedHub, random *rand.Rand) { a.floodPosts(ctx, random) }},
}

// requestUnread sends n requests and does not read the responses.
func (a *attackedHub) requestUnread(ctx context.Context, n int, path string) {
	a.sendAndHold(ctx, n, "GET "+path+" HTTP/1.1\r\nHost: "+a.address+"\r\nAuthorization: Bearer "+a.token+"\r\n\r\n", "")
}

func postHead(path, token string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost:0\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, token, length)
}

func uploadHead(token string, length int) string {
	return fmt.Sprintf("POST /v1/artifacts HTTP/1.1\r\nHost: localhost:0\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", token, length)
}

// withConnections opens n connections and calls use for each. It closes a connection after use, and when the context ends.
func (a *attackedHub) withConnections(ctx context.Context, n int, use func(net.Conn)) {
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.address)
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer stop()
			use(c)
		})
	}
	group.Wait()
}

// sendAndHold opens n connections, sends a head and a body through each, and holds the connections open.
func (a *attackedHub) sendAndHold(ctx context.Context, n int, head, body string) {
	head = strings.Replace(head, "localhost:0", a.address, 1)
	a.withConnections(ctx, n, func(c net.Conn) {
		if _, err := io.WriteString(c, head+body); err == nil {
			<-ctx.Done()
		}
	})
}

// floodPosts posts large messages without regard to the rate limit.
func (a *attackedHub) floodPosts(ctx context.Context, random *rand.Rand) {
	text := strings.Repeat("flood ", 1+random.IntN(30_000))
	body := fmt.Sprintf(`{"direct":["ned"],"content":{"text":%q}}`, text)
	request := strings.Replace(postHead("/v1/messages", a.token, len(body)), "localhost:0", a.address, 1) + body
	a.withConnections(ctx, 8, func(c net.Conn) {
		go func() { _, _ = io.Copy(io.Discard, c) }()
		var err error
		for err == nil && ctx.Err() == nil {
			_, err = io.WriteString(c, request)
		}
	})
}
