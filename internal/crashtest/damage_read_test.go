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

// outcome is what a damaged home does.
type outcome struct {
	refused error           // it does not start
	named   int             // failures with a code, and stand-ins that name what is damaged
	seen    map[string]bool // messages that were read whole
	bodies  int             // artifacts that were read whole
	wrong   []string        // what was served as good and is not
	deep    []string        // what the deep check finds
}

// look opens a home and reads all of it through everything that reads.
func (s sample) look(ctx context.Context, home string) (o outcome) {
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
	s.again(ctx, h, &o)
	report, err := db.CheckDeep(ctx, nil)
	o.fail(err)
	o.deep = report.Problems
	return o
}

// refuse notes a home that does not start. It must say what to do.
func (o *outcome) refuse(err error) {
	o.refused = err
	if e := parley.AsError(err); e.Suggestion == "" {
		o.wrong = append(o.wrong, "it is refused without a hint: "+err.Error())
	}
}

// fail notes a failure, which must have a code of its own.
func (o *outcome) fail(err error) {
	if err == nil {
		return
	}
	o.named++
	if _, coded := errors.AsType[*parley.Error](err); !coded {
		o.wrong = append(o.wrong, "a failure without a code: "+err.Error())
	}
}

// judge compares a message that the hub returned with the stored one.
func (s sample) judge(where string, m parley.Message, o *outcome) {
	if m.Damage != nil {
		o.named++
		return
	}
	was, known := s.messages[m.ID]
	switch {
	case !known && m.From == parley.System && m.Seq > s.seq:
		return // the hub has told a sender of damage
	case !known:
		o.wrong = append(o.wrong, fmt.Sprintf("%s serves a message that was never stored: %.200q", where, m.Content.Text))
		return
	}
	got, _ := json.Marshal(m)
	want, _ := json.Marshal(was)
	if !bytes.Equal(got, want) {
		o.wrong = append(o.wrong, fmt.Sprintf("%s serves %.300s\nwhich was %.300s", where, got, want))
		return
	}
	o.seen[m.ID] = true
}

func as(id string) hub.Caller { return hub.Caller{Agent: id, Source: "test"} }

func (s sample) histories(ctx context.Context, h *hub.Hub, o *outcome) {
	for _, place := range s.places {
		list, err := h.History(ctx, as(parley.Owner), place, parley.Page{Limit: 1000})
		o.fail(err)
		for _, m := range list {
			s.judge("history", m, o)
		}
	}
	for id := range s.messages {
		shown, err := h.Message(ctx, as(parley.Owner), id)
		if o.fail(err); err == nil {
			s.judge("show", shown.Message, o)
		}
	}
}

func (s sample) export(ctx context.Context, h *hub.Hub, o *outcome) {
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
			s.judge("export", *line.Message, o)
		}
		if line.Damaged != nil {
			o.named++
		}
	}
}

// inboxes reads each inbox and takes its deliveries.
func (s sample) inboxes(ctx context.Context, h *hub.Hub, o *outcome) {
	for _, id := range readers {
		peeked, err := h.Peek(ctx, as(id), 500)
		o.fail(err)
		for _, m := range peeked.Messages {
			s.judge("peek", m, o)
			s.belongs("peek", id, m, o)
		}
		taken, err := h.Take(ctx, as(id), parley.Take{Limit: 500})
		o.fail(err)
		for _, m := range taken.Messages {
			s.judge("take", m, o)
			s.belongs("take", id, m, o)
		}
	}
}

// belongs requires that a message was meant for its reader.
func (s sample) belongs(where, who string, m parley.Message, o *outcome) {
	if was, known := s.messages[m.ID]; known && m.Damage == nil && was.To != who && was.To != "" {
		o.wrong = append(o.wrong, fmt.Sprintf("%s gives %s a message for %s", where, who, was.To))
	}
}

func (s sample) searches(ctx context.Context, h *hub.Hub, o *outcome) {
	found, err := h.Search(ctx, as(parley.Owner), parley.SearchRequest{Query: "words", Limit: 100})
	o.fail(err)
	for _, hit := range found.Hits {
		was, known := s.messages[hit.Message]
		if known && hit.From != parley.System && (hit.From != was.From || !bytes.Contains([]byte(was.Content.Text), []byte(hit.Snippet.Text))) {
			o.wrong = append(o.wrong, fmt.Sprintf("search serves %+v", hit))
		}
	}
}

func (s sample) downloads(ctx context.Context, h *hub.Hub, o *outcome) {
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

// again posts with keys that were used, and something new: all of it may fail, with a code.
func (s sample) again(ctx context.Context, h *hub.Hub, o *outcome) {
	for _, was := range s.messages {
		if was.IdempotencyKey == "" {
			continue
		}
		d := parley.Draft{Conversation: was.Conversation, Content: parley.Content{Text: "another"}, IdempotencyKey: was.IdempotencyKey}
		r, err := h.Post(ctx, as(was.From), d)
		if o.fail(err); err == nil && r.Duplicate {
			s.judge("a repeated post", r.Message, o)
		}
	}
}
