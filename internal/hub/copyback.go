package hub

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// sourceCopy is the source of the copies of responses.
const sourceCopy = "callback"

// subjectPrefix begins a callback that is a subject of a message bus, and no conversation.
const subjectPrefix = "parley."

// callbackOf is where the response to a message is wanted too, as S1's payload says, or the metadata of what had another
// form.
func callbackOf(m parley.Message) string {
	for _, raw := range []json.RawMessage{m.Payload, m.Metadata} {
		var p struct {
			Callback string `json:"callback"`
		}
		if bytes.Contains(raw, []byte(`"callback"`)) && json.Unmarshal(raw, &p) == nil && p.Callback != "" {
			return p.Callback
		}
	}
	return ""
}

// copyPlace is the conversation that gets a copy of the response to a request, if its sender may write there.
func (s *scene) copyPlace(request parley.Message) (where parley.Conversation, found bool, err error) {
	name := callbackOf(request)
	if request.Type != parley.TypeRequest || name == "" || strings.HasPrefix(name, subjectPrefix) || !keepable(name) {
		return where, false, nil
	}
	sender, err := s.Agents().Find(request.From)
	if err != nil {
		return where, false, err
	}
	where, err = s.As(sender).findConversation(name)
	if parley.CodeOf(err) == parley.BadInput { // it stands for several
		return where, false, nil
	}
	if err != nil {
		return where, false, ignoreNotFound(err)
	}
	in, err := s.takesPart(where, request.From)
	return where, in || where.ReadableByAll(), err
}

// callbackNotice tells the sender of a request that nobody will get the response beside it.
func (s *scene) callbackNotice(m parley.Message, r *parley.Receipt) error {
	name := callbackOf(m)
	if m.Type != parley.TypeRequest || name == "" || strings.HasPrefix(name, subjectPrefix) {
		return nil
	}
	_, found, err := s.copyPlace(m)
	if err == nil && !found {
		r.Notices = append(r.Notices, fmt.Sprintf("the response goes to nobody else: you write in no conversation %q", clipped(name)))
	}
	return err
}

// copyAnswered follows a delivery that is answered now.
func (s *scene) copyAnswered(before, after parley.Delivery) error {
	if after.State != parley.DeliveryAnswered || before.AnsweredAt != nil || after.Answer == "" {
		return nil
	}
	return s.copyAnswer(after)
}

// copyAnswer has the conversation that a request names get its answer too. What began a task is answered by its end.
func (s *scene) copyAnswer(d parley.Delivery) error {
	request, err := s.Messages().Get(d.Message)
	if err != nil || callbackOf(request) == "" {
		return ignoreNotFound(err)
	}
	if _, err := s.Tasks().Begun(request.ID); !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	answer, err := s.Messages().Get(d.Answer)
	if err != nil {
		return ignoreNotFound(err)
	}
	status := "success"
	if answer.Type == parley.TypeError {
		status = "failure"
	}
	return s.copyBack(request, d.Recipient, status, parley.Wording{}.Quote(answer.From, answer.Content.Text))
}

// copyEnd does so with how the task has ended that a request began.
func (s *scene) copyEnd(t parley.Task) error {
	if t.Message == "" {
		return nil
	}
	request, err := s.Messages().Get(t.Message)
	if err != nil || callbackOf(request) == "" {
		return ignoreNotFound(err)
	}
	assignee, err := s.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	status := "failure"
	if t.Status == parley.TaskCompleted {
		status = string(t.Outcome)
	}
	return s.copyBack(request, t.Assignee, status, t.CallbackWording(assignee.Name))
}

func (s *scene) copyBack(request parley.Message, from, status string, text parley.Wording) error {
	where, found, err := s.copyPlace(request)
	if err != nil || !found || where.ID == request.Conversation {
		return err
	}
	payload, err := json.Marshal(map[string]string{"requestId": request.ID, "status": status, "from": from})
	if err != nil {
		return err
	}
	_, err = s.speak(parley.Message{
		Conversation: where.ID, Type: parley.TypeResponse, TraceID: request.TraceID, Hops: request.Hops + 1, Source: sourceCopy, Payload: payload,
	}, s.hub.fittingWords(text))
	return err
}
