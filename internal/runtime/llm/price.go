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

// Price is what a million tokens cost, in US dollars.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
}

// prices are by provider, and by how the names of models begin.
type prices map[string]map[string]Price

func builtinPrices() (p prices) {
	if err := yaml.UnmarshalWithOptions(pricesFile, &p, yaml.Strict()); err != nil {
		panic(err) // the file is part of the program
	}
	return p
}

// with puts the prices that providers have in the configuration over the built-in ones.
func (p prices) with(providers map[string]Provider) prices {
	for name, provider := range providers {
		if p[name] == nil {
			p[name] = map[string]Price{}
		}
		maps.Copy(p[name], provider.Prices)
	}
	return p
}

// of is the price of a model, if it is known. The longest beginning of its name counts.
func (p prices) of(provider, model string) (best Price, known bool) {
	longest := -1
	for prefix, price := range p[provider] {
		if strings.HasPrefix(model, prefix) && len(prefix) > longest {
			best, longest = price, len(prefix)
		}
	}
	return best, longest >= 0
}

// cost is what some tokens cost, or 0 where that is not known.
func (p prices) cost(provider, model string, u parley.Usage) float64 {
	price, _ := p.of(provider, model)
	const million = 1e6
	return (float64(u.InputTokens)*price.Input + float64(u.OutputTokens)*price.Output) / million
}

// checkBudget refuses a budget in dollars where nobody knows what the model costs: it would never be used up.
// OpenRouter says itself what a call has cost.
func (p prices) checkBudget(a parley.Agent, s settings) error {
	if _, known := p.of(s.Provider, s.Model); known || a.Budget.CostPerDay == 0 || s.Provider == "openrouter" {
		return nil
	}
	return parley.Errorf(parley.BadInput, "%s has a budget in dollars, but the price of %s is not known", a.ID, s.Model).
		Suggest("add it under providers.%s.prices in config.yaml, or use a budget in tokens", s.Provider)
}
