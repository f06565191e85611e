package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parley-hub/parley"
)

// damaged says why a delivery must not be handed out: its row or its message is damaged. Nil if both are intact.
func damaged(d parley.Delivery, m parley.Message) *parley.Error {
	if d.Damage != nil {
		return d.Damage.Err()
	}
	return m.Damage
}

// endDamaged ends a damaged delivery and tells its sender. A settled delivery stays settled: it was fetched at most once,
// and that has failed.
func (s *scene) endDamaged(d *parley.Delivery, why *parley.Error) error {
	if d.State.Settled() {
		return s.tell(*d, why, true)
	}
	if err := s.remember(d); err != nil {
		return err
	}
	return s.end(d, parley.DeliveryFailed, why)
}

// remember restores the purpose of a delivery whose row is damaged, from the ask or task that it belongs to. Otherwise that
// ask or task would wait for ever.
func (s *scene) remember(d *parley.Delivery) error {
	if d.Damage == nil {
		return nil
	}
	w, err := s.Waits().Ask(d.Message)
	if err == nil && w.Target == d.Recipient {
		d.Waking, d.Purpose = true, parley.PurposeAsk
		return nil
	}
	if err = ignoreNotFound(err); err != nil {
		return err
	}
	if d.Purpose != "" { // only an error is quiet
		d.Waking = d.Purpose != parley.PurposeError
		return nil
	}
	m, err := s.Messages().Get(d.Message)
	if err == nil && m.Task != "" {
		d.Waking, d.Purpose = true, parley.PurposeTask
	}
	return ignoreNotFound(err)
}

// taskDamaged is called when a delivery has ended because it is damaged. Its task has failed, unless the task goes on without
// it. If the message no longer names its task, taskDamaged fails the active tasks of its recipient that do not go on.
func (s *scene) taskDamaged(d parley.Delivery) error {
	t, mine, err := s.taskBehind(d)
	if err != nil {
		return err
	}
	if mine {
		return s.failUnlessOn(t, because(*d.Failure, d.Recipient))
	}
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil || d.Purpose == "" || !recipient.Dispatched() {
		return err // others end their tasks themselves
	}
	list, err := s.Tasks().Assigned(d.Recipient)
	for _, t := range list {
		if err == nil {
			t, err = s.Tasks().Get(t.ID) // it may have ended with another
		}
		if err == nil && t.Status == parley.TaskActive {
			err = s.failUnlessOn(t, because(*d.Failure, d.Recipient))
		}
	}
	return err
}

// taskBegunBy is the task that a damaged message began. The message itself no longer names it.
func (s *scene) taskBegunBy(message string) (string, error) {
	t, err := s.Tasks().Begun(message)
	return t.ID, ignoreNotFound(err)
}

// sift removes damaged deliveries from a take, and ends them.
func (h *Hub) sift(ctx context.Context, caller Caller, taken parley.Taken) (parley.Taken, error) {
	whole := parley.Taken{Lease: taken.Lease, For: taken.For}
	bad := map[string]*parley.Error{}
	for i, d := range taken.Deliveries {
		if why := damaged(d, taken.Messages[i]); why != nil {
			bad[d.Message] = why
			continue
		}
		whole.Deliveries, whole.Messages = append(whole.Deliveries, d), append(whole.Messages, taken.Messages[i])
	}
	if len(bad) == 0 {
		return taken, nil
	}
	err := h.write(ctx, caller, opTake, func(s *scene) error {
		for _, d := range taken.Deliveries {
			if why := bad[d.Message]; why != nil {
				if err := s.endDamaged(&d, why); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return whole, err
}

// lost makes a stand-in for a message that a delivery names and that is missing, though its conversation exists: a message
// must stay as long as a delivery of it is open.
func (s *scene) lost(d parley.Delivery) (m parley.Message, found bool, err error) {
	if d.State.Settled() {
		return m, false, nil // then it may have been erased
	}
	if d.Damage == nil {
		now, err := s.Deliveries().Get(d.Message, d.Recipient)
		if err = ignoreNotFound(err); err != nil {
			return m, false, err
		}
		if now.Message != "" {
			return m, false, nil // it has ended meanwhile, or can be read again
		}
		if _, err := s.Conversations().Find(d.Conversation); err != nil {
			return m, false, ignoreNotFound(err)
		}
	}
	damage := parley.Damage{What: "message", Seq: d.Seq, ID: d.Message, Why: "it cannot be found by its id"}
	return parley.DamagedMessage(damage, d.Conversation), true, nil
}

// damageAlert is the name of the alert that something stored is damaged.
const damageAlert = "damage"

// maxDamageShown bounds what the alert lists. The deep check lists everything.
const maxDamageShown = 20

// damageLog is what was found damaged while the process runs.
type damageLog struct {
	saying sync.Mutex // held while the owners are told; taken before mu
	mu     sync.Mutex
	found  []parley.Damage
}

func (l *damageLog) add(list ...parley.Damage) (fresh []parley.Damage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range list {
		if !slices.Contains(l.found, d) && len(l.found) < 1000 {
			l.found, fresh = append(l.found, d), append(fresh, d)
		}
	}
	return fresh
}

// alert is the alert for the owners: the first findings, and how many more there are.
func (l *damageLog) alert() (a parley.Alert, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.found) == 0 {
		return a, false
	}
	var words []string
	for _, d := range l.found[:min(maxDamageShown, len(l.found))] {
		words = append(words, d.String())
	}
	if more := len(l.found) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return parley.Alert{
		Name: damageAlert, Title: "Stored data is damaged",
		Message:    "stored data is damaged and is not served: " + strings.Join(words, "; "),
		Suggestion: "check the disk, run `parley doctor --deep` for the whole list, and restore a backup to get it back",
		Facts:      map[string]any{"damaged": slices.Clone(l.found[:min(maxDamageShown, len(l.found))]), "count": len(l.found)},
	}, true
}

// noteDamage logs what is damaged, once each, and alerts the owners.
func (h *Hub) noteDamage(ctx context.Context, list ...parley.Damage) {
	for _, d := range h.damage.add(list...) {
		h.config.Log.Error("stored data is damaged and is not served", "what", d.What, "seq", d.Seq, "id", d.ID, "why", d.Why)
	}
	h.damage.saying.Lock()
	defer h.damage.saying.Unlock()
	a, found := h.damage.alert()
	if !found {
		return
	}
	if h.alerts.has(a) { // whoever asks for the status sees what has been found since
		h.alerts.amend(a)
		return
	}
	if err := h.Alert(ctx, a, true); err != nil {
		h.config.Log.Warn("cannot store the alert about damage; the next sweep tries again", "error", err)
	}
}

// lookForDamage takes the damage that the store has found, and alerts the owners. If the alert cannot be stored, the next
// sweep tries again.
func (h *Hub) lookForDamage(ctx context.Context) {
	if source, notices := h.store.(parley.DamageSource); notices {
		h.noteDamage(ctx, source.Damages()...)
	}
}

// watchDamage handles the damage that the store finds while it reads.
func (h *Hub) watchDamage(ctx context.Context, started func()) {
	started()
	source, notices := h.store.(parley.DamageSource)
	if !notices {
		<-ctx.Done()
		return
	}
	for {
		select {
		case <-source.Damaged():
			h.lookForDamage(ctx)
		case <-ctx.Done():
			return
		}
	}
}
