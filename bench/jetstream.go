package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// measureJetStream compares durable posts with publishing the same bodies to JetStream, a message broker. JetStream runs in the
// same process and syncs each message to disk.
func measureJetStream(ctx context.Context, rounds int, length time.Duration) ([]result, error) {
	h, closeHub, err := onSQLite().hub(ctx, posters)
	if err != nil {
		return nil, err
	}
	post, err := dmPoster(ctx, h)
	if err != nil {
		return nil, err
	}
	publish, closeServer, err := jetStreamPoster(ctx)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, publishers := range []int{8, posters} {
		var parleyRates, brokerRates []float64
		for range rounds {
			a, err := throughput(length, publishers, post)
			if err != nil {
				return nil, err
			}
			b, err := throughput(length, publishers, publish)
			if err != nil {
				return nil, err
			}
			parleyRates, brokerRates = append(parleyRates, a), append(brokerRates, b)
		}
		a, b := median(parleyRates), median(brokerRates)
		results = append(results, atLeast(1.5, result{
			What: fmt.Sprintf("durable posts, %d posters, against JetStream with sync always", publishers), Ratio: a / b,
			Parley: fmt.Sprintf("%.0f/s", a), Baseline: fmt.Sprintf("%.0f/s", b),
		}))
	}
	return results, errors.Join(closeHub(), closeServer())
}

// jetStreamPoster publishes to a stream on a server in this process, over a connection for each
// publisher, and waits for the acknowledgement.
func jetStreamPoster(ctx context.Context) (poster, func() error, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, nil, err
	}
	broker, err := server.NewServer(&server.Options{DontListen: true, JetStream: true, StoreDir: dir, SyncAlways: true, NoLog: true, NoSigs: true})
	if err != nil {
		return nil, nil, err
	}
	broker.Start()
	if !broker.ReadyForConnections(10 * time.Second) {
		return nil, nil, errors.New("the JetStream server does not start")
	}
	var (
		streams     [posters]jetstream.JetStream
		connections [posters]*nats.Conn
	)
	for i := range posters {
		if connections[i], err = nats.Connect("", nats.InProcessServer(broker)); err != nil {
			return nil, nil, err
		}
		if streams[i], err = jetstream.New(connections[i]); err != nil {
			return nil, nil, err
		}
	}
	_, err = streams[0].CreateStream(ctx, jetstream.StreamConfig{Name: "bench", Subjects: []string{"bench.>"}, Storage: jetstream.FileStorage})
	if err != nil {
		return nil, nil, err
	}
	payload := []byte(body)
	post := func(worker, n int) error {
		_, err := streams[worker].Publish(ctx, fmt.Sprintf("bench.%d.%d", worker, n%partners), payload)
		return err
	}
	return post, func() error {
		for _, c := range connections {
			c.Close()
		}
		broker.Shutdown()
		broker.WaitForShutdown()
		return os.RemoveAll(dir)
	}, nil
}
