package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// outcome is the result of reading a damaged home.
type outcome struct {
	refused error           // why the hub does not start
	named   int             // failures with a code, and messages marked as damaged
	seen    map[string]bool // ids of the messages that were read undamaged
	bodies  int             // artifacts that were read undamaged
	wrong   []string        // errors of the hub: wrong data, panics, failures without a code
	deep    []string        // problems that the deep check reports
}

// readAll opens a home and reads everything in it by each function that reads.
func (s sampleHome) readAll(ctx context.Context, home string) (o outcome) {
	o.seen = map[string]bool{}
	defer func() {
		if p := recover(); p != nil {
			o.wrong = append(o.wrong, fmt.Sprint("panic: ", p))
		}
	}()
	db, err := sqlite.Open(ctx, home)
	if err != nil {
		o.refuse(err)
		return o
	}
	defer func() { _ = db.Close() }()
	h, err := hub.New(ctx, db, hub.Config{Log: slog.New(slog.DiscardHandler), Rate: hub.Rate{PerSecond: -1}})
	if err != nil {
		o.refuse(err)
		return o
	}
	_ = db.Checked(ctx)
	s.histories(ctx, h, &o)
	s.export(ctx, h, &o)
	s.inboxes(ctx, h, &o)
	s.searches(ctx, h, &o)
	s.downloads(ctx, h, &o)
	s.postAgain(ctx, h, &o)
	report, err := db.CheckDeep(ctx, nil)
	o.fail(err)
	o.deep = report.Problems
	return o
}

// refuse notes why the hub does not start. The error must have a suggestion.
func (o *outcome) refuse(err error) {
	o.refused = err
	if e := parley.AsError(err); e.Suggestion == "" {
		o.wrong = append(o.wrong, "it is refused without a hint: "+err.Error())
	}
}

// fail notes a failure. The error must have a code.
func (o *outcome) fail(err error) {
	if err == nil {
		return
	}
	o.named++
	if _, coded := errors.AsType[*parley.Error](err); !coded {
		o.wrong = append(o.wrong, "a failure without a code: "+err.Error())
	}
}

// checkMessage compares a message that the hub returned with the stored one.
func (s sampleHome) checkMessage(operation string, m parley.Message, o *outcome) {
	if m.Damage != nil {
		o.named++
		return
	}
	stored, known := s.messages[m.ID]
	switch {
	case !known && m.From == parley.System && m.Seq > s.seq:
		return // a message of the hub about the damage
	case !known:
		o.wrong = append(o.wrong, fmt.Sprintf("%s serves a message that was never stored: %.200q", operation, m.Content.Text))
		return
	}
	got, _ := json.Marshal(m)
	want, _ := json.Marshal(stored)
	if !bytes.Equal(got, want) {
		o.wrong = append(o.wrong, fmt.Sprintf("%s serves %.300s\nwhich was %.300s", operation, got, want))
		return
	}
	o.seen[m.ID] = true
}

func as(id string) hub.Caller { return hub.Caller{Agent: id, Source: "test"} }

func (s sampleHome) histories(ctx context.Context, h *hub.Hub, o *outcome) {
	for _, conv := range s.conversations {
		list, err := h.History(ctx, as(parley.Owner), conv, parley.Page{Limit: 1000})
		o.fail(err)
		for _, m := range list {
			s.checkMessage("history", m, o)
		}
	}
	for id := range s.messages {
		shown, err := h.Message(ctx, as(parley.Owner), id)
		if o.fail(err); err == nil {
			s.checkMessage("show", shown.Message, o)
		}
	}
}

func (s sampleHome) export(ctx context.Context, h *hub.Hub, o *outcome) {
	var out bytes.Buffer
	o.fail(h.ExportAll(ctx, as(parley.Owner), &out))
	lines := bufio.NewReader(&out)
	for {
		raw, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var line struct {
			Message *parley.Message `json:"message"`
			Damaged *parley.Damage  `json:"damaged"`
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			o.wrong = append(o.wrong, "the export has a line that cannot be read: "+err.Error())
		}
		if line.Message != nil {
			s.checkMessage("export", *line.Message, o)
		}
		if line.Damaged != nil {
			o.named++
		}
	}
}

// inboxes reads each inbox and takes its deliveries.
func (s sampleHome) inboxes(ctx context.Context, h *hub.Hub, o *outcome) {
	for _, id := range readers {
		peeked, err := h.Peek(ctx, as(id), 500)
		o.fail(err)
		for _, m := range peeked.Messages {
			s.checkMessage("peek", m, o)
			s.checkRecipient("peek", id, m, o)
		}
		taken, err := h.Take(ctx, as(id), parley.Take{Limit: 500})
		o.fail(err)
		for _, m := range taken.Messages {
			s.checkMessage("take", m, o)
			s.checkRecipient("take", id, m, o)
		}
	}
}

// checkRecipient requires that a message was meant for its reader.
func (s sampleHome) checkRecipient(operation, reader string, m parley.Message, o *outcome) {
	if stored, known := s.messages[m.ID]; known && m.Damage == nil && stored.To != reader && stored.To != "" {
		o.wrong = append(o.wrong, fmt.Sprintf("%s gives %s a message for %s", operation, reader, stored.To))
	}
}

func (s sampleHome) searches(ctx context.Context, h *hub.Hub, o *outcome) {
	found, err := h.Search(ctx, as(parley.Owner), parley.SearchRequest{Query: "words", Limit: 100})
	o.fail(err)
	for _, hit := range found.Hits {
		stored, known := s.messages[hit.Message]
		if known && hit.From != parley.System && (hit.From != stored.From || !bytes.Contains([]byte(stored.Content.Text), []byte(hit.Snippet.Text))) {
			o.wrong = append(o.wrong, fmt.Sprintf("search serves %+v", hit))
		}
	}
}

func (s sampleHome) downloads(ctx context.Context, h *hub.Hub, o *outcome) {
	for digest, want := range s.artifacts {
		body, _, err := h.OpenArtifact(ctx, as(parley.Owner), digest)
		if err != nil {
			o.fail(err)
			continue
		}
		got, err := io.ReadAll(body)
		o.fail(err)
		_ = body.Close()
		switch {
		case err != nil && len(got) < len(want):
		case err != nil || !bytes.Equal(got, want):
			o.wrong = append(o.wrong, fmt.Sprintf("artifact %s is served with other bytes", digest))
		default:
			o.bodies++
		}
	}
}

// postAgain repeats posts with idempotency keys of stored messages. A post may fail with a code.
func (s sampleHome) postAgain(ctx context.Context, h *hub.Hub, o *outcome) {
	for _, stored := range s.messages {
		if stored.IdempotencyKey == "" {
			continue
		}
		d := parley.Draft{Conversation: stored.Conversation, Content: parley.Content{Text: "another"}, IdempotencyKey: stored.IdempotencyKey}
		r, err := h.Post(ctx, as(stored.From), d)
		if o.fail(err); err == nil && r.Duplicate {
			s.checkMessage("a repeated post", r.Message, o)
		}
	}
}
