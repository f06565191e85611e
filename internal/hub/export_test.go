package hub_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func export(w *fixture, who, ref, format string) string {
	w.T.Helper()
	var out bytes.Buffer
	w.NoError(w.Export(ctx, as(who), ref, format, &out))
	return out.String()
}

// TestExportedLinesAreTheMessages reads an export back and checks each message against its checksum.
func TestExportedLinesAreTheMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	open := w.CreateConversationAs("arya", parley.NewConversation{Name: "open", With: []string{"ned"}, Topic: "<winter> & \u2028"})
	bodies := []string{
		`<b>&amp;</b> "quoted" \ back`, "line\u2028separator\u2029and\nnewline\ttab", "Grüße 你好 😀 \u0301 \u200d", "\u0001\u007f\ufffd",
	}
	for _, body := range bodies {
		escaped, err := json.Marshal(body)
		w.NoError(err)
		w.PostAs("arya", parley.Draft{
			Conversation: "open", To: "ned", TTL: 60, RequiresAck: true, IdempotencyKey: body, TraceID: "trace", Priority: level(0),
			Content: parley.Content{Text: body, Code: body, Artifacts: []parley.Artifact{{Name: "a \"quoted\" name", Path: "/srv/<b>\\", Size: 1}}},
			Payload: json.RawMessage(`{"a": ` + string(escaped) + `, "n": 1.50, "raw": "<\u2028>"}`), Metadata: json.RawMessage(`{"m":"<&>"}`),
		})
	}
	want, err := w.History(ctx, as("ned"), "open", parley.Page{})
	w.NoError(err)

	lines := bufio.NewScanner(strings.NewReader(export(w, "ned", "open", "jsonl")))
	lines.Scan()
	var head parley.ConversationView
	w.NoError(json.Unmarshal(lines.Bytes(), &head))
	same(t, "conversation", []any{head.ID, head.Name, head.Topic, head.Members, head.Messages},
		[]any{open.ID, "open", open.Topic, []string{"arya", "ned"}, int64(len(bodies))})
	var got []parley.Message
	for lines.Scan() {
		var m parley.Message
		w.NoError(json.Unmarshal(lines.Bytes(), &m))
		got = append(got, m)
		if !m.Intact() {
			t.Errorf("the checksum of %q does not hold", m.Content.Text)
		}
	}
	same(t, "messages", got, want)
}

func TestExportGoesOnBeyondOnePage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	const n = 501
	drafts := make([]parley.Draft, n)
	for i := range drafts {
		drafts[i] = parley.Draft{Conversation: "open", Content: text(strconv.Itoa(i))}
	}
	postAtOnce(w, drafts, func(int) string { return "user" })
	same(t, "lines", strings.Count(export(w, "user", "open", "jsonl"), "\n"), n+1)
}

func TestMarkdownExport(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateConversationAs("arya", parley.NewConversation{Name: "open", With: []string{"ned"}, Topic: "winter"})
	first := w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: parley.Content{Text: "look", Code: "a ``` b"}}).Message
	second := w.SayIn("ned", "open", "seen").Message
	same(t, "markdown", export(w, "user", "open", "markdown"), `# #open

channel · 2 messages · arya, ned

> winter

## arya → ned

2026-03-01T09:00:00Z · chat · `+first.ID+`

> look

`+"> ````\n> a ``` b\n> ````"+`

## ned

2026-03-01T09:00:00Z · chat · `+second.ID+`

> seen
`)
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreatePrivateChannel("arya", "closed")
	w.assertRefusals(t, []refusal{
		{
			"an unknown format", func() error { return w.Export(ctx, as("arya"), "closed", "pdf", io.Discard) },
			refusalError(parley.BadInput, "", `unknown export format "pdf"`, "use jsonl or markdown"),
		},
		{
			"the unseen", func() error { return w.Export(ctx, as("ned"), "closed", "jsonl", io.Discard) },
			notFoundError("conversation", "closed", listConversations),
		},
	})
	for _, format := range []string{"jsonl", "markdown"} {
		if err := w.Export(ctx, as("arya"), "closed", format, fullDisk{}); !errors.Is(err, errFull) {
			t.Errorf("%s on a full disk: %v", format, err)
		}
	}
}
