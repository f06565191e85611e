package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The most that one token may cost a hub. docs/security.md states the same bounds.
const (
	attackMemory      = 512 // MiB beyond what the hub had before
	attackDescriptors = 1024
	attackLatency     = time.Second // of 99 in 100 calls of the owner
)

// TestAttackWithFewDescriptors checks that a hub with 256 descriptors still serves its owner while strangers open a thousand
// connections.
func TestAttackWithFewDescriptors(t *testing.T) {
	a := startAttackedHub(t, 256)
	ctx, cancel := context.WithCancel(t.Context())
	var attackers sync.WaitGroup
	attackers.Go(func() { a.sendAndHold(ctx, 1000, "", "") })
	stop := a.watch()
	for range 20 {
		for n := range 2 {
			if err := a.callAsOwner(n); err != nil {
				t.Error(err)
			}
		}
	}
	m := stop()
	cancel()
	attackers.Wait()
	t.Logf("at most %d descriptors", m.descriptors)
	if m.descriptors > 250 {
		t.Errorf("%d descriptors of 256 were open", m.descriptors)
	}
}

// TestAttackCampaign attacks a hub with one agent's token and without a token, in every known way, at random and concurrently. The
// hub's memory and descriptors must stay within bounds, and the hub must serve its owner. If PARLEY_ATTACK is set to a duration
// (10m), the test attacks for that time and also checks how fast the hub serves its owner.
func TestAttackCampaign(t *testing.T) {
	length, timed := 12*time.Second, false
	if s := os.Getenv("PARLEY_ATTACK"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
		timed = true
	}
	_, random := seededRounds(t, 1)
	a := startAttackedHub(t, 0)
	stop := a.watch()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var attackers sync.WaitGroup
	for range 4 {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		attackers.Go(func() {
			for ctx.Err() == nil {
				attackCtx, cancelAttack := context.WithTimeout(ctx, attackLength)
				attackKinds[own.IntN(len(attackKinds))].attack(attackCtx, a, own)
				cancelAttack()
			}
		})
	}
	attackers.Wait()
	checkBounds(t, stop(), timed)
}

// TestAttackEachAlone measures each way to attack by itself. It runs only if PARLEY_ATTACK is set.
func TestAttackEachAlone(t *testing.T) {
	if os.Getenv("PARLEY_ATTACK") == "" {
		t.Log("the campaign has all of them at once")
		return
	}
	for _, k := range attackKinds {
		t.Run(k.name, func(t *testing.T) {
			a := startAttackedHub(t, 0)
			stop := a.watch()
			ctx, cancel := context.WithTimeout(t.Context(), 2*attackLength)
			defer cancel()
			k.attack(ctx, a, rand.New(rand.NewPCG(1, 0)))
			checkBounds(t, stop(), true)
		})
	}
}

// checkBounds compares the measurements with the bounds.
func checkBounds(t *testing.T, m measured, timed bool) {
	t.Helper()
	slices.Sort(m.calls)
	if len(m.calls) == 0 {
		t.Fatal("the owner has not called")
	}
	p99 := m.calls[len(m.calls)*99/100]
	t.Logf("memory %d MiB, at most %d; at most %d descriptors; %d calls of the owner, p50 %v, p99 %v, longest %v", m.before, m.memory, m.descriptors,
		len(m.calls), m.calls[len(m.calls)/2].Round(time.Millisecond), p99.Round(time.Millisecond), m.calls[len(m.calls)-1].Round(time.Millisecond))
	if m.memory-m.before > attackMemory {
		t.Errorf("memory rose from %d to %d MiB, by more than %d", m.before, m.memory, attackMemory)
	}
	if m.descriptors > attackDescriptors {
		t.Errorf("%d descriptors were open, more than %d", m.descriptors, attackDescriptors)
	}
	if timed && p99 > attackLatency {
		t.Errorf("of 100 calls of the owner one took %v, more than %v", p99, attackLatency)
	}
}

// TestAttackBoundsAreThoseOfTheDocumentation compares the bounds with docs/security.md.
func TestAttackBoundsAreThoseOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		fmt.Sprintf("| memory that one token costs the hub | %d MiB |", attackMemory),
		fmt.Sprintf("| descriptors that one token and strangers cost the hub | %d |", attackDescriptors),
		fmt.Sprintf("| how long 99 of 100 calls of the owner take during the attack | at most %s |", attackLatency),
	} {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/security.md has no row %q", row)
		}
	}
}

// TestAttackByManyStreams has 63 agents hold 32 streams each and read nothing. It runs only if PARLEY_ATTACK is set.
func TestAttackByManyStreams(t *testing.T) {
	if os.Getenv("PARLEY_ATTACK") == "" {
		t.Log("the campaign has streams, and internal/hub shows what each costs")
		return
	}
	a := startAttackedHub(t, 0)
	var agents []string
	for n := range 63 {
		agents = append(agents, fmt.Sprint("a", n))
		a.mustCall("POST", "/v1/agents", map[string]any{"id": agents[n]}, nil)
	}
	a.mustCall("POST", "/v1/conversations", map[string]any{"name": "crowd", "with": agents}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stop := a.watch()
	var attackers sync.WaitGroup
	for _, id := range agents {
		token := a.tokenOf(id)
		attackers.Go(func() {
			a.sendAndHold(ctx, 32, "GET /v1/events HTTP/1.1\r\nHost: localhost:0\r\nAuthorization: Bearer "+token+"\r\n\r\n", "")
		})
	}
	for n := 0; ctx.Err() == nil; n++ {
		a.mustCall("POST", "/v1/messages", map[string]any{"conversation": "crowd", "content": map[string]string{"text": fmt.Sprint(n)}}, nil)
	}
	attackers.Wait()
	m := stop()
	m.descriptors = 0 // the bound is for one token, and the test uses 63
	checkBounds(t, m, false)
}
