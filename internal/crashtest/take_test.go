package crashtest

import (
	"bytes"
	"testing"
)

const (
	takeRounds = 40
	posters    = "6"
	maxTaken   = 100 // most lines that a victim prints before the test kills it
	drainOneIn = 3   // in one of so many rounds, and in the last round of each home, the test drains the home
)

// TestCrashReturnsUnsettledDeliveries kills a hub while agents take, acknowledge, answer, give back and forget deliveries.
// Settled deliveries must stay settled. All other deliveries must come back, so that agents can settle each of them once.
func TestCrashReturnsUnsettledDeliveries(t *testing.T) {
	rounds, random := seededRounds(t, takeRounds)
	var (
		home    string
		printed bytes.Buffer
		total   = map[string]int{}
	)
	for round := range rounds {
		if round%roundsPerHome == 0 {
			home = t.TempDir()
			printed.Reset()
		}
		lines := crash(t, randomKillTime(random, maxTaken), "take", home, posters)
		printed.Write(lines)
		for _, verb := range []string{"taken", "settled"} {
			total[verb] += bytes.Count(lines, []byte(verb+" "))
		}
		examine(t, round, &printed, "verify", home)
		if random.IntN(drainOneIn) == 0 || round%roundsPerHome == roundsPerHome-1 || round == rounds-1 {
			drained := examine(t, round, &printed, "drain", home)
			total["drained"] += bytes.Count(drained, []byte("\n"))
			printed.Write(drained)
			examine(t, round, &printed, "verify", home)
		}
	}
	t.Logf("%d crashes: %d taken, %d settled, %d came back", rounds, total["taken"], total["settled"], total["drained"])
	for verb, n := range total {
		if n < rounds {
			t.Errorf("only %d were %s in %d rounds: the test shows little", n, verb, rounds)
		}
	}
}
