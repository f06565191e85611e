package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// sourceCopy is the source of the copies of responses.
const sourceCopy = "callback"

// subjectPrefix is the prefix of a callback that names a NATS subject, not a conversation.
const subjectPrefix = "parley."

// CopyTarget returns where the sender of a message wants a copy of the response, or "". It reads the payload, as in ClawOS, and
// then the metadata, where messages in other formats have it.
func CopyTarget(m parley.Message) string {
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

// findCopyConversation returns the conversation that gets a copy of the response to a request. found is false if the request
// names none, or if its sender may not write there.
func findCopyConversation(u *unit.Unit, request parley.Message) (where parley.Conversation, found bool, err error) {
	name := CopyTarget(request)
	if request.Type != parley.TypeRequest || name == "" || strings.HasPrefix(name, subjectPrefix) || !trees.IsStorable(name) {
		return where, false, nil
	}
	sender, err := u.Agents().Find(request.From)
	if err != nil {
		return where, false, err
	}
	where, err = conversations.FindConversation(u.As(sender), name)
	if parley.CodeOf(err) == parley.BadInput { // the name is ambiguous
		return where, false, nil
	}
	if err != nil {
		return where, false, unit.IgnoreNotFound(err)
	}
	isMember, err := conversations.TakesPart(u, where, request.From)
	return where, isMember || where.ReadableByAll(), err
}

// AddCopyNotice adds a notice to the receipt of a request whose callback is no conversation that its sender may write in.
func AddCopyNotice(u *unit.Unit, m parley.Message, r *parley.Receipt) error {
	name := CopyTarget(m)
	if m.Type != parley.TypeRequest || name == "" || strings.HasPrefix(name, subjectPrefix) {
		return nil
	}
	_, found, err := findCopyConversation(u, m)
	if err == nil && !found {
		r.Notices = append(r.Notices, fmt.Sprintf("nobody else gets a copy of the response: there is no conversation %q in which you may write", unit.Clipped(name)))
	}
	return err
}

// CopyAnswered posts a copy of the answer when a delivery becomes answered.
func CopyAnswered(u *unit.Unit, before, after parley.Delivery) error {
	if after.State != parley.DeliveryAnswered || before.AnsweredAt != nil || after.Answer == "" {
		return nil
	}
	return copyAnswer(u, after)
}

// copyAnswer posts a copy of the answer in the conversation that the request names. It does nothing for a request that began a
// task, because CopyEnd posts the end of the task.
func copyAnswer(u *unit.Unit, d parley.Delivery) error {
	request, err := u.Messages().Get(d.Message)
	if err != nil || CopyTarget(request) == "" {
		return unit.IgnoreNotFound(err)
	}
	if _, err := u.Tasks().BegunBy(request.ID); !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	answer, err := u.Messages().Get(d.Answer)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	status := "success"
	if answer.Type == parley.TypeError {
		status = "failure"
	}
	return copyBack(u, request, d.Recipient, status, parley.Wording{}.Quote(answer.From, answer.Content.Text))
}

// CopyEnd posts the end of a task in the conversation that its request names.
func CopyEnd(u *unit.Unit, t parley.Task) error {
	if t.Message == "" {
		return nil
	}
	request, err := u.Messages().Get(t.Message)
	if err != nil || CopyTarget(request) == "" {
		return unit.IgnoreNotFound(err)
	}
	assignee, err := u.Agents().Find(t.Assignee)
	if err != nil {
		return err
	}
	status := "failure"
	if t.Status == parley.TaskCompleted {
		status = string(t.Outcome)
	}
	return copyBack(u, request, t.Assignee, status, t.CallbackWording(assignee.Name))
}

func copyBack(u *unit.Unit, request parley.Message, from, status string, text parley.Wording) error {
	where, found, err := findCopyConversation(u, request)
	if err != nil || !found || where.ID == request.Conversation {
		return err
	}
	payload, err := json.Marshal(map[string]string{"requestId": request.ID, "status": status, "from": from})
	if err != nil {
		return err
	}
	_, err = messages.PostAsHub(u, parley.Message{
		Conversation: where.ID, Type: parley.TypeResponse, TraceID: request.TraceID, Hops: request.Hops + 1, Source: sourceCopy, Payload: payload,
	}, u.Core.FittingWords(text))
	return err
}
