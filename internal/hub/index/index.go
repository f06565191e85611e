package index

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/search"
)

const (
	// indexBatch and indexWords are how many messages, and of long ones how many words, are added in one
	// update: posts wait behind it.
	indexBatch = 128
	indexWords = 10_000
	indexPoll  = 2 * time.Second
	// indexRest is how long the indexer rests for each moment of work while others post. So posting keeps
	// its pace; the index falls behind and catches up when it is quieter.
	indexRest = 8
	// indexWait is how long a search waits for what its caller has posted.
	indexWait = time.Second
)

// Indexer follows the order of messages and adds their words to the search index, after they are stored
// and apart from it. Documents and the mark of how far it has come are written in one update: a crash
// leaves neither a gap nor a repeat, and of several indexers on one store each batch is written by one.
type Indexer struct {
	store storage.Store
	log   *slog.Logger
	wake  chan struct{}
	hurry chan struct{} // somebody waits

	mu      sync.Mutex
	running bool
	waiters int
	reached int64            // all messages up to here are in the index
	moved   chan struct{}    // closed and replaced when reached moves
	last    map[string]int64 // the newest message of each agent that has posted here
}

func NewIndexer(store storage.Store, log *slog.Logger) *Indexer {
	return &Indexer{
		store: store, log: log, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		moved: make(chan struct{}), last: map[string]int64{},
	}
}

// Poke says that there may be new messages.
func (x *Indexer) Poke() { local.Signal(x.wake) }

// Posted remembers what an agent will expect to find.
func (x *Indexer) Posted(m parley.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last[m.From] = max(x.last[m.From], m.Seq)
}

func (x *Indexer) Run(ctx context.Context, started func()) {
	x.setRunning(true)
	defer x.setRunning(false)
	// A poke may be missed: an update failed, or another process wrote.
	again := time.NewTicker(indexPoll)
	defer again.Stop()
	started()
	failing := false
	for {
		err := x.catchUp(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			x.log.Error("the search index cannot go on, will try again", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-x.wake:
		case <-again.C:
		}
	}
}

func (x *Indexer) setRunning(running bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = running
}

// catchUp indexes what there is. While others post it rests in between, unless somebody waits for it.
func (x *Indexer) catchUp(ctx context.Context) error {
	for {
		began := time.Now()
		more, err := x.step(ctx)
		if err != nil || !more {
			return err
		}
		if len(x.wake) == 0 {
			continue // nobody has written meanwhile
		}
		<-x.wake
		if !x.awaited() {
			x.rest(ctx, indexRest*time.Since(began))
		}
	}
}

func (x *Indexer) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.hurry:
	case <-ctx.Done():
	}
}

func (x *Indexer) awaited() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.waiters > 0
}

// step indexes the next messages and says whether there may be more.
func (x *Indexer) step(ctx context.Context) (more bool, err error) {
	var (
		mark  storage.IndexMark
		list  []parley.Message
		rooms map[string]parley.Conversation
		next  int64
	)
	err = x.store.View(ctx, func(tx storage.Tx) (err error) {
		if mark, err = tx.Search().Mark(); err != nil {
			return err
		}
		if next, err = tx.Messages().NextSeq(); err != nil {
			return err
		}
		if list, err = tx.Messages().Scan(mark.Seq, indexBatch); err != nil {
			return err
		}
		rooms, err = roomsOf(tx, list)
		return err
	})
	if err != nil {
		return false, err
	}
	if len(list) == 0 {
		x.reach(next - 1)
		return false, nil
	}
	docs, upTo := documents(list, rooms)
	err = x.store.Update(ctx, func(tx storage.Tx) error { return tx.Search().Index(mark, upTo, docs) })
	if errors.Is(err, parley.ErrTaken) {
		return true, nil // read again: the mark has moved
	}
	if err == nil {
		x.reach(upTo)
	}
	return err == nil, err
}

// roomsOf are the conversations of messages. One that was deleted meanwhile is left out.
func roomsOf(tx storage.Tx, list []parley.Message) (map[string]parley.Conversation, error) {
	rooms := map[string]parley.Conversation{}
	for _, m := range list {
		if _, known := rooms[m.Conversation]; known {
			continue
		}
		c, err := tx.Conversations().Find(m.Conversation)
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return nil, err
		}
		rooms[m.Conversation] = c
	}
	return rooms, nil
}

// documents are the first messages of a list, as the index keeps them, and the seq of the last of these:
// at least one message, and no more than have indexWords together. Of what is redacted or damaged nothing is kept.
func documents(list []parley.Message, rooms map[string]parley.Conversation) (docs []parley.Document, upTo int64) {
	words := 0
	for i, m := range list {
		if m.RedactedAt == nil && m.Damage == nil {
			d := search.NewDocument(m, rooms[m.Conversation])
			if words += len(d.Words) + len(d.Loose); i > 0 && words > indexWords {
				break
			}
			docs = append(docs, d)
		}
		upTo = m.Seq
	}
	return docs, upTo
}

// reach tells those who wait how far the index has come.
func (x *Indexer) reach(seq int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if seq > x.reached {
		x.reached = seq
		close(x.moved)
		x.moved = make(chan struct{})
	}
}

// Await waits until what an agent has posted last can be found, if the indexer runs at all.
func (x *Indexer) Await(ctx context.Context, agent string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiters++
	defer func() { x.waiters-- }()
	ctx, cancel := context.WithTimeout(ctx, indexWait)
	defer cancel()
	for x.running && x.reached < x.last[agent] && ctx.Err() == nil {
		moved := x.moved
		x.mu.Unlock()
		local.Signal(x.hurry)
		select {
		case <-moved:
		case <-ctx.Done():
		}
		x.mu.Lock()
	}
}

// Behind says whether what an agent has posted last is beyond the mark.
func (x *Indexer) Behind(agent string, mark storage.IndexMark) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return max(mark.Seq, x.reached) < x.last[agent]
}
