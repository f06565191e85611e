package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// move takes a delivery to another state, by every state on the way, and writes the event. It is the
// only place where the state of a delivery changes. edit sets what goes with it.
func (s *scene) move(d *parley.Delivery, to parley.DeliveryState, edit func(*parley.Delivery)) error {
	after := *d
	for _, next := range d.State.Path(to) {
		if !after.State.May(next) {
			return wrongStep(*d, to)
		}
		after.State = next
		stamp(&after, s.now)
	}
	if edit != nil {
		edit(&after)
	}
	before := *d
	if err := s.keep(d, after); err != nil {
		return err
	}
	if after.Ready() {
		s.wake(after.Recipient)
	}
	if err := s.noteDelivery(parley.EventDelivery(after.State), after); err != nil {
		return err
	}
	for _, follow := range s.hub.hooks.deliveryMoved {
		if err := follow(s, before, after); err != nil {
			return err
		}
	}
	return nil
}

// purposeMoved has what a delivery was for follow its step: the ask is over, the task has begun, or has failed. Where
// fetching is all the ack there is, an answer is still waited for.
func (s *scene) purposeMoved(before, after parley.Delivery) error {
	if !after.Waking {
		return nil
	}
	over := after.State.Settled() || after.State == parley.DeliveryDead
	fetched := s.fetching && after.State == parley.DeliveryAcked
	switch {
	case after.Purpose == parley.PurposeAsk && over && !fetched:
		return s.askEnded(after)
	case after.Purpose == parley.PurposeError || after.Purpose == parley.PurposeAsk:
		return nil
	case over && after.State != parley.DeliveryAcked && after.State != parley.DeliveryAnswered:
		return s.taskDeliveryEnded(after)
	case after.Purpose == parley.PurposeTask && before.SeenAt == nil && after.SeenAt != nil:
		return s.taskSeen(after)
	default:
		return nil
	}
}

// keep stores a changed delivery without a change of state. A lease is stored with the hub that gave or extended it last.
func (s *scene) keep(d *parley.Delivery, after parley.Delivery) error {
	after.Node = ""
	if after.Lease != "" {
		after.Node = s.hub.config.Node
	}
	err := s.Deliveries().Put(*d, after)
	if err == nil {
		*d = after
		s.touch(d.Message)
	}
	return err
}

// stamp gives a step its time. Whatever was begun is undone by going back to the start, and nobody has
// what is settled.
func stamp(d *parley.Delivery, now time.Time) {
	switch d.State {
	case parley.DeliveryAccepted:
		d.DeliveredAt, d.SeenAt, d.SettledAt, d.Run = nil, nil, nil, ""
	case parley.DeliveryDelivered:
		d.DeliveredAt = &now
		return
	case parley.DeliverySeen:
		d.SeenAt = &now
		return
	case parley.DeliveryAnswered:
		d.AnsweredAt = &now
	}
	d.Lease, d.Until = "", 0
	if d.State.Settled() && d.SettledAt == nil {
		d.SettledAt = &now
	}
}

func wrongStep(d parley.Delivery, to parley.DeliveryState) error {
	return parley.Errorf(parley.BadInput, "message %s for %s is %s and cannot become %s", d.ShortName(), d.Recipient, d.State, to).
		Because(parley.Conflict).Suggest("look at what has become of it")
}

func (s *scene) noteDelivery(kind parley.EventKind, d parley.Delivery) error {
	data, err := json.Marshal(struct {
		State   parley.DeliveryState `json:"state"`
		Seq     int64                `json:"seq"` // of the message
		PairSeq int64                `json:"pair_seq"`
		Attempt int                  `json:"attempt,omitempty"`
		Run     string               `json:"run,omitempty"`
		Answer  string               `json:"answer,omitempty"`
		Failure *parley.Error        `json:"failure,omitempty"`
	}{d.State, d.Seq, d.PairSeq, d.Attempt, d.Run, d.Answer, d.Failure})
	e := parley.Event{Kind: kind, Conversation: d.Conversation, Agent: d.Recipient, Data: data}
	if parley.IsUUID(d.Message) { // it may be damaged
		e.Message = d.Message
	}
	s.note(e)
	return err
}

// end takes a delivery to a failure it will not leave by itself, and tells the sender. The try that
// somebody had begun has failed with it.
func (s *scene) end(d *parley.Delivery, to parley.DeliveryState, cause *parley.Error) error {
	attempt := d.Attempt
	if d.State == parley.DeliveryDelivered || d.State == parley.DeliverySeen {
		attempt++
	}
	err := s.move(d, to, func(d *parley.Delivery) { d.Attempt, d.Failure = attempt, cause })
	if err != nil {
		return err
	}
	for _, follow := range s.hub.hooks.deliveryFailed {
		if err := follow(s, *d, cause); err != nil {
			return err
		}
	}
	return nil
}

// tellFailed tells the sender of a delivery that has ended in a failure.
func (s *scene) tellFailed(d parley.Delivery, cause *parley.Error) error {
	return s.tell(d, cause, true)
}

// giveBack is what happens to a delivery when somebody had it and could not go on: it is tried again
// after a pause, or ends.
func (s *scene) giveBack(d *parley.Delivery, f parley.Failure, cause *parley.Error, wait time.Duration) error {
	return s.giveBackAfter(d, f, cause, max(wait, f.Pause(d.Attempt+1)))
}

// giveBackAfter is giveBack with exactly this pause.
func (s *scene) giveBackAfter(d *parley.Delivery, f parley.Failure, cause *parley.Error, pause time.Duration) error {
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	tries := d.Attempt + 1
	if over, err := s.unwanted(d, recipient); err != nil || over {
		return err
	}
	switch {
	case d.Purpose == parley.PurposeAsk && recipient.Stopped != nil:
		return s.end(d, parley.DeliveryFailed, failed(d.Recipient, parley.Trouble{Failure: parley.FailureStopped, Reason: whyStopped}))
	case f == parley.FailureStopped:
		return s.move(d, parley.DeliveryAccepted, nil)
	case f == parley.FailureFinal, d.Purpose == parley.PurposeAsk:
		return s.end(d, parley.DeliveryFailed, cause)
	case recipient.Kind == parley.KindAgent && tries >= recipient.Attempts:
		why := cause.Message
		if tries > 1 {
			why += fmt.Sprintf(" (%d attempts)", tries)
		}
		return s.die(d, parley.Errorf(cause.Code, "%s", why))
	}
	until := parley.Tick(0)
	if pause > 0 {
		now, err := s.Queue().Now()
		if err != nil {
			return err
		}
		until = now.After(pause)
	}
	return s.move(d, parley.DeliveryAccepted, func(d *parley.Delivery) { d.Attempt, d.Failure, d.Until = tries, cause, until })
}

// unwanted ends a returned delivery that no recipient can take any more, or whose work is no longer wanted.
func (s *scene) unwanted(d *parley.Delivery, recipient parley.Agent) (bool, error) {
	if recipient.RemovedAt != nil {
		return true, s.end(d, parley.DeliveryFailed, removed(recipient))
	}
	return s.outdated(d)
}

// die makes a dead letter of a delivery, and tells people.
func (s *scene) die(d *parley.Delivery, cause *parley.Error) error {
	if err := s.end(d, parley.DeliveryDead, cause.Suggest("an owner can retry or drop it: parley dead list")); err != nil {
		return err
	}
	return s.tellDead(*d)
}

func removed(a parley.Agent) *parley.Error {
	return wasRemoved(a.Name)
}

// tell lets the sender of a message know what has become of it, in its conversation. It wakes nobody,
// and an error never causes another.
func (s *scene) tell(d parley.Delivery, cause *parley.Error, final bool) error {
	about, awaited, err := s.toldAbout(d)
	if err != nil {
		return err
	}
	if about.Type == parley.TypeError || about.From == parley.System || final && awaited {
		return nil // who waits is told by the ask, or called back
	}
	sender, err := s.Agents().Find(about.From)
	if err != nil || sender.RemovedAt != nil {
		return err
	}
	payload, err := json.Marshal(struct {
		Error     *parley.Error        `json:"error"`
		Message   string               `json:"message"`
		Recipient string               `json:"recipient"`
		State     parley.DeliveryState `json:"state"`
		Final     bool                 `json:"final"`
	}{cause, d.Message, d.Recipient, d.State, final})
	if err != nil {
		return err
	}
	return s.say(parley.Message{
		TraceID: about.TraceID, Conversation: about.Conversation, To: sender.ID, Type: parley.TypeError, InReplyTo: about.ID, Payload: payload,
	}, sentence(cause, d.Recipient))
}

// toldAbout returns the message of a delivery, as its sender is told about it, and whether a participant waits for its
// outcome. For a damaged message the delivery names the sender and the conversation.
func (s *scene) toldAbout(d parley.Delivery) (about parley.Message, awaited bool, err error) {
	about, err = s.Messages().Get(d.Message)
	if about.Damage == nil && (d.Damage == nil || err == nil) {
		return about, isAsk(about) || d.Purpose == parley.PurposeTask && about.Task != "", err
	}
	about = parley.Message{From: d.From, Conversation: d.Conversation, Type: parley.TypeChat}
	if parley.IsUUID(d.Message) {
		about.ID, about.TraceID = d.Message, d.Message
	}
	return about, d.Purpose == parley.PurposeAsk || d.Purpose == parley.PurposeTask, ignoreNotFound(err)
}

// sentence is an error in words. Its reason may be the recipient's, or what its program has printed.
func sentence(e *parley.Error, recipient string) parley.Wording {
	w := parley.Framed(recipient, e.Sentence()).Own(missingStop(e.Message))
	if e.Suggestion != "" {
		w = w.Own(" Hint: ").Quote("", e.Suggestion).Own(missingStop(e.Suggestion))
	}
	return w
}

// missingStop is a full stop if the text does not end with one.
func missingStop(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "…") {
		return ""
	}
	return "."
}

// errorsKept is how long an error waits for somebody who never fetches: errors take no room in an inbox,
// so that nothing else would bound them.
const errorsKept = 7 * 24 * time.Hour

// say posts an error to one participant.
func (s *scene) say(m parley.Message, text parley.Wording) error {
	m.ExpiresAt = after(s.now, errorsKept)
	_, err := s.speak(m, text, parley.Reach{Agent: m.To, Purpose: parley.PurposeError})
	return err
}

// speak posts a message of the hub. It stores with the message which words others wrote, so that readers do not take them
// for the hub's.
func (s *scene) speak(m parley.Message, text parley.Wording, to ...parley.Reach) (parley.Message, error) {
	m.From = parley.System
	m, err := m.Say(text)
	if err != nil {
		return m, err
	}
	return s.utter(m, to...)
}

// utter posts what nobody has sent: what the hub itself says, or says for an agent. Where the conversation
// was deleted there is nobody to tell.
func (s *scene) utter(m parley.Message, to ...parley.Reach) (parley.Message, error) {
	where, err := s.Conversations().Find(m.Conversation)
	if errors.Is(err, parley.ErrNotFound) {
		return m, nil
	}
	if err == nil && where.ArchivedAt != nil {
		err = s.setArchived(&where, false)
	}
	if err == nil {
		err = s.writeEvents() // what the message is about comes before it
	}
	if err != nil {
		return m, err
	}
	m.ID, m.Priority, m.CreatedAt = newID(), parley.DefaultPriority, s.now
	setDefault(&m.Source, "hub")
	setDefault(&m.TraceID, m.ID)
	if m.Seq, err = s.Messages().NextSeq(); err != nil {
		return m, err
	}
	m.Checksum = m.Seal(m.BodyDigest())
	s.touch(m.Conversation)
	if err := s.Messages().Insert(m); err != nil {
		return m, err
	}
	_, err = s.deliver(m, to)
	return m, err
}
