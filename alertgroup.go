package parley

import (
	"fmt"
	"strings"
)

// AlertGroup is all alerts of one name that are on.
type AlertGroup struct {
	Name    string `json:"name" doc:"The name of the alert."`
	Count   int    `json:"count" doc:"How many alerts of this name are on."`
	Message string `json:"message" doc:"What needs attention, in one sentence for all alerts of this name."`
	Worst   Alert  `json:"worst" doc:"The worst of these alerts."`
}

// severalAlerts says of several alerts of a name what they are about.
var severalAlerts = map[string]string{"depth": "%d inboxes are filling up"}

// GroupAlerts puts alerts of one name together, in the order of their names' first alerts.
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

// Title is what the alerts of a group are about, without the worst of them.
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
