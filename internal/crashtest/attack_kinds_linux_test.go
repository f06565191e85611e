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

// kind is one way to attack. It lasts until ctx is done.
type kind struct {
	name string
	do   func(ctx context.Context, a *attacked, random *rand.Rand)
}

// hold is how long one attack of a campaign lasts.
const hold = 4 * time.Second

// kinds are the ways to attack, as they were found to work.
var kinds = []kind{
	{"25 unread traces", func(ctx context.Context, a *attacked, _ *rand.Rand) { a.unread(ctx, 25, "/v1/traces/"+a.trace) }},
	{"100 unread histories", func(ctx context.Context, a *attacked, _ *rand.Rand) {
		a.unread(ctx, 100, "/v1/conversations/square/messages?limit=1000")
	}},
	{"50 unread searches", func(ctx context.Context, a *attacked, _ *rand.Rand) {
		a.unread(ctx, 50, "/v1/search?limit=100&q="+url.QueryEscape("many words"))
	}},
	{"50 unread inboxes", func(ctx context.Context, a *attacked, _ *rand.Rand) { a.unread(ctx, 50, "/v1/inbox?limit=500") }},
	{"500 streams, unread", func(ctx context.Context, a *attacked, _ *rand.Rand) {
		a.unread(ctx, 500, "/v1/events?include=message&after=0")
	}},
	{"200 waiting calls", func(ctx context.Context, a *attacked, _ *rand.Rand) {
		a.sends(ctx, 200, post("/v1/inbox/take", a.token, 11), `{"wait":50}`)
	}},
	{"60 stalled uploads", func(ctx context.Context, a *attacked, _ *rand.Rand) {
		a.sends(ctx, 60, upload(a.token, 60<<20), strings.Repeat("x", 1<<20))
	}},
	{"100 stalled posts", func(ctx context.Context, a *attacked, _ *rand.Rand) {
		a.sends(ctx, 100, post("/v1/messages", a.token, 2<<20-1), `{"content":{"text":"`+strings.Repeat("x", 1<<20))
	}},
	{"1,000 idle connections", func(ctx context.Context, a *attacked, _ *rand.Rand) { a.sends(ctx, 1000, "", "") }},
	{"500 heads that stop", func(ctx context.Context, a *attacked, _ *rand.Rand) {
		a.sends(ctx, 500, "GET /v1/who HTTP/1.1\r\nHost: "+a.address+"\r\nX-Long: ", strings.Repeat("x", 32<<10))
	}},
	{"300 connections after a call", func(ctx context.Context, a *attacked, _ *rand.Rand) { a.unread(ctx, 300, "/v1/whoami") }},
	{"a flood of posts", func(ctx context.Context, a *attacked, random *rand.Rand) { a.floods(ctx, random) }},
}

// unread asks for something, n times, and reads nothing of the answers.
func (a *attacked) unread(ctx context.Context, n int, path string) {
	a.sends(ctx, n, "GET "+path+" HTTP/1.1\r\nHost: "+a.address+"\r\nAuthorization: Bearer "+a.token+"\r\n\r\n", "")
}

func post(path, token string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost:0\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, token, length)
}

func upload(token string, length int) string {
	return fmt.Sprintf("POST /v1/artifacts HTTP/1.1\r\nHost: localhost:0\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", token, length)
}

// connects opens n connections, uses each, and closes them. They are closed when the context ends, too.
func (a *attacked) connects(ctx context.Context, n int, use func(net.Conn)) {
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.address)
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			ended := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer ended()
			use(c)
		})
	}
	group.Wait()
}

// sends opens n connections, sends something by each, and holds them open.
func (a *attacked) sends(ctx context.Context, n int, head, body string) {
	head = strings.Replace(head, "localhost:0", a.address, 1)
	a.connects(ctx, n, func(c net.Conn) {
		if _, err := io.WriteString(c, head+body); err == nil {
			<-ctx.Done()
		}
	})
}

// floods posts large messages as fast as it may, and more.
func (a *attacked) floods(ctx context.Context, random *rand.Rand) {
	text := strings.Repeat("flood ", 1+random.IntN(30_000))
	body := fmt.Sprintf(`{"direct":["ned"],"content":{"text":%q}}`, text)
	request := strings.Replace(post("/v1/messages", a.token, len(body)), "localhost:0", a.address, 1) + body
	a.connects(ctx, 8, func(c net.Conn) {
		go func() { _, _ = io.Copy(io.Discard, c) }()
		var err error
		for err == nil && ctx.Err() == nil {
			_, err = io.WriteString(c, request)
		}
	})
}
