package presence

import (
	"fmt"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Excess is a budget that an agent has used up.
type Excess struct {
	Agent  string        `json:"agent"`
	Budget string        `json:"budget"`
	Limit  float64       `json:"limit"`
	Spent  float64       `json:"spent"`
	Window time.Duration `json:"-"`
	Says   string        `json:"-"`
}

// overspent names a budget that an agent has used up, or returns nothing, and has the owners told. It adds up the runs of the last hour
// or day, so a restart of the hub changes nothing.
func overspent(u *unit.Unit, a parley.Agent) (string, error) {
	excesses, err := FindExcesses(u, a)
	if err != nil || len(excesses) == 0 {
		return "", err
	}
	u.Core.Budgets.Note(a.ID)
	return "over budget: " + excesses[0].Says, nil
}

// FindExcesses returns the budgets that an agent has used up.
func FindExcesses(u *unit.Unit, a parley.Agent) (excesses []Excess, err error) {
	b := a.Budget
	if b.RunsPerHour > 0 {
		hour, err := u.Runs().Spent(a.ID, u.Now.Add(-time.Hour))
		if err != nil {
			return nil, err
		}
		if hour.Runs >= b.RunsPerHour {
			excesses = append(excesses, Excess{
				a.ID, "runs_per_hour", float64(b.RunsPerHour), float64(hour.Runs), time.Hour,
				fmt.Sprintf("%d of %d runs in an hour", hour.Runs, b.RunsPerHour),
			})
		}
	}
	if b.TokensPerDay == 0 && b.CostPerDay == 0 {
		return excesses, nil
	}
	const aDay = 24 * time.Hour
	day, err := u.Runs().Spent(a.ID, u.Now.Add(-aDay))
	if tokens := day.InputTokens + day.OutputTokens; b.TokensPerDay > 0 && tokens >= b.TokensPerDay {
		excesses = append(excesses, Excess{
			a.ID, "tokens_per_day", float64(b.TokensPerDay), float64(tokens), aDay,
			fmt.Sprintf("%d of %d tokens in a day", tokens, b.TokensPerDay),
		})
	}
	if b.CostPerDay > 0 && day.Cost >= b.CostPerDay {
		excesses = append(excesses, Excess{
			a.ID, "cost_per_day", b.CostPerDay, day.Cost, aDay,
			fmt.Sprintf("$%.2f of $%.2f in a day", day.Cost, b.CostPerDay),
		})
	}
	return excesses, err
}
