package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
)

const (
	eventRate = 1000 // messages a second
	idleFor   = 16 * time.Second
	goalDelay = 25 * time.Millisecond
	goalCPU   = 0.01 // of a core
	goalBytes = 60 << 10
)

// measureEvents opens a thousand streams, leaves them idle for a while, and then posts messages that reach ten streams each.
func measureEvents(ctx context.Context, rounds int, length time.Duration) (results []result, err error) {
	h, err := startEventHub(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	_, before, err := h.used()
	if err != nil {
		return nil, err
	}
	streams, err := openStreams(h)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	cpu, resident, err := h.idle()
	if err != nil {
		return nil, err
	}
	each := (resident - before) / subscriberCount
	results = []result{
		atMost(1, result{
			What: "processor time of 1,000 idle subscribers, against 1 % of a core", Ratio: cpu / goalCPU,
			Parley: fmt.Sprintf("%.2f %%", 100*cpu), Baseline: fmt.Sprintf("%.0f %%", 100*goalCPU),
		}),
		atMost(1, result{
			What: "resident memory of an idle subscriber, against 60 KiB", Ratio: float64(each) / goalBytes,
			Parley: fmt.Sprintf("%d KiB", each>>10), Baseline: fmt.Sprintf("%d KiB", goalBytes>>10),
		}),
	}
	delays, rate, err := streams.post(time.Duration(rounds) * length)
	if err != nil {
		return nil, err
	}
	p50, p99 := delays[len(delays)/2], delays[len(delays)*99/100]
	return append(results, atMost(1, result{
		What:     fmt.Sprintf("post to event over HTTP, %.0f messages/s, 1,000 subscribers, each event to ten: p99, against 25 ms", rate),
		Ratio:    float64(p99) / float64(goalDelay),
		Parley:   fmt.Sprintf("p50 %s, p99 %s", p50.Round(10*time.Microsecond), p99.Round(10*time.Microsecond)),
		Baseline: goalDelay.String(),
	})), nil
}

// idle measures the hub while its subscribers get only heartbeats.
func (h *eventHub) idle() (cpu float64, resident int64, err error) {
	began, _, err := h.used()
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(idleFor)
	ended, resident, err := h.used()
	return (ended - began).Seconds() / idleFor.Seconds(), resident, err
}

// streams are open event streams, and the times at which their messages were posted.
type streams struct {
	hub   *eventHub
	conns []net.Conn
	group sync.WaitGroup
	sent  [conversationCount]posted

	mu       sync.Mutex
	delays   []time.Duration
	received atomic.Int64
}

// posted holds the times at which the messages of a conversation were posted, in order.
type posted struct {
	mu sync.Mutex
	at []time.Time
}

func openStreams(h *eventHub) (*streams, error) {
	s := &streams{hub: h}
	for n, token := range h.Tokens {
		conn, err := net.Dial("tcp", h.Address)
		if err != nil {
			return s, err
		}
		s.conns = append(s.conns, conn)
		_, err = fmt.Fprintf(conn, "GET /v1/events?kinds=message HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", h.Address, token)
		if err != nil {
			return s, err
		}
		lines := bufio.NewReader(conn)
		for line := ""; !strings.HasPrefix(line, "event: ready"); {
			if line, err = lines.ReadString('\n'); err != nil {
				return s, err
			}
		}
		s.group.Go(func() { s.read(lines, &s.sent[n/membersEach]) })
	}
	return s, nil
}

func (s *streams) close() {
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	s.group.Wait()
}

// read measures how long each message takes to reach one reader. The messages of a conversation arrive in order.
func (s *streams) read(lines *bufio.Reader, sent *posted) {
	posted := []byte("event: message.posted")
	for n := 0; ; {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		if !bytes.HasPrefix(line, posted) {
			continue
		}
		now := time.Now()
		sent.mu.Lock()
		delay := now.Sub(sent.at[n])
		sent.mu.Unlock()
		n++
		s.mu.Lock()
		s.delays = append(s.delays, delay)
		s.mu.Unlock()
		s.received.Add(1)
	}
}

// post posts to every conversation in turn for a while, and returns how long each event took to arrive.
func (s *streams) post(length time.Duration) (delays []time.Duration, rate float64, err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conversationCount}}
	defer client.CloseIdleConnections()
	errs, count := make([]error, conversationCount), atomic.Int64{}
	var group sync.WaitGroup
	began := time.Now()
	for conv := range conversationCount {
		group.Go(func() {
			time.Sleep(time.Duration(conv) * time.Second / eventRate)
			ticker := time.NewTicker(conversationCount * time.Second / eventRate)
			defer ticker.Stop()
			for time.Since(began) < length && errs[conv] == nil {
				errs[conv] = s.postIn(client, conv)
				count.Add(1)
				<-ticker.C
			}
		})
	}
	group.Wait()
	rate = float64(count.Load()) / time.Since(began).Seconds()
	for s.received.Load() < count.Load()*membersEach && errors.Join(errs...) == nil {
		if time.Since(began) > length+time.Minute {
			return nil, 0, fmt.Errorf("of %d events only %d have arrived", count.Load()*membersEach, s.received.Load())
		}
		time.Sleep(time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.delays)
	return s.delays, rate, errors.Join(errs...)
}

func (s *streams) postIn(client *http.Client, conv int) error {
	draft, err := json.Marshal(parley.Draft{Conversation: s.hub.Conversations[conv], Content: parley.Content{Text: body}})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+s.hub.Address+"/v1/messages", bytes.NewReader(draft))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.hub.Tokens[conv*membersEach])
	sent := &s.sent[conv]
	sent.mu.Lock()
	sent.at = append(sent.at, time.Now())
	sent.mu.Unlock()
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("a post was answered by %s: %s", res.Status, text)
	}
	return err
}
