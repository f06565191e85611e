package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// agentSetting is a property of an agent that a flag sets. Its JSON field is the name of the flag with _ for -, unless
// field names another; a field with a dot is within another object.
type agentSetting struct {
	flag, field, help string
	value             any // the value without the flag: a string, a number or a list
}

var agentSettings = []agentSetting{
	{"name", "", "display `name`, one word (default: the id)", ""},
	{"role", "", "`name` of the role, such as writer", ""},
	{"description", "", "`text` that says what the agent does", ""},
	{"skill", "skills", "`name` of a skill; repeat the flag for several", []string(nil)},
	{"guardrails", "", "`text` that says what the agent must not do", ""},
	{"tier", "", "`tier`: command, pm or worker", ""},
	{"manager", "", "`agent` or person to which the agent reports", ""},
	{"mode", "", "`mode`: autonomous, supervised or strict", ""},
	{"runtime", "", "`name` of the runtime: claude, codex, llm, script, webhook, attached, …", ""},
	{"provider", "runtime_config.provider", "runtime llm: `name` of the provider, such as anthropic or ollama", ""},
	{"model", "runtime_config.model", "`name` of the model", ""},
	{"dir", "runtime_config.dir", "working `directory` of the program that the hub runs", ""},
	{"url", "runtime_config.url", "runtime webhook: `URL` that the hub calls", ""},
	{"context-messages", "", "highest `number` of messages of a conversation in a prompt", 0},
	{"context-tokens", "", "highest `number` of tokens of a conversation in a prompt", 0},
	{"inbox-depth", "", "highest `number` of pending messages in the inbox", 0},
	{"inbox-overflow", "", "`policy` for a full inbox: evict-oldest, reject or unbounded", ""},
	{"attempts", "", "highest `number` of attempts to deliver a message", 0},
	{"concurrency", "", "highest `number` of runs at once", 0},
	{"runs-per-hour", "budget.runs_per_hour", "highest `number` of runs in an hour; 0: no limit", 0},
	{"tokens-per-day", "budget.tokens_per_day", "highest `number` of tokens in a day; 0: no limit", 0},
	{"cost-per-day", "budget.cost_per_day", "highest cost in a day, as an `amount` in dollars; 0: no limit", 0.0},
	{"protocol", "protocols", "`name` of a protocol that the agent speaks; repeat the flag for several", []string(nil)},
}

// jsonField returns the name of the JSON field.
func (s agentSetting) jsonField() string {
	if s.field != "" {
		return s.field
	}
	return strings.ReplaceAll(s.flag, "-", "_")
}

// apply sets the field in a change.
func (s agentSetting) apply(change client.AgentChange, value any) {
	outer, inner, within := strings.Cut(s.jsonField(), ".")
	if !within {
		change[outer] = value
		return
	}
	fields, _ := change[outer].(map[string]any)
	if fields == nil {
		fields = map[string]any{}
		change[outer] = fields
	}
	fields[inner] = value
}

// isSetIn reports whether a change already has the field.
func (s agentSetting) isSetIn(change client.AgentChange) bool {
	outer, inner, within := strings.Cut(s.jsonField(), ".")
	value, found := change[outer]
	if fields, ok := value.(map[string]any); ok && within {
		_, found = fields[inner]
	}
	return found
}

// agentFlags are the flags of one command line that set properties of an agent.
type agentFlags struct {
	flags   *pflag.FlagSet
	runtime runtimeFlags
}

func (f *agentFlags) declare(a *app, cmd *cobra.Command) {
	f.flags = cmd.Flags()
	for _, setting := range agentSettings {
		switch value := setting.value.(type) {
		case string:
			f.flags.String(setting.flag, value, setting.help)
		case int:
			if strings.HasPrefix(setting.field, "budget.") {
				f.flags.Var(limitFlag{countFlag{&value}}, setting.flag, setting.help)
				continue
			}
			f.flags.Var(countFlag{&value}, setting.flag, setting.help)
		case float64:
			f.flags.Var(amountFlag{&value}, setting.flag, setting.help)
		case []string:
			f.flags.StringArray(setting.flag, value, setting.help)
		}
	}
	f.runtime.declare(cmd)
	completeFlag(cmd, "manager", a.completeAgents)
	completeFlag(cmd, "tier", completeWords("command", "pm", "worker"))
	completeFlag(cmd, "mode", completeWords("autonomous", "supervised", "strict"))
	completeFlag(cmd, "runtime", completeWords(runtimeNames...))
	completeFlag(cmd, "inbox-overflow", completeWords("evict-oldest", "reject", "unbounded"))
}

// change returns the change that the given flags ask for.
func (f *agentFlags) change(ctx context.Context, a *app) (client.AgentChange, error) {
	change := client.AgentChange{}
	err := f.runtime.apply(ctx, a, change)
	for _, setting := range agentSettings {
		if f.flags.Changed(setting.flag) {
			setting.apply(change, f.value(setting))
		}
	}
	return change, err
}

// value returns the value of a flag. The getters fail only for flags of another type.
func (f *agentFlags) value(setting agentSetting) (value any) {
	switch setting.value.(type) {
	case string:
		value, _ = f.flags.GetString(setting.flag)
	case int:
		value, _ = f.flags.GetInt(setting.flag)
	case float64:
		value, _ = f.flags.GetFloat64(setting.flag)
	case []string:
		value, _ = f.flags.GetStringArray(setting.flag)
	}
	return value
}

// newAgent returns an agent as the flags describe it. Runtime settings may imply the runtime.
func (f *agentFlags) newAgent(ctx context.Context, a *app, id string) (n parley.NewAgent, err error) {
	change, err := f.change(ctx, a)
	if err != nil {
		return n, err
	}
	raw, err := json.Marshal(change)
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	if n.ID = id; n.Runtime == "" {
		n.Runtime = impliedRuntime(change)
	}
	return n, err
}

func settingNames() (names []string) {
	for _, setting := range agentSettings {
		names = append(names, setting.flag)
	}
	return names
}

// addUnset adds to a change the settings that return to their defaults.
func addUnset(cmd *cobra.Command, change client.AgentChange, unset []string) error {
	for _, name := range unset {
		i := slices.IndexFunc(agentSettings, func(s agentSetting) bool { return s.flag == name || s.jsonField() == name })
		if i < 0 {
			hint := parley.DidYouMean(parley.Nearest(name, settingNames()), "the settings have the names of the flags")
			return usagef(cmd, "there is no setting %q; %s", name, hint)
		}
		if agentSettings[i].isSetIn(change) {
			return usagef(cmd, "%s is both set and unset", name)
		}
		agentSettings[i].apply(change, nil)
	}
	if len(change) == 0 {
		return usagef(cmd, "nothing to change")
	}
	return nil
}
