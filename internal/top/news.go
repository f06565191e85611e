package top

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// news is what the events that are shown say.
type news struct {
	Run       string        `json:"run"`
	Text      string        `json:"text"`
	Failure   *parley.Error `json:"failure"`
	Agents    []string      `json:"agents"` // of a loop
	Exchanges int           `json:"exchanges"`
}

// hear takes in an event.
func (m *Model) hear(e parley.Event) tea.Cmd {
	var said news
	_ = json.Unmarshal(e.Data, &said) // what cannot be read says nothing
	if e.Kind == parley.EventRunProgress {
		if text := lastLine(said.Text); text != "" {
			m.says[said.Run] = text
		}
		return nil
	}
	switch e.Kind {
	case parley.EventRun(parley.RunSucceeded), parley.EventRun(parley.RunCancelled):
		m.ended++
	case parley.EventRun(parley.RunFailed), parley.EventRun(parley.RunLost):
		m.ended++
		m.tell(e, true, e.Agent+" "+strings.TrimPrefix(string(e.Kind), "run.")+why(said.Failure))
	case parley.EventLoopOpened:
		m.tell(e, true, fmt.Sprintf("%s woke each other %d times in a row; the hub holds further wake-ups", strings.Join(said.Agents, " and "), said.Exchanges))
	case parley.EventLoopClosed:
		m.tell(e, false, strings.Join(said.Agents, " and ")+" may wake each other again")
	}
	return m.lookSoon()
}

func (m *Model) tell(e parley.Event, bad bool, text string) {
	m.news = append(m.news, line{e.At, text, bad})
	m.news = m.news[max(0, len(m.news)-mostNews):]
}

func why(failure *parley.Error) string {
	if failure == nil {
		return ""
	}
	return ": " + failure.Message
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
