// Package index holds the background indexer: it follows the order of messages and feeds the full-text search.
//
// A post does no work for the search. The indexer follows the order of messages instead: it reads the next messages in a view,
// makes words of them outside of any transaction, and adds the words in an update of its own, with the mark of how far it has
// come. So a stop leaves neither a gap nor a repeat. The mark also counts erasures: the store refuses words that were read before
// a message was erased, and those of a second indexer that comes late. While others post, the indexer rests eight times as long
// as it works. A search waits up to a second for its caller's last message, hurries the indexer, and says if that was not enough.
//
// Both databases store the words that internal/search makes, and compare words; neither counts nor ranks. Sender, recipient,
// conversation, type, task and trace are words too, with a first character that no text can contribute. So a filter is one more
// word. The messages that the words select are read newest first, in portions, and checked against rights, times and answers in
// the same snapshot. Go code ranks the newest 500 that remain (decision 6).
package index

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/search"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	// indexBatch is how many messages, and indexWords how many words of long messages, one update adds. Both are small because
	// posts wait for the update.
	indexBatch = 128
	indexWords = 10_000
	indexPoll  = 2 * time.Second
	// indexRest is how many times as long as it worked the indexer rests while participants post. Posting keeps its speed; the
	// index falls behind and catches up later.
	indexRest = 8
	// indexWait is how long a search waits until the caller's last post is in the index.
	indexWait = time.Second
)

// Indexer reads messages in their order and adds their words to the search index, after the messages are stored. One update
// writes the words of a batch together with the mark up to which the index is complete. So a crash leaves neither a gap nor
// a repeat, and when several processes index one store, only one of them writes each batch.
type Indexer struct {
	store storage.Store
	log   *slog.Logger
	wake  chan struct{}
	hurry chan struct{} // a search waits

	mu       sync.Mutex
	running  bool
	waiters  int
	reached  int64            // the last message in the index
	progress chan struct{}    // closed and replaced when reached grows
	last     map[string]int64 // the last message of each agent that posted through this process
}

// NewIndexer returns an indexer. Run starts it.
func NewIndexer(store storage.Store, log *slog.Logger) *Indexer {
	return &Indexer{
		store: store, log: log, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		progress: make(chan struct{}), last: map[string]int64{},
	}
}

// Poke tells the indexer that there may be new messages.
func (x *Indexer) Poke() { local.Signal(x.wake) }

// Posted remembers the last message of an agent, which the agent's next search should find.
func (x *Indexer) Posted(m parley.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last[m.From] = max(x.last[m.From], m.Seq)
}

// Run indexes messages until ctx ends. It logs the first of several errors in a row and tries again.
func (x *Indexer) Run(ctx context.Context, started func()) {
	x.setRunning(true)
	defer x.setRunning(false)
	// Look every two seconds too: an update may have failed, or another process may have posted.
	again := time.NewTicker(indexPoll)
	defer again.Stop()
	started()
	failing := false
	for {
		err := x.catchUp(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			x.log.Error("cannot update the search index; retrying", "error", err)
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

// catchUp indexes all new messages. While participants post it rests between batches, unless a search waits.
func (x *Indexer) catchUp(ctx context.Context) error {
	for {
		began := time.Now()
		more, err := x.step(ctx)
		if err != nil || !more {
			return err
		}
		if len(x.wake) == 0 {
			continue // no new message meanwhile
		}
		<-x.wake
		if !x.awaited() {
			x.rest(ctx, indexRest*time.Since(began))
		}
	}
}

// rest waits, but ends early when a search waits.
func (x *Indexer) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.hurry:
	case <-ctx.Done():
	}
}

// awaited reports whether a search waits.
func (x *Indexer) awaited() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.waiters > 0
}

// step indexes the next batch and reports whether there may be more.
func (x *Indexer) step(ctx context.Context) (more bool, err error) {
	var (
		mark          storage.IndexMark
		list          []parley.Message
		conversations map[string]parley.Conversation
		next          int64
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
		conversations, err = conversationsOf(tx, list)
		return err
	})
	if err != nil {
		return false, err
	}
	if len(list) == 0 {
		x.setReached(next - 1)
		return false, nil
	}
	docs, upTo := documents(list, conversations)
	err = x.store.Update(ctx, func(tx storage.Tx) error { return tx.Search().Index(mark, upTo, docs) })
	if errors.Is(err, parley.ErrTaken) {
		return true, nil // another process indexed the batch: read the mark again
	}
	if err == nil {
		x.setReached(upTo)
	}
	return err == nil, err
}

// conversationsOf returns the conversations of messages, without those that were deleted meanwhile.
func conversationsOf(tx storage.Tx, list []parley.Message) (map[string]parley.Conversation, error) {
	conversations := map[string]parley.Conversation{}
	for _, m := range list {
		if _, known := conversations[m.Conversation]; known {
			continue
		}
		c, err := tx.Conversations().Find(m.Conversation)
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return nil, err
		}
		conversations[m.Conversation] = c
	}
	return conversations, nil
}

// documents returns the index entries of the first messages of a list, and the seq of the last one. It takes at least one
// message, and no more than have indexWords together. Redacted and damaged messages get no entry.
func documents(list []parley.Message, conversations map[string]parley.Conversation) (docs []parley.Document, upTo int64) {
	words := 0
	for i, m := range list {
		if m.RedactedAt == nil && m.Damage == nil {
			d := search.NewDocument(m, conversations[m.Conversation])
			if words += len(d.Words) + len(d.Loose); i > 0 && words > indexWords {
				break
			}
			docs = append(docs, d)
		}
		upTo = m.Seq
	}
	return docs, upTo
}

// setReached notes that the index is complete up to a message, and wakes waiting searches.
func (x *Indexer) setReached(seq int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if seq > x.reached {
		x.reached = seq
		close(x.progress)
		x.progress = make(chan struct{})
	}
}

// Await waits until the index has the last message that an agent posted through this process, but at most indexWait. It
// returns at once when the indexer does not run.
func (x *Indexer) Await(ctx context.Context, agent string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiters++
	defer func() { x.waiters-- }()
	ctx, cancel := context.WithTimeout(ctx, indexWait)
	defer cancel()
	for x.running && x.reached < x.last[agent] && ctx.Err() == nil {
		advanced := x.progress
		x.mu.Unlock()
		local.Signal(x.hurry)
		select {
		case <-advanced:
		case <-ctx.Done():
		}
		x.mu.Lock()
	}
}

// Behind reports whether the last message that an agent posted through this process is after the mark.
func (x *Indexer) Behind(agent string, mark storage.IndexMark) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return max(mark.Seq, x.reached) < x.last[agent]
}
