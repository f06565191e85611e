package cli

import (
	"cmp"
	"fmt"

	"github.com/parley-hub/parley"
)

// budgetFields returns what an agent has used and its caps, as fields. It returns none for an agent without runs and
// caps.
func budgetFields(v parley.AgentView) []string {
	hour, day := cmp.Or(v.LastHour, &parley.Spent{}), cmp.Or(v.LastDay, &parley.Spent{})
	tokens := day.InputTokens + day.OutputTokens
	var fields []string
	add := func(name, used, cap string, any bool) {
		if cap != "" {
			used += " of " + cap
		}
		if any || cap != "" {
			fields = append(fields, name, used)
		}
	}
	add("runs, last hour", formatCount(int64(hour.Runs)), formatCap(v.Budget.RunsPerHour, "%d"), hour.Runs > 0)
	add("tokens, last day", formatCount(tokens), formatCap(v.Budget.TokensPerDay, "%d"), tokens > 0)
	add("cost, last day", formatDollars(day.Cost), formatCap(v.Budget.CostPerDay, "$%.2f"), day.Cost > 0)
	return fields
}

// formatCap returns a cap, or nothing if there is no cap.
func formatCap[N int | int64 | float64](n N, form string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(form, n)
}

// formatDollars formats an amount of money, with more digits if the amount is small.
func formatDollars(amount float64) string {
	if amount > 0 && amount < 0.1 {
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}
