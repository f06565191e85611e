package llm

import (
	_ "embed"
	"maps"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/parley-hub/parley"
)

//go:embed prices.yaml
var pricesFile []byte

// Price is the price of a million tokens in US dollars.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
}

// prices maps providers, and prefixes of the names of their models, to prices.
type prices map[string]map[string]Price

func builtinPrices() (p prices) {
	if err := yaml.UnmarshalWithOptions(pricesFile, &p, yaml.Strict()); err != nil {
		panic(err) // the file is part of the program
	}
	return p
}

// with adds the configured prices of providers, which override the built-in ones. It changes p.
func (p prices) with(providers map[string]Provider) prices {
	for name, provider := range providers {
		if p[name] == nil {
			p[name] = map[string]Price{}
		}
		maps.Copy(p[name], provider.Prices)
	}
	return p
}

// find returns the price of a model, and whether the price is known. The longest matching prefix counts.
func (p prices) find(provider, model string) (best Price, known bool) {
	longest := -1
	for prefix, price := range p[provider] {
		if strings.HasPrefix(model, prefix) && len(prefix) > longest {
			best, longest = price, len(prefix)
		}
	}
	return best, longest >= 0
}

// cost returns the cost of a usage, or 0 if the price of the model is unknown.
func (p prices) cost(provider, model string, u parley.Usage) float64 {
	price, _ := p.find(provider, model)
	const million = 1e6
	return (float64(u.InputTokens)*price.Input + float64(u.OutputTokens)*price.Output) / million
}

// checkBudget returns E003 if an agent has a budget in dollars and the price of its model is unknown. Such a budget would
// never be used up. OpenRouter reports the cost of each call, so its models need no price.
func (p prices) checkBudget(a parley.Agent, s settings) error {
	if _, known := p.find(s.Provider, s.Model); known || a.Budget.CostPerDay == 0 || s.Provider == "openrouter" {
		return nil
	}
	return parley.Errorf(parley.BadInput, "%s has a budget in dollars, but the price of %s is not known", a.ID, s.Model).
		Suggest("add it under providers.%s.prices in config.yaml, or use a budget in tokens", s.Provider)
}
