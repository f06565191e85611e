package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// runtimeNames are the runtimes that every hub has. Its configuration may add others.
var runtimeNames = []string{
	"claude", "codex", "gemini", "opencode", "qwen", "cursor", "amp", "goose", "aider",
	parley.RuntimeLLM, parley.RuntimeScript, parley.RuntimeWebhook, parley.RuntimeAttached,
}

const runtimeConfig = "runtime_config"

// runtimeFlags are the flags that configure the runtime of an agent.
type runtimeFlags struct{ config, rules string }

func (f *runtimeFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "runtime-config", "", "all settings of its runtime as a `JSON` object, or @file")
	cmd.Flags().StringVar(&f.rules, "rules", "", "runtime script: `file` with rules in YAML, or - for standard input")
	completeFlag(cmd, "rules", completeFiles)
}

// apply sets the runtime configuration in a change.
func (f *runtimeFlags) apply(ctx context.Context, a *app, change client.AgentChange) error {
	if f.config != "" {
		config, err := f.parseConfig(ctx, a)
		if err != nil {
			return err
		}
		change[runtimeConfig] = config
	}
	if f.rules == "" {
		return nil
	}
	rules, err := a.readSmallFile(ctx, f.rules)
	agentSetting{field: runtimeConfig + ".rules"}.apply(change, string(rules))
	return err
}

func (f *runtimeFlags) parseConfig(ctx context.Context, a *app) (config map[string]any, err error) {
	raw := []byte(f.config)
	if name, isFile := strings.CutPrefix(f.config, "@"); isFile {
		if raw, err = a.readSmallFile(ctx, name); err != nil {
			return nil, err
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a number stays as it is written
	if err := decoder.Decode(&config); err != nil || config == nil || decoder.More() {
		return nil, usageError{fmt.Errorf("--runtime-config is not a JSON object (write '{\"model\": \"…\"}', or @file)")}
	}
	return config, nil
}

// readSmallFile reads a small file, or standard input if the name is "-".
func (a *app) readSmallFile(ctx context.Context, name string) (raw []byte, err error) {
	err = a.readFrom(ctx, name, "reading", func(r io.Reader) error {
		raw, err = io.ReadAll(io.LimitReader(r, maxInput+1))
		if err == nil && len(raw) > maxInput {
			err = parley.Errorf(parley.BadInput, "%s has more than %d KiB", name, maxInput>>10).Suggest("shorten the file")
		}
		return err
	})
	return raw, err
}

// impliedRuntime returns the only runtime that has one of the given settings, or nothing.
func impliedRuntime(change client.AgentChange) string {
	config, _ := change[runtimeConfig].(map[string]any)
	for _, only := range []struct{ field, runtime string }{
		{"rules", parley.RuntimeScript}, {"url", parley.RuntimeWebhook}, {"provider", parley.RuntimeLLM},
	} {
		if _, given := config[only.field]; given {
			return only.runtime
		}
	}
	return ""
}

// mergeConfig adds the unchanged runtime settings of the agent to the changed ones. It adds none if the user gave all settings, or
// if the runtime changes.
func (f *runtimeFlags) mergeConfig(ctx context.Context, c *client.Client, agent string, change client.AgentChange) error {
	changed, isObject := change[runtimeConfig].(map[string]any)
	if _, changesRuntime := change["runtime"]; !isObject || changesRuntime || f.config != "" {
		return nil
	}
	view, err := c.Agent(ctx, agent)
	if err != nil {
		return err
	}
	kept := map[string]json.RawMessage{}
	if len(view.RuntimeConfig) > 0 {
		if err := json.Unmarshal(view.RuntimeConfig, &kept); err != nil {
			return err
		}
	}
	for name, value := range kept {
		if _, given := changed[name]; !given {
			changed[name] = value
		}
	}
	return nil
}

// dropNulls removes unset settings from the runtime configuration of a change.
func dropNulls(change client.AgentChange) {
	config, _ := change[runtimeConfig].(map[string]any)
	for name, value := range config {
		if value == nil {
			delete(config, name)
		}
	}
}
