package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// commands are the commands that the user can type after a slash.
var commands = []struct{ name, args, help string }{
	{"help", "", "show this help"},
	{"who", "", "list the members and what they are doing"},
	{"topic", "[text]", "show or change the topic"},
	{"reply", "text", "reply to the newest message of another member"},
	{"quit", "", "leave the chat (also Ctrl-C and Ctrl-D)"},
}

// runCommand runs a command.
func (m *Model) runCommand(line string) tea.Cmd {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "help":
		m.showNotice(help())
	case "who":
		m.showNotice(m.membersText())
	case "topic":
		return m.topicCommand(rest)
	case "reply":
		return m.replyCommand(rest)
	case "quit":
		return tea.Quit
	default:
		m.showError(unknownCommand(name))
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

func (m *Model) membersText() string {
	if len(m.conversation.Present) == 0 {
		return "nobody else is here"
	}
	var lines []string
	for _, p := range m.conversation.Present {
		line := p.ID
		if p.Name != "" && p.Name != p.ID {
			line += " (" + p.Name + ")"
		}
		lines = append(lines, line+": "+participantStatus(p, m.now()))
	}
	return strings.Join(lines, "\n")
}

// participantStatus describes what a participant is doing, in a few words.
func participantStatus(p parley.Presence, now time.Time) string {
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

func (m *Model) topicCommand(text string) tea.Cmd {
	switch {
	case m.conversation.View.ID == "":
		m.showError(parley.Errorf(parley.BadInput, "the conversation does not exist before its first message").Suggest("send a message first"))
		return nil
	case text != "":
		return m.setTopic(text)
	case m.conversation.View.Topic == "":
		m.showNotice("there is no topic")
	default:
		m.showNotice("topic: " + m.conversation.View.Topic)
	}
	return nil
}

func (m *Model) replyCommand(text string) tea.Cmd {
	to, found := m.timeline.lastOfOthers(m.conversation.Me)
	switch {
	case text == "":
		m.showError(parley.Errorf(parley.BadInput, "the reply is empty").Suggest("type /reply and the text"))
		return nil
	case !found:
		m.showError(parley.Errorf(parley.BadInput, "nobody else has written here").Suggest("send the text without /reply"))
		return nil
	default:
		return m.post(parley.Draft{InReplyTo: to.ID, Content: parley.Content{Text: text}})
	}
}
