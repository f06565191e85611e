package tracetree

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // draws the same values in every run of CI
)

var began = time.Date(2026, 2, 25, 18, 50, 0, 0, time.UTC)

func later(ms int) *time.Time {
	t := began.Add(time.Duration(ms) * time.Millisecond)
	return &t
}

// conversed returns a trace: a question, the run that it woke, the messages of the run, and a person's reply.
func conversed() parley.Traced {
	return parley.Traced{
		Items: []parley.Shown{
			{Message: parley.Message{ID: "m1", From: "user", Type: parley.TypeRequest, Content: parley.Content{Text: "How is it?"}}, Deliveries: []parley.Delivery{{
				Recipient: "arya", State: parley.DeliveryAnswered, AcceptedAt: began, DeliveredAt: later(12), SeenAt: later(15), SettledAt: later(4015), AnsweredAt: later(4015),
			}}},
			{Message: parley.Message{ID: "m2", From: "arya", Type: parley.TypeChat}, Deliveries: []parley.Delivery{{
				Recipient: "gendry", State: parley.DeliveryDead, AcceptedAt: began, Attempt: 5, Failure: parley.Errorf(parley.DependencyFailed, "no"),
			}}},
			{Message: parley.Message{ID: "m3", From: "arya", InReplyTo: "m1", Type: parley.TypeResponse}, Deliveries: []parley.Delivery{{
				Recipient: "user", State: parley.DeliveryAccepted, AcceptedAt: began,
			}}},
			{Message: parley.Message{ID: "m4", From: "user", InReplyTo: "m3", Type: parley.TypeChat, Content: parley.Content{Text: "a;b#c"}}},
		},
		Runs: []parley.RunView{{
			Run: parley.Run{
				ID: "r1", Number: 1, Agent: "arya", State: parley.RunSucceeded, Triggers: []string{"m0", "m1"}, CreatedAt: began, StartedAt: later(15), EndedAt: later(4015),
				Usage: parley.Usage{InputTokens: 100, OutputTokens: 20, Cost: .0125},
			},
			Posts: []string{"m2", "m3"},
		}},
	}
}

func TestTree(t *testing.T) {
	got := strings.Join(Lines(conversed(), func(m parley.Shown) string { return m.ID + " " + m.From }), "\n")
	want := `m1 user
└─ arya  delivered 12ms, seen 3ms, answered 4.0s
   └─ run-1 of arya, succeeded, 4.0s, 120 tokens, $0.0125
      ├─ m2 arya
      │  └─ gendry  dead, failed attempts: 5
      └─ m3 arya
         ├─ user  accepted
         └─ m4 user`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRunOfAnotherTrace: what woke it is not shown, but what it has posted is.
func TestRunOfAnotherTrace(t *testing.T) {
	trace := parley.Traced{
		Items: []parley.Shown{{Message: parley.Message{ID: "m1", From: "arya", Type: parley.TypeChat, Content: parley.Content{Text: "hello"}}}},
		Runs:  []parley.RunView{{Run: parley.Run{ID: "r1", Number: 1, Agent: "arya", State: parley.RunRunning, Triggers: []string{"elsewhere"}}, Posts: []string{"m1"}}},
	}
	got := strings.Join(Lines(trace, func(m parley.Shown) string { return m.ID + " " + m.From }), "\n")
	if want := "run-1 of arya, running\n└─ m1 arya"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want := "sequenceDiagram\n    participant p1 as arya\n    Note over p1: run-1 of arya, running\n    Note over p1: chat hello\n"
	if got := Mermaid(trace); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMermaid(t *testing.T) {
	want := `sequenceDiagram
    participant p1 as user
    participant p2 as arya
    participant p3 as gendry
    p1->>p2: request How is it?
    Note over p2: delivered 12ms, seen 3ms, answered 4.0s
    Note over p2: run-1 of arya, succeeded, 4.0s, 120 tokens, #36;0.0125
    p2-xp3: chat
    Note over p3: dead, failed attempts#58; 5
    p2-->>p1: response
    Note over p1: accepted
    Note over p1: chat a#59;b#35;c
`
	if got := Mermaid(conversed()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAsksAreShown: a diagram notes at the asker where its ask stands.
func TestAsksAreShown(t *testing.T) {
	for want, state := range map[string]parley.AskState{
		"ask waiting":                     {State: parley.WaitWaiting, Since: began},
		"ask late, task-7":                {State: parley.WaitLate, Since: began, Task: "task-7"},
		"ask answered after 4.0s, task-7": {State: parley.WaitAnswered, Since: began, EndedAt: later(4015), Task: "task-7"},
		"ask failed after 12ms":           {State: parley.WaitFailed, Since: began, EndedAt: later(12)},
	} {
		if got := AskText(state); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		trace := conversed()
		trace.Items[0].Ask = &state
		if drawn := Mermaid(trace); !strings.Contains(drawn, "\n    Note over p1: "+want+"\n") {
			t.Errorf("%s is not in\n%s", want, drawn)
		}
	}
}

func TestCutTraceSaysSo(t *testing.T) {
	trace := conversed()
	trace.Cut = true
	const says = "only the newest 4 messages are shown, the trace has more"
	if first := Lines(trace, func(m parley.Shown) string { return m.ID })[0]; first != says {
		t.Errorf("the tree begins with %q", first)
	}
	if drawn := Mermaid(trace); !strings.Contains(drawn, "\n    Note over p1: "+says+"\n") {
		t.Errorf("the diagram is\n%s", drawn)
	}
}

// aLabel matches a label of a diagram: letters, digits, a few signs, and entities.
const aLabel = `([\pL\pM\p{Nd} .,!?()_…-]|#[0-9]+;)+`

var grammar = regexp.MustCompile(`^(sequenceDiagram|    participant p[0-9]+ as ` + aLabel + `|    p[0-9]+(->>|-->>|-x|--x)p[0-9]+: ` + aLabel +
	`|    Note over p[0-9]+: ` + aLabel + `)$`)

// TestNoTextBreaksADiagram: whatever is said, each line is one of a sequence diagram, and there are as many as without
// it.
func TestNoTextBreaksADiagram(t *testing.T) {
	plain := strings.Count(Mermaid(conversed()), "\n")
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"x\nend", "; participant z", "%%{init: {}}%%", "a: b", "<script>", "-->>p1: y", "\x00\u2028\u0085x", "note over", "end", "\"", "`#quot;", "\xff",
	}))
	rapid.Check(t, func(t *rapid.T) {
		trace := conversed()
		for i := range trace.Items {
			trace.Items[i].Content.Text = hostile.Draw(t, "text")
			trace.Items[i].Type = parley.Type(hostile.Draw(t, "type"))
		}
		trace.Runs[0].Agent = "arya"
		trace.Runs[0].ID = hostile.Draw(t, "run")
		drawn := Mermaid(trace)
		lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
		if len(lines) != plain {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), plain, drawn)
		}
		for _, line := range lines {
			if !grammar.MatchString(line) {
				t.Fatalf("%q is no line of a diagram", line)
			}
		}
	})
}
