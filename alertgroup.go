package parley

import (
	"fmt"
	"strings"
)

// AlertGroup is all active alerts of one name.
type AlertGroup struct {
	Name    string `json:"name" doc:"The name of the alert."`
	Count   int    `json:"count" doc:"How many alerts of this name are on."`
	Message string `json:"message" doc:"What needs attention, in one sentence for all alerts of this name."`
	Worst   Alert  `json:"worst" doc:"The worst of these alerts."`
}

// severalAlerts are the sentences for several alerts of one name.
var severalAlerts = map[string]string{"depth": "%d inboxes are filling up"}

// GroupAlerts groups alerts by name. The groups are in the order of the first alert of each name.
func GroupAlerts(list []Alert) (groups []AlertGroup) {
	at := map[string]int{}
	for _, a := range list {
		i, known := at[a.Name]
		if !known {
			i = len(groups)
			at[a.Name], groups = i, append(groups, AlertGroup{Name: a.Name, Worst: a})
		}
		g := &groups[i]
		if g.Count++; a.Severity > g.Worst.Severity {
			g.Worst = a
		}
	}
	for i := range groups {
		groups[i].Message = groups[i].sentence()
	}
	return groups
}

func (g AlertGroup) sentence() string {
	if g.Count == 1 {
		return g.Worst.Message
	}
	return g.Title() + "; the worst: " + g.Worst.Message
}

// Title returns what the alerts of a group are about, without naming the worst.
func (g AlertGroup) Title() string {
	if g.Count == 1 {
		return g.Worst.Title
	}
	format, known := severalAlerts[g.Name]
	if !known {
		format = "%d alerts of the kind " + strings.ReplaceAll(g.Name, "%", "%%")
	}
	return fmt.Sprintf(format, g.Count)
}
