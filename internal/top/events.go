package top

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// eventData is the data of the events that the view shows.
type eventData struct {
	Run       string        `json:"run"`
	Text      string        `json:"text"`
	Failure   *parley.Error `json:"failure"`
	Agents    []string      `json:"agents"` // for a loop
	Exchanges int           `json:"exchanges"`
}

// handleEvent handles an event.
func (m *Model) handleEvent(e parley.Event) tea.Cmd {
	var data eventData
	_ = json.Unmarshal(e.Data, &data) // unknown data gives an empty value
	if e.Kind == parley.EventRunProgress {
		if text := lastLine(data.Text); text != "" {
			m.progress[data.Run] = text
		}
		return nil
	}
	switch e.Kind {
	case parley.EventRun(parley.RunSucceeded), parley.EventRun(parley.RunCancelled):
		m.ended++
	case parley.EventRun(parley.RunFailed), parley.EventRun(parley.RunLost):
		m.ended++
		m.addRecentEvent(e, true, e.Agent+" "+strings.TrimPrefix(string(e.Kind), "run.")+failureText(data.Failure))
	case parley.EventLoopOpened:
		m.addRecentEvent(e, true, fmt.Sprintf("%s woke each other %d times in a row; the hub holds further wake-ups", strings.Join(data.Agents, " and "), data.Exchanges))
	case parley.EventLoopClosed:
		m.addRecentEvent(e, false, strings.Join(data.Agents, " and ")+" may wake each other again")
	}
	return m.refreshSoon()
}

func (m *Model) addRecentEvent(e parley.Event, bad bool, text string) {
	m.recentEvents = append(m.recentEvents, timedLine{e.At, text, bad})
	m.recentEvents = m.recentEvents[max(0, len(m.recentEvents)-maxRecentEvents):]
}

func failureText(failure *parley.Error) string {
	if failure == nil {
		return ""
	}
	return ": " + failure.Message
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
