package llm_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/internal/runtime/llm"
)

// contactThenAnswer makes a model call contact_agent once, and then answer.
func contactThenAnswer(args string) func(modeltest.Request) modeltest.Answer {
	return modeltest.InOrder(
		modeltest.Answer{Calls: []modeltest.Call{{ID: "a", Name: "contact_agent", Args: args}}},
		modeltest.Answer{Text: "Done."},
	)
}

func TestOthersAreContacted(t *testing.T) {
	late := parley.Errorf(parley.TimedOut, "DataBot did not respond within 120 seconds. Consider using 'delegate' for async processing. The answer will be delivered when it comes.")
	for name, test := range map[string]struct {
		args    string
		answer  string // the answer to an ask
		text    string // the text of another contact, which the model must read
		fails   error
		want    parley.Contact
		reading string // the text that the model must read instead
	}{
		"ask": {
			args:    `{"action":"ask","agentId":"databot","message":"What was Q4 revenue?"}`,
			answer:  "Q4 revenue was $2.4M, up 18% YoY.",
			want:    parley.Contact{Pattern: parley.PatternAsk, Agent: "databot", Message: "What was Q4 revenue?"},
			reading: "Response from DataBot:\nwritten by databot:\n| Q4 revenue was $2.4M, up 18% YoY.\n",
		},
		"delegate": {
			args: `{"action":"delegate","agentId":"WriterBot","message":"Draft it","context":"For Friday."}`,
			text: "Delegated to WriterBot (subtask task-101). You'll receive the result automatically when WriterBot finishes.",
			want: parley.Contact{Pattern: parley.PatternDelegate, Agent: "WriterBot", Message: "Draft it", Context: "For Friday."},
		},
		"held": {
			args: `{"action":"ask","agentId":"senior","message":"Is it right?"}`, fails: &parley.Held{},
			want:    parley.Contact{Pattern: parley.PatternAsk, Agent: "senior", Message: "Is it right?"},
			reading: "This action requires approval. Waiting for approval...",
		},
		"late": {
			args: `{"action":"ask","agentId":"databot","message":"MRR?"}`, fails: late,
			want:    parley.Contact{Pattern: parley.PatternAsk, Agent: "databot", Message: "MRR?"},
			reading: "Error: " + late.Message,
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, kind llm.Kind) {
				s := newFixture(t, kind, contactThenAnswer(test.args))
				hub := &workspace{contact: func(context.Context, parley.Contact) (parley.Contacted, error) {
					if test.answer != "" {
						return parley.Contacted{}.Answered(parley.Agent{ID: "databot", Name: "DataBot"}, test.answer), nil
					}
					return parley.Contacted{Text: test.text}, test.fails
				}}
				s.request.Workspace = hub
				if result, err := s.run(t); err != nil || result.Text != "Done." {
					t.Fatalf("%+v, %v", result, err)
				}
				if len(hub.contacted) != 1 || !reflect.DeepEqual(hub.contacted[0], test.want) {
					t.Errorf("contacted %+v, want %+v", hub.contacted, test.want)
				}
				if want := test.text + test.reading; !s.api.Requests()[1].HasText(want) {
					t.Errorf("the model does not read %q: %q", want, s.api.Requests()[1].Texts)
				}
			})
		})
	}
}

// TestAWaitingCallEndsWithItsRun checks that only the deadline of the run limits how long a call may wait, and that the model
// gets no result of a call that the end of the run has ended.
func TestAWaitingCallEndsWithItsRun(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, contactThenAnswer(`{"action":"ask","agentId":"databot","message":"MRR?"}`))
		over := errors.New("the run's time is up")
		ctx, end := context.WithCancelCause(t.Context())
		defer end(nil)
		s.request.Workspace = &workspace{contact: func(ctx context.Context, _ parley.Contact) (parley.Contacted, error) {
			if _, limited := ctx.Deadline(); limited {
				t.Error("a call has a deadline of its own")
			}
			end(over)
			<-ctx.Done()
			return parley.Contacted{}, ctx.Err()
		}}
		if _, err := s.runtime.Run(ctx, s.request); !errors.Is(err, over) || len(s.api.Requests()) != 1 {
			t.Errorf("the run ended with %v after %d requests", err, len(s.api.Requests()))
		}
	})
}
