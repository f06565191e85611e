package script

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

const maxAttempts = 100

// match is the conditions of a rule. A message matches if it meets all conditions that are set.
type match struct {
	text         *regexp.Regexp
	size         int      // the number of steps of text
	contains     []string // the message contains any of them; lower case
	equals       []string // the message equals any of them; lower case
	from         []string
	kind         []string // types of messages
	source       []string
	conversation []string
	channel      []string // names without #
	mentions     []string // the message mentions any of them
	task         *bool
	attempt      int
}

func (v value) match() (m match, err error) {
	fields, err := v.fields("text", "contains", "equals", "from", "type", "source", "conversation", "channel",
		"mentions", "task", "attempt")
	if err != nil {
		return m, err
	}
	lists := map[string]*[]string{
		"contains": &m.contains, "equals": &m.equals, "from": &m.from, "type": &m.kind, "source": &m.source,
		"conversation": &m.conversation, "channel": &m.channel, "mentions": &m.mentions,
	}
	for name, field := range fields {
		if list := lists[name]; list != nil {
			*list, err = field.texts()
		} else {
			err = m.set(name, field)
		}
		if err != nil {
			return m, err
		}
	}
	m.normalize()
	return m, nil
}

// set parses a field that is not a list of texts.
func (m *match) set(name string, field value) error {
	switch name {
	case "text":
		pattern, err := field.text()
		if err != nil {
			return err
		}
		if m.text, m.size, err = compile(pattern); err != nil {
			return field.errorf("text is not a usable regular expression: %v", err).Suggest("see https://golang.org/s/re2syntax, or use contains")
		}
		return nil
	case "task":
		has, err := field.boolean()
		m.task = &has
		return err
	default:
		attempt, err := field.count(maxAttempts)
		m.attempt = attempt
		return err
	}
}

// normalize puts names and texts into lower case, and removes a leading @ or #.
func (m *match) normalize() {
	for _, list := range []*[]string{&m.contains, &m.equals, &m.from, &m.channel, &m.mentions} {
		for i, text := range *list {
			(*list)[i] = strings.ToLower(strings.TrimLeft(text, "@#"))
		}
	}
}

// groups returns the texts of the groups of the regular expression, by the names that a template uses. If found is nil, the
// texts are empty.
func (m match) groups(found []string) map[string]string {
	groups := map[string]string{}
	if m.text == nil {
		return groups
	}
	for i, name := range m.text.SubexpNames() {
		text := ""
		if found != nil {
			text = found[i]
		}
		groups["Group."+strconv.Itoa(i)] = text
		if name != "" {
			groups["Group."+name] = text
		}
	}
	return groups
}

// matches reports whether a message matches, and returns the texts of the groups of the regular expression.
func (m match) matches(ctx context.Context, x *execution, message parley.Message) (map[string]string, bool, error) {
	// Text of others that the hub repeats does not count: a result that says "approved by user" is not a message of the hub.
	text := strings.TrimSpace(message.Wording().OwnWords())
	if !m.matchesEnvelope(x.request.Run, message, text) {
		return nil, false, nil
	}
	var found []string
	if m.text != nil {
		if found = m.text.FindStringSubmatch(text); found == nil {
			return nil, false, nil
		}
	}
	if len(m.channel) > 0 {
		name, err := x.channel(ctx, message.Conversation)
		if err != nil || !slices.Contains(m.channel, strings.ToLower(name)) {
			return nil, false, err
		}
	}
	return m.groups(found), true, nil
}

// matchesEnvelope checks the conditions that need neither the regular expression nor a call of the hub.
func (m match) matchesEnvelope(run parley.Run, message parley.Message, text string) bool {
	lower := strings.ToLower(text)
	return oneOf(m.from, message.From) &&
		oneOf(m.kind, string(message.Type)) &&
		oneOf(m.source, message.Source) &&
		oneOf(m.conversation, message.Conversation) &&
		oneOf(m.equals, lower) &&
		anyOf(m.contains, func(part string) bool { return strings.Contains(lower, part) }) &&
		anyOf(m.mentions, func(id string) bool { return slices.Contains(message.Mentions, id) }) &&
		(m.task == nil || *m.task == (run.Task != "")) &&
		(m.attempt == 0 || m.attempt == run.Attempt)
}

// oneOf reports whether a text is in a list, or the list is empty.
func oneOf(list []string, text string) bool { return len(list) == 0 || slices.Contains(list, text) }

// anyOf reports whether ok holds for any text of a list, or the list is empty.
func anyOf(list []string, ok func(string) bool) bool {
	return len(list) == 0 || slices.ContainsFunc(list, ok)
}
