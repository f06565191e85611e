package crashtest

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"
)

const (
	orderRounds = 16
	mostOrdered = 300 // lines of a victim that takes in order, before it is killed
)

// TestCrashKeepsTheOrderOfEachPair kills a hub at which agents take, hold and acknowledge. Each life begins with the oldest
// message of each pair that was not acknowledged, goes on without a gap, and counts no attempt: nothing that was leased
// when the hub was killed is held back, and nothing overtakes it.
func TestCrashKeepsTheOrderOfEachPair(t *testing.T) {
	rounds, random := campaign(t, orderRounds)
	var (
		home  string
		pairs map[pair]*course
		total course
	)
	for round := range rounds {
		if round%roundsPerHome == 0 {
			home, pairs = t.TempDir(), map[pair]*course{}
		}
		for _, c := range pairs {
			c.last = 0
		}
		lines := bufio.NewScanner(bytes.NewReader(crash(t, someMoment(random, mostOrdered), "order", home)))
		for lines.Scan() {
			if err := follow(pairs, lines.Text(), &total); err != nil {
				t.Fatalf("round %d: %q: %v", round, lines.Text(), err)
			}
		}
	}
	t.Logf("%d crashes: %d taken, %d acknowledged, %d taken again", rounds, total.last, total.acked, total.again)
	if total.acked < int64(rounds) || total.again < int64(rounds) {
		t.Errorf("the test shows little")
	}
}

// pair is a sender and a recipient.
type pair struct{ from, to string }

// course is how far the messages of a pair have come: what was taken last in this life, what may be acknowledged, what
// is, and how many were taken by a former life too.
type course struct{ last, most, acking, acked, again int64 }

func follow(pairs map[pair]*course, line string, total *course) error {
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
		c = &course{}
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
		if n <= c.most {
			total.again++
		}
		c.last, c.most = n, max(c.most, n)
		total.last++
	}
	return nil
}
