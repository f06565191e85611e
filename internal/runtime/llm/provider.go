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

// Provider describes an API that serves models.
type Provider struct {
	Kind    Kind   `yaml:"kind"`
	BaseURL string `yaml:"base_url"`
	KeyEnv  string `yaml:"key_env"`  // the environment variable of the hub that holds the key
	KeyFile string `yaml:"key_file"` // or the file that holds the key, which only the hub's user may read (0600)

	Prices map[string]Price `yaml:"prices"` // by prefix of the model's name
}

// Builtin returns the providers that need no configuration, by name.
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

// ParseProviders parses the section providers of config.yaml, and returns the providers by name. It returns E003 with the line
// of the first mistake.
func ParseProviders(text []byte) (map[string]Provider, error) {
	var providers map[string]Provider
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&providers)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, parley.Errorf(parley.BadInput, "the providers cannot be read: %s", yaml.FormatError(err, false, false)).
			Suggest("a provider has kind, base_url, key_env or key_file, and prices")
	}
	return providers, nil
}

// withBuiltin adds the built-in providers. A provider with the name of a built-in one gets the fields that it leaves out from
// that one.
func withBuiltin(given map[string]Provider) (map[string]Provider, error) {
	all := Builtin()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := given[name].withDefaults(all[name])
		if err := p.check(name); err != nil {
			return nil, err
		}
		all[name] = p
	}
	return all, nil
}

func (p Provider) withDefaults(base Provider) Provider {
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

// check returns E003 with the first mistake in a provider, or nil.
func (p Provider) check(name string) error {
	invalid := func(what, hint string) error {
		return parley.Errorf(parley.BadInput, "provider %q: %s", name, what).Suggest("%s", hint)
	}
	u, err := url.Parse(p.BaseURL)
	switch {
	case !providerName.MatchString(name):
		return invalid("the name is not valid", "use a-z, 0-9, _ and -")
	case p.Kind != Anthropic && p.Kind != OpenAI:
		return invalid("kind is "+string(p.Kind), "use anthropic or openai")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil:
		return invalid("base_url is not an address", "write it like https://api.example.com/v1")
	case p.KeyEnv != "" && p.KeyFile != "":
		return invalid("it has both key_env and key_file", "leave one of them out")
	case p.KeyEnv != "" && !variableName.MatchString(p.KeyEnv):
		return invalid("key_env is not the name of a variable", "name the variable that has the key, not the key")
	case p.KeyFile != "" && !filepath.IsAbs(p.KeyFile):
		return invalid("key_file is not an absolute path", "write the whole path")
	case p.hasKey() && u.Scheme == "http" && !isLoopback(u.Hostname()):
		return invalid("its key would be sent without encryption", "use https")
	case slices.ContainsFunc(slices.Collect(maps.Values(p.Prices)), func(p Price) bool { return !(p.Input >= 0 && p.Output >= 0) }):
		return invalid("a price is negative or not a number", "write dollars for a million tokens, like {input: 3, output: 15}")
	default:
		return nil
	}
}

func (p Provider) hasKey() bool { return p.KeyEnv != "" || p.KeyFile != "" }

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// isOpenAI reports whether the provider is OpenAI itself. Its API has parameters that other servers do not know yet.
func (p Provider) isOpenAI() bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	return u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com")
}
