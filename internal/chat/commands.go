package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// commands are what can be typed after a slash.
var commands = []struct{ name, args, help string }{
	{"help", "", "show this help"},
	{"who", "", "list the members and what they are doing"},
	{"topic", "[text]", "show or change the topic"},
	{"reply", "text", "reply to the newest message of another member"},
	{"quit", "", "leave the chat (also Ctrl-C and Ctrl-D)"},
}

// obey does what a command says.
func (m *Model) obey(line string) tea.Cmd {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "help":
		m.say(help())
	case "who":
		m.say(m.who())
	case "topic":
		return m.topic(rest)
	case "reply":
		return m.reply(rest)
	case "quit":
		return tea.Quit
	default:
		m.complain(unknownCommand(name))
	}
	return nil
}

func unknownCommand(name string) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	hint := "see /help; to"
	if near := parley.Nearest(name, names); len(near) > 0 {
		hint = "did you mean /" + strings.Join(near, ", /") + "? To"
	}
	return parley.Errorf(parley.BadInput, "there is no command /%s", name).
		Suggest("%s send a text that begins with a slash, type two", hint)
}

func help() string {
	var out strings.Builder
	for _, c := range commands {
		usage := "/" + c.name + " " + c.args
		out.WriteString(usage + strings.Repeat(" ", max(15-len(usage), 1)) + c.help + "\n")
	}
	out.WriteString("Enter          send; Alt+Enter begins a new line\n")
	out.WriteString("Tab            complete @names and /commands\n")
	out.WriteString("Up, Down       earlier input\n")
	out.WriteString("PgUp, PgDown   earlier messages")
	return out.String()
}

func (m *Model) who() string {
	if len(m.scene.Present) == 0 {
		return "nobody else is here"
	}
	var lines []string
	for _, p := range m.scene.Present {
		line := p.ID
		if p.Name != "" && p.Name != p.ID {
			line += " (" + p.Name + ")"
		}
		lines = append(lines, line+": "+doing(p, m.now()))
	}
	return strings.Join(lines, "\n")
}

// doing says what a participant is doing, in a few words.
func doing(p parley.Presence, now time.Time) string {
	if p.Kind == parley.KindHuman {
		return "person"
	}
	words := strings.ReplaceAll(p.Status, "_", " ")
	if until := p.SleepingUntil; p.Status == parley.StatusSleeping && until != nil {
		form := "15:04"
		if until.Sub(now) > 20*time.Hour {
			form = "2 January 15:04"
		}
		words += " until " + until.In(now.Location()).Format(form)
	}
	if p.Reason != "" {
		words += " (" + p.Reason + ")"
	}
	return words
}

func (m *Model) topic(text string) tea.Cmd {
	switch {
	case m.scene.Conversation.ID == "":
		m.complain(parley.Errorf(parley.BadInput, "the conversation does not exist before its first message").Suggest("send a message first"))
		return nil
	case text != "":
		return m.setTopic(text)
	case m.scene.Conversation.Topic == "":
		m.say("there is no topic")
	default:
		m.say("topic: " + m.scene.Conversation.Topic)
	}
	return nil
}

func (m *Model) reply(text string) tea.Cmd {
	to, found := m.timeline.lastOfOthers(m.scene.Me)
	switch {
	case text == "":
		m.complain(parley.Errorf(parley.BadInput, "the reply is empty").Suggest("type /reply and the text"))
		return nil
	case !found:
		m.complain(parley.Errorf(parley.BadInput, "nobody else has written here").Suggest("send the text without /reply"))
		return nil
	default:
		return m.post(parley.Draft{InReplyTo: to.ID, Content: parley.Content{Text: text}})
	}
}
