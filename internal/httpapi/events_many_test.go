package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// TestTwoThousandStreamsAtOnce: each gets what is for its participant, and nothing else; all end with the
// server.
func TestTwoThousandStreamsAtOnce(t *testing.T) {
	const agents, streams = 100, 20
	closing, endStreams := context.WithCancel(context.Background())
	w := newServedHub(t, func(o *httpapi.Options) { o.Closing = closing })
	var open [agents][streams]*reader
	inParallel(agents, func(a int) {
		id := fmt.Sprint("a", a)
		_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: id})
		w.NoError(err)
	})
	for a := range agents {
		w.tokens[fmt.Sprint("a", a)] = w.MakeToken(fmt.Sprint("a", a), parley.ScopeRead).Secret
	}
	inParallel(agents, func(a int) {
		for s := range streams {
			open[a][s] = w.openStream(direct, fmt.Sprint("a", a), "?kinds=message", "")
			open[a][s].want("ready")
		}
	})
	var sent [agents]int64
	inParallel(agents, func(a int) {
		receipt, err := w.Post(ctx, user, parley.Draft{Direct: []string{fmt.Sprint("a", a)}, Content: parley.Content{Text: "hello"}})
		w.NoError(err)
		sent[a] = receipt.Message.Seq
	})
	inParallel(agents, func(a int) {
		for _, stream := range open[a] {
			if got := stream.want("message.posted").num(); got != sent[a] {
				t.Errorf("a%d got %d, want %d", a, got, sent[a])
			}
		}
	})
	endStreams()
	inParallel(agents, func(a int) {
		for _, stream := range open[a] {
			if b, err := stream.next(); !errors.Is(err, io.EOF) {
				t.Errorf("after the end came %v %v", b, err)
			}
		}
	})
}

func inParallel(n int, do func(int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}

// TestStreamsSurviveARestart stops the hub under two clients and starts it again on the same home and
// address: each gets every message once, in order.
func TestStreamsSurviveARestart(t *testing.T) {
	const each = 40
	closing, endStreams := context.WithCancel(context.Background())
	w := newServedHub(t, func(o *httpapi.Options) { o.Closing = closing })
	address := w.server.Listener.Addr().String()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	got, ready := [2][]int64{}, make(chan struct{}, 100)
	for i, who := range []string{"arya", "gendry"} {
		c, err := client.New(client.Options{URL: w.server.URL, Token: w.tokens[who]})
		w.NoError(err)
		group.Go(func() {
			defer c.Close()
			for e, err := range c.Events(ctx, client.EventsOptions{Kinds: []string{"message"}}) {
				switch {
				case err != nil: // it will come back
				case e.Kind == client.EventReady:
					ready <- struct{}{}
				case e.Kind == parley.EventMessagePosted:
					got[i] = append(got[i], e.Num)
				}
				if len(got[i]) == 3*each {
					return
				}
			}
		})
	}
	<-ready
	<-ready
	var said []int64
	post := func() {
		for range each {
			receipt, err := w.Post(ctx, hub.Caller{Agent: "user"}, parley.Draft{Conversation: "square", Content: parley.Content{Text: "hello"}})
			w.NoError(err)
			said = append(said, receipt.Message.Seq)
		}
	}
	post()
	w.server.CloseClientConnections()
	post()
	endStreams()
	w.server.Close()
	w.Close()
	listener, err := net.Listen("tcp", address)
	w.NoError(err)
	w.Open()
	w.serve(listener)
	post()
	group.Wait()
	for i := range got {
		if !slices.Equal(got[i], said) {
			t.Errorf("client %d got %v, want %v", i, got[i], said)
		}
	}
}
