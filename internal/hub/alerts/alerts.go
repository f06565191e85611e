// Package alerts holds what needs a person: alerts of the hub, damaged rows, the disk.
package alerts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core

	Alerts alerts
	damage damageLog
}

// Background returns the background task that watches for damage.
func Background(s *Service) []unit.Background { return []unit.Background{s.watchDamage} }

// New makes the use cases from the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// alerts are the alerts that are on. A restart forgets them, and the checks raise them again.
type alerts struct {
	mu sync.Mutex
	on map[string]parley.Alert
}

func alertKey(a parley.Alert) string { return a.Name + "/" + a.Agent }

// List returns the alerts that are on, by name and agent.
func (a *alerts) List() []parley.Alert {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.AppendSeq([]parley.Alert{}, maps.Values(a.on))
	slices.SortFunc(list, func(x, y parley.Alert) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Agent, y.Agent))
	})
	return list
}

// Has reports whether an alert of the same name and agent is on.
func (a *alerts) Has(alert parley.Alert) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, found := a.on[alertKey(alert)]
	return found
}

func (a *alerts) set(alert parley.Alert, on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !on {
		delete(a.on, alertKey(alert))
		return
	}
	if a.on == nil {
		a.on = map[string]parley.Alert{}
	}
	a.on[alertKey(alert)] = alert
}

// amend replaces the text and figures of an alert that is on. The time since which it is on stays.
func (a *alerts) amend(alert parley.Alert) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, on := a.on[alertKey(alert)]; on {
		alert.Since = before.Since
		a.on[alertKey(alert)] = alert
	}
}

// Alert turns an alert on or off. The hub writes one event and notifies the owners once; the status shows the alert as long as it is
// on. A repeated call changes nothing. After an error the alert is unchanged, and the caller calls again.
func (s *Service) Alert(ctx context.Context, a parley.Alert, on bool) error {
	if on {
		return s.RaiseAlerts(ctx, a)
	}
	if !s.Alerts.Has(a) {
		return nil
	}
	data, err := alertData(a, false)
	if err != nil {
		return err
	}
	s.Config.Log.Info("an alert has ended", "alert", a.Name, "agent", a.Agent)
	err = s.Update(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		u.Note(parley.Event{Kind: parley.EventAlert, Agent: a.Agent, Data: data})
		return nil
	})
	if err == nil {
		s.Alerts.set(a, false)
	}
	return err
}

// RaiseAlerts turns on several alerts at once. If many alerts of one name are on, the owners get one notice for all of them.
func (s *Service) RaiseAlerts(ctx context.Context, list ...parley.Alert) error {
	list = slices.DeleteFunc(slices.Clone(list), func(a parley.Alert) bool {
		s.Alerts.amend(a) // one that is on shows its newest figures
		return s.Alerts.Has(a)
	})
	if len(list) == 0 {
		return nil
	}
	events := make([]parley.Event, len(list))
	for i := range list {
		a := &list[i]
		a.Since = s.Now()
		data, err := alertData(*a, true)
		if err != nil {
			return err
		}
		events[i] = parley.Event{Kind: parley.EventAlert, Agent: a.Agent, Data: data}
		s.Config.Log.Warn(a.Message, "alert", a.Name, "suggestion", a.Suggestion)
	}
	on := append(s.Alerts.List(), list...)
	err := s.Update(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		for _, e := range events {
			u.Note(e)
		}
		return tellAlerts(u, list, on)
	})
	if err == nil {
		for _, a := range list {
			s.Alerts.set(a, true)
		}
	}
	return err
}

// maxSeparateAlerts is how many alerts of one name get a notice each.
const maxSeparateAlerts = 3

// tellAlerts notifies the owners of the alerts that are new among those that are on.
func tellAlerts(u *unit.Unit, fresh, on []parley.Alert) error {
	for _, g := range parley.GroupAlerts(on) {
		ofName := slices.DeleteFunc(slices.Clone(fresh), func(a parley.Alert) bool { return a.Name != g.Name })
		if len(ofName) > 0 && g.Count > maxSeparateAlerts {
			if err := tellAlertGroup(u, g); err != nil {
				return err
			}
			continue
		}
		for _, a := range ofName {
			if err := tellAlert(u, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellAlertGroup notifies the owners of many alerts of one name: once a day, and again when there are ten times as many.
func tellAlertGroup(u *unit.Unit, g parley.AlertGroup) error {
	people, err := agents.PersonOrOwners(u, "")
	if err != nil {
		return err
	}
	size := 1
	for size*10 <= g.Count {
		size *= 10
	}
	return notices.TellPeople(u, people, parley.Notice{
		Key: fmt.Sprintf("alert/%s/many/%d/%s", g.Name, size, u.Now.Format(time.DateOnly)), Kind: parley.NoticeAlert, Title: capitalize(g.Title()),
		Text: capitalize(g.Message) + ".\nSee all of them: parley status --alerts.",
	})
}

// alertData returns the data of an alert's event: its name, its state and its facts.
func alertData(a parley.Alert, on bool) ([]byte, error) {
	data := maps.Clone(a.Facts)
	if data == nil {
		data = map[string]any{}
	}
	data["name"], data["state"] = a.Name, "off"
	if on {
		data["state"], data["message"], data["suggestion"] = "on", a.Message, a.Suggestion
	}
	if a.Agent != "" {
		data["agent"] = a.Agent
	}
	return json.Marshal(data)
}

// tellAlert notifies the owners of an alert, at most once a day, even if the hub restarts.
func tellAlert(u *unit.Unit, a parley.Alert) error {
	people, err := agents.PersonOrOwners(u, "")
	if err != nil {
		return err
	}
	key := "alert/" + a.Name + "/"
	if a.Agent != "" {
		key += a.Agent + "/"
	}
	return notices.TellPeople(u, people, parley.Notice{
		Key: key + u.Now.Format(time.DateOnly), Kind: parley.NoticeAlert, Title: a.Title,
		Text: capitalize(a.Message) + ".\n" + capitalize(a.Suggestion) + ".",
	})
}

func capitalize(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
