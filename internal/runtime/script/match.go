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

// match is what must hold of a message. What is not given holds.
type match struct {
	text         *regexp.Regexp
	size         int      // of text, in steps
	contains     []string // any of them, in lower case
	equals       []string // any of them, in lower case
	from         []string
	kind         []string // types
	source       []string
	conversation []string
	channel      []string // names without #
	mentions     []string // any of them
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
	m.fold()
	return m, nil
}

// set reads what is no list of texts.
func (m *match) set(name string, field value) error {
	switch name {
	case "text":
		pattern, err := field.text()
		if err != nil {
			return err
		}
		if m.text, m.size, err = compile(pattern); err != nil {
			return field.wrong("text is no regular expression that can be used: %v", err).Suggest("see https://golang.org/s/re2syntax, or use contains")
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

// fold makes names and texts comparable.
func (m *match) fold() {
	for _, list := range []*[]string{&m.contains, &m.equals, &m.from, &m.channel, &m.mentions} {
		for i, text := range *list {
			(*list)[i] = strings.ToLower(strings.TrimLeft(text, "@#"))
		}
	}
}

// groups are the names by which a text may use what the groups of the regular expression found.
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

// holds says whether a message matches, and what the groups of the regular expression found.
func (m match) holds(ctx context.Context, p *player, message parley.Message) (map[string]string, bool, error) {
	// What the hub repeats is left out: a result that says "approved by user" is not the hub saying so.
	text := strings.TrimSpace(message.Wording().OwnWords())
	if !m.fits(p.job.Run, message, text) {
		return nil, false, nil
	}
	var found []string
	if m.text != nil {
		if found = m.text.FindStringSubmatch(text); found == nil {
			return nil, false, nil
		}
	}
	if len(m.channel) > 0 {
		name, err := p.channel(ctx, message.Conversation)
		if err != nil || !slices.Contains(m.channel, strings.ToLower(name)) {
			return nil, false, err
		}
	}
	return m.groups(found), true, nil
}

// fits looks at what needs neither the regular expression nor the hub.
func (m match) fits(run parley.Run, message parley.Message, text string) bool {
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

// oneOf says whether a text is one of a list, or the list is empty.
func oneOf(list []string, text string) bool { return len(list) == 0 || slices.Contains(list, text) }

// anyOf says whether one of a list is as it should be, or the list is empty.
func anyOf(list []string, ok func(string) bool) bool {
	return len(list) == 0 || slices.ContainsFunc(list, ok)
}
