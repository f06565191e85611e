package llm

import (
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/parley-hub/parley"
)

// settings is the runtime_config of an agent.
type settings struct {
	Provider    string   `json:"provider"`
	Model       string   `json:"model"`
	MaxTokens   int64    `json:"max_tokens"` // of one turn; 0: the limit of the provider, or 8192 if the API demands a number
	Temperature *float64 `json:"temperature"`
}

const (
	defaultMaxTokens = 8192 // if the API demands a number
	maxTokensLimit   = 1 << 20
	maxModelLength   = 256 // bytes of a model's name
)

// settingsOf returns the settings of an agent and their provider. It returns E003 with an example if the runtime_config is
// wrong.
func (r *Runtime) settingsOf(a parley.Agent) (s settings, p Provider, err error) {
	invalid := func(format string, args ...any) *parley.Error {
		return parley.Errorf(parley.BadInput, "runtime_config: "+format, args...).
			Suggest(`write it like {"provider": "anthropic", "model": "claude-sonnet-4-5", "max_tokens": 8192}`)
	}
	raw := a.RuntimeConfig
	if len(raw) == 0 {
		return s, p, invalid("it is empty")
	}
	if err := jsonv2.Unmarshal(raw, &s, jsonv2.RejectUnknownMembers(true)); err != nil {
		return s, p, invalid("%v", err)
	}
	p, known := r.providers[s.Provider]
	switch {
	case !known:
		return s, p, invalid("there is no provider %q", s.Provider).
			Suggest("use %s, or add it under providers in config.yaml", strings.Join(slices.Sorted(maps.Keys(r.providers)), ", "))
	case s.Model == "" || len(s.Model) > maxModelLength:
		return s, p, invalid("model is missing or too long")
	case s.MaxTokens < 0 || s.MaxTokens > maxTokensLimit:
		return s, p, invalid("max_tokens is %d", s.MaxTokens)
	case s.Temperature != nil && !(*s.Temperature >= 0 && *s.Temperature <= 2):
		return s, p, invalid("temperature is not between 0 and 2")
	}
	return s, p, nil
}
