package llm

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/parley-hub/parley"
)

// Kind is the API that a provider speaks.
type Kind string

// The kinds.
const (
	Anthropic Kind = "anthropic" // Messages
	OpenAI    Kind = "openai"    // Chat Completions, which most others speak too
)

// Provider is where models are to be had.
type Provider struct {
	Kind    Kind   `yaml:"kind"`
	BaseURL string `yaml:"base_url"`
	KeyEnv  string `yaml:"key_env"`  // the variable of the hub that has the key
	KeyFile string `yaml:"key_file"` // or the file that has it, which nobody else may read (0600)

	Prices map[string]Price `yaml:"prices"` // by how the names of models begin
}

// Builtin are the providers that need no configuration.
func Builtin() map[string]Provider {
	return map[string]Provider{
		"anthropic":  {Kind: Anthropic, BaseURL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
		"openai":     {Kind: OpenAI, BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
		"gemini":     {Kind: OpenAI, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY"},
		"openrouter": {Kind: OpenAI, BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY"},
		"ollama":     {Kind: OpenAI, BaseURL: "http://127.0.0.1:11434/v1"},
		"vllm":       {Kind: OpenAI, BaseURL: "http://127.0.0.1:8000/v1"},
	}
}

// ParseProviders reads the section providers of a configuration: by name, what there is. E003 with the line
// where it is wrong.
func ParseProviders(text []byte) (map[string]Provider, error) {
	var providers map[string]Provider
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&providers)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, parley.Errorf(parley.BadInput, "the providers cannot be read: %s", yaml.FormatError(err, false, false)).
			Suggest("a provider has kind, base_url, key_env or key_file, and prices")
	}
	return providers, nil
}

// withBuiltin adds the built-in providers. What a provider of the same name leaves out is as built in.
func withBuiltin(given map[string]Provider) (map[string]Provider, error) {
	all := Builtin()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := given[name].over(all[name])
		if err := p.check(name); err != nil {
			return nil, err
		}
		all[name] = p
	}
	return all, nil
}

func (p Provider) over(base Provider) Provider {
	if p.Kind == "" {
		p.Kind = base.Kind
	}
	if p.BaseURL == "" {
		p.BaseURL = base.BaseURL
	}
	if p.KeyEnv == "" && p.KeyFile == "" {
		p.KeyEnv = base.KeyEnv
	}
	return p
}

var (
	providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// check says what is wrong with a provider, or nil.
func (p Provider) check(name string) error {
	wrong := func(what, hint string) error {
		return parley.Errorf(parley.BadInput, "provider %q: %s", name, what).Suggest("%s", hint)
	}
	u, err := url.Parse(p.BaseURL)
	switch {
	case !providerName.MatchString(name):
		return wrong("this cannot be its name", "use a-z, 0-9, _ and -")
	case p.Kind != Anthropic && p.Kind != OpenAI:
		return wrong("kind is "+string(p.Kind), "use anthropic or openai")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil:
		return wrong("base_url is no address", "write it like https://api.example.com/v1")
	case p.KeyEnv != "" && p.KeyFile != "":
		return wrong("it has key_env and key_file", "leave one of them out")
	case p.KeyEnv != "" && !variableName.MatchString(p.KeyEnv):
		return wrong("key_env is no name of a variable", "name the variable that has the key, not the key")
	case p.KeyFile != "" && !filepath.IsAbs(p.KeyFile):
		return wrong("key_file is not absolute", "write the whole path")
	case p.hasKey() && u.Scheme == "http" && !isLoopback(u.Hostname()):
		return wrong("its key would be sent without encryption", "use https")
	case slices.ContainsFunc(slices.Collect(maps.Values(p.Prices)), func(one Price) bool { return !(one.Input >= 0 && one.Output >= 0) }):
		return wrong("a price is negative or no number", "write dollars for a million tokens, like {input: 3, output: 15}")
	default:
		return nil
	}
}

func (p Provider) hasKey() bool { return p.KeyEnv != "" || p.KeyFile != "" }

// isLoopback holds for this machine's own addresses.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// official holds for the API of OpenAI itself, which has words that others do not know yet.
func (p Provider) official() bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	return u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com")
}
