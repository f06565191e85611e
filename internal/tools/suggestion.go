package tools

import (
	"regexp"
	"strings"
)

// substitutes are what a model does in place of the commands, and of other steps, that the hub suggests. The longest beginning that fits
// counts. $1 is the first argument.
var substitutes = []struct{ step, instead string }{
	{`: parley approval approve (\S+), or parley approval deny \S+`, " with decide_approval, id $1"},
	{`parley agent list`, "query_workspace list_agents"},
	{`parley conv list`, "query_workspace list_channels"},
	{`parley session list`, "query_workspace list_sessions"},
	{`parley task (?:list|show \S+)`, "query_workspace list_tasks"},
	{`parley approval list`, "query_workspace list_approvals"},
	{`parley search`, "query_workspace search"},
	{`parley chat --conv (\S+)`, "send_channel_message to $1"},
	{`parley (?:chat|ask) (\S+)`, "contact_agent $1"},
	{`, or send an artifact`, ", or send it in parts"},
}

var compiled = func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(substitutes))
	for i, s := range substitutes {
		list[i] = regexp.MustCompile(s.step)
	}
	return list
}()

// command matches the beginning of a suggestion that ends with a command for which no tool stands in, up to the command.
var command = regexp.MustCompile(`^[^;]*: (parley [a-z])`)

// Suggestion returns what the hub suggests, for a model: it calls tools, and can run no commands. What no tool can do, a person can.
func Suggestion(text string) string {
	return command.ReplaceAllString(substitute(text), "a person can: $1")
}

func substitute(text string) string {
	if !strings.Contains(text, "parley ") && !strings.Contains(text, "artifact") {
		return text
	}
	for i, step := range compiled {
		text = step.ReplaceAllString(text, substitutes[i].instead)
	}
	return text
}

// commandAtEnd matches a command at the end of a notice.
var commandAtEnd = regexp.MustCompile(`: (parley [a-z][^()]*)$`)

// noticesFor returns notices of the hub as lines for a model.
func noticesFor(notices []string) []string {
	var list []string
	for _, notice := range notices {
		list = append(list, oneLine(commandAtEnd.ReplaceAllString(substitute(notice), " (a person can: $1)")))
	}
	return list
}
