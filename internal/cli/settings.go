package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// setting is something about an agent that a flag sets. Its field in JSON is its name with _ for -, unless
// it has another.
type setting struct {
	flag, field, help string
	value             any // what it holds when it is not given: a string, a number or a list
}

var agentSettings = []setting{
	{"name", "", "display `name`, one word (default: the id)", ""},
	{"role", "", "what it is, in a `word`", ""},
	{"description", "", "what it does", ""},
	{"skill", "skills", "something it can do; may be given again", []string(nil)},
	{"guardrails", "", "what it must not do", ""},
	{"tier", "", "level: command, pm or worker", ""},
	{"manager", "", "the `agent` it reports to", ""},
	{"mode", "", "autonomous, supervised or strict", ""},
	{"runtime", "", "what runs it", ""},
	{"context-messages", "", "how many `messages` of a conversation it gets", 0},
	{"inbox-depth", "", "how many `messages` may wait for it", 0},
	{"inbox-overflow", "", "evict-oldest, reject or unbounded", ""},
	{"attempts", "", "how `often` a message is tried", 0},
	{"concurrency", "", "how many `runs` it may have at once", 0},
	{"protocol", "protocols", "a protocol it speaks; may be given again", []string(nil)},
}

// json is the name of the setting's field.
func (s setting) json() string {
	if s.field != "" {
		return s.field
	}
	return strings.ReplaceAll(s.flag, "-", "_")
}

// settings are the flags of one command line that set something about an agent.
type settings struct{ flags *pflag.FlagSet }

func (s *settings) declare(a *app, cmd *cobra.Command) {
	s.flags = cmd.Flags()
	for _, one := range agentSettings {
		switch value := one.value.(type) {
		case string:
			s.flags.String(one.flag, value, one.help)
		case int:
			s.flags.Var(number{&value}, one.flag, one.help)
		case []string:
			s.flags.StringArray(one.flag, value, one.help)
		}
	}
	complete(cmd, "manager", a.agentNames)
	complete(cmd, "tier", fixed("command", "pm", "worker"))
	complete(cmd, "mode", fixed("autonomous", "supervised", "strict"))
	complete(cmd, "inbox-overflow", fixed("evict-oldest", "reject", "unbounded"))
}

// change is what the flags that were given ask for. The getters fail only for flags of another kind.
func (s *settings) change() client.AgentChange {
	change := client.AgentChange{}
	for _, one := range agentSettings {
		if !s.flags.Changed(one.flag) {
			continue
		}
		switch one.value.(type) {
		case string:
			change[one.json()], _ = s.flags.GetString(one.flag)
		case int:
			change[one.json()], _ = s.flags.GetInt(one.flag)
		case []string:
			change[one.json()], _ = s.flags.GetStringArray(one.flag)
		}
	}
	return change
}

// newAgent is an agent as the flags describe it.
func (s *settings) newAgent(id string) (n parley.NewAgent, err error) {
	raw, err := json.Marshal(s.change())
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	n.ID = id
	return n, err
}

func settingNames() (names []string) {
	for _, one := range agentSettings {
		names = append(names, one.flag)
	}
	return names
}

// clearing adds what shall go back to its default.
func clearing(cmd *cobra.Command, change client.AgentChange, unset []string) error {
	for _, name := range unset {
		i := slices.IndexFunc(agentSettings, func(s setting) bool { return s.flag == name || s.json() == name })
		if i < 0 {
			hint := parley.DidYouMean(parley.Nearest(name, settingNames()), "the settings are the flags")
			return usagef(cmd, "there is no setting %q; %s", name, hint)
		}
		if _, both := change[agentSettings[i].json()]; both {
			return usagef(cmd, "%s is both set and unset", name)
		}
		change[agentSettings[i].json()] = nil
	}
	if len(change) == 0 {
		return usagef(cmd, "nothing to change")
	}
	return nil
}
