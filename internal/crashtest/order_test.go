package crashtest

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"
)

const (
	orderRounds = 16
	maxOrdered  = 300 // most lines that a victim prints before the test kills it
)

// TestCrashKeepsTheOrderOfEachPair kills a hub whose agents take, hold and acknowledge messages, and starts it again. Each time the
// hub must begin with the oldest unacknowledged message of each pair, continue without a gap, and count no attempt. So the hub must
// neither hold back messages that were leased when it was killed, nor deliver later messages before them.
func TestCrashKeepsTheOrderOfEachPair(t *testing.T) {
	rounds, random := seededRounds(t, orderRounds)
	var (
		home  string
		pairs map[pair]*pairProgress
		total pairProgress
	)
	for round := range rounds {
		if round%roundsPerHome == 0 {
			home, pairs = t.TempDir(), map[pair]*pairProgress{}
		}
		for _, c := range pairs {
			c.last = 0
		}
		lines := bufio.NewScanner(bytes.NewReader(crash(t, randomKillTime(random, maxOrdered), "order", home)))
		for lines.Scan() {
			if err := follow(pairs, lines.Text(), &total); err != nil {
				t.Fatalf("round %d: %q: %v", round, lines.Text(), err)
			}
		}
	}
	t.Logf("%d crashes: %d taken, %d acknowledged, %d taken again", rounds, total.last, total.acked, total.retaken)
	if total.acked < int64(rounds) || total.retaken < int64(rounds) {
		t.Errorf("the test shows little")
	}
}

// pair is a sender and a recipient.
type pair struct{ from, to string }

// pairProgress holds numbers of messages of a pair: the last one taken since the start, the highest one ever taken, the last one
// whose acknowledgement has begun, and the last acknowledged one. In the total, the fields count messages; retaken counts messages
// that were also taken before a kill.
type pairProgress struct{ last, highest, acking, acked, retaken int64 }

func follow(pairs map[pair]*pairProgress, line string, total *pairProgress) error {
	var (
		verb       string
		p          pair
		n, attempt int64
	)
	if line == "began" {
		return nil
	}
	if _, err := fmt.Sscan(line, &verb, &p.to, &p.from, &n, &attempt); err != nil {
		return err
	}
	c := pairs[p]
	if c == nil {
		c = &pairProgress{}
		pairs[p] = c
	}
	switch {
	case attempt != 0:
		return fmt.Errorf("attempt %d counts", attempt)
	case verb == "acking":
		c.acking = n
	case verb == "acked":
		c.acked = n
		total.acked++
	case c.last == 0 && n > c.acking+1, c.last == 0 && n <= c.acked:
		return fmt.Errorf("the first in this life; %d were acknowledged, perhaps %d", c.acked, c.acking)
	case c.last > 0 && n != c.last+1:
		return fmt.Errorf("%d came before it", c.last)
	default:
		if n <= c.highest {
			total.retaken++
		}
		c.last, c.highest = n, max(c.highest, n)
		total.last++
	}
	return nil
}
