package alerts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// damageAlert is the name of the alert about damaged data.
const damageAlert = "damage"

// maxDamageShown bounds what the alert lists. The deep check lists everything.
const maxDamageShown = 20

// damageLog is the damage found since the process started.
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
		Suggestion: "check the disk, run `parley doctor --deep` for the whole list, and restore a backup to recover the data",
		Facts:      map[string]any{"damaged": slices.Clone(l.found[:min(maxDamageShown, len(l.found))]), "count": len(l.found)},
	}, true
}

// NoteDamage logs each damage once and alerts the owners.
func NoteDamage(ctx context.Context, s *Service, list ...parley.Damage) {
	for _, d := range s.damage.add(list...) {
		s.Config.Log.Error("stored data is damaged and is not served", "what", d.What, "seq", d.Seq, "id", d.ID, "why", d.Why)
	}
	s.damage.saying.Lock()
	defer s.damage.saying.Unlock()
	a, found := s.damage.alert()
	if !found {
		return
	}
	if s.Alerts.Has(a) { // the status shows the newest findings
		s.Alerts.amend(a)
		return
	}
	if err := s.Alert(ctx, a, true); err != nil {
		s.Config.Log.Warn("cannot store the alert about damage; the next sweep retries", "error", err)
	}
}

// CollectDamage takes the damage that the store has found, and alerts the owners. If the hub cannot store the alert, the next sweep
// retries.
func CollectDamage(ctx context.Context, s *Service) {
	if source, notices := s.Store.(storage.DamageSource); notices {
		NoteDamage(ctx, s, source.Damages()...)
	}
}

// watchDamage handles the damage that the store finds while it reads.
func (s *Service) watchDamage(ctx context.Context, started func()) {
	started()
	source, notices := s.Store.(storage.DamageSource)
	if !notices {
		<-ctx.Done()
		return
	}
	for {
		select {
		case <-source.Damaged():
			CollectDamage(ctx, s)
		case <-ctx.Done():
			return
		}
	}
}
