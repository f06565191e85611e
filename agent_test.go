package parley

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every combination of facts, against the order of the contract.
func TestStatusIsTheFirstThatHolds(t *testing.T) {
	now := time.UnixMilli(1_760_000_000_000).UTC()
	later := now.Add(time.Millisecond)
	both := []bool{false, true}
	count := 0
	for _, stopped := range both {
		for _, away := range both {
			for _, runs := range []int{0, 1, 7} {
				for _, approval := range both {
					for _, subtasks := range []int{0, 1, 7} {
						for _, until := range []time.Time{{}, now.Add(-time.Hour), now, later} {
							for _, paused := range both {
								f := Facts{
									Kind: KindAgent, Stopped: stopped, Away: away, LiveRuns: runs, AwaitingApproval: approval,
									OpenSubtasks: subtasks, SleepingUntil: until, Paused: paused,
								}
								reason := ""
								if paused {
									reason = "paused"
								}
								order := []struct {
									holds bool
									is    Status
								}{
									{stopped, Status{Status: "offline", Reason: "stopped"}},
									{away, Status{Status: "offline", Reason: "away"}},
									{runs > 0, Status{Status: "working", Reason: reason}},
									{approval, Status{Status: "awaiting_approval"}},
									{subtasks > 0, Status{Status: "awaiting_delegation"}},
									{until.Equal(later), Status{Status: "sleeping", Until: later}},
									{true, Status{Status: "idle", Reason: reason}},
								}
								first := 0
								for !order[first].holds {
									first++
								}
								if got := f.StatusAt(now); got != order[first].is {
									t.Errorf("%+v: got %+v, want %+v", f, got, order[first].is)
								}
								for _, kind := range []Kind{KindHuman, KindSystem} {
									f.Kind = kind
									if got := f.StatusAt(now); got != (Status{Status: "idle"}) {
										t.Errorf("a %s is never offline, but %+v gives %+v", kind, f, got)
									}
								}
								count++
							}
						}
					}
				}
			}
		}
	}
	if count != 2*2*3*2*3*4*2 {
		t.Errorf("looked at %d combinations", count)
	}
}

func TestStatusAsJSON(t *testing.T) {
	for want, s := range map[string]Status{
		`{"status":"offline","reason":"away"}`: {Status: StatusOffline, Reason: "away"},
		`{"status":"sleeping","sleeping_until":"1970-01-01T00:00:01Z"}`: {
			Status: StatusSleeping, Until: time.UnixMilli(1000).UTC(),
		},
	} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestDefaultProfile(t *testing.T) {
	p := DefaultProfile()
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if p.ContextMessages != 20 || p.InboxDepth != 100 || p.InboxOverflow != "evict-oldest" || p.Attempts != 5 ||
		p.Concurrency != 4 || p.Mode != "autonomous" || p.Tier != "" || p.Manager != "" {
		t.Errorf("the defaults are %+v", p)
	}
}

func TestProfileSettings(t *testing.T) {
	long := strings.Repeat("x", maxText)
	many := slices.Repeat([]string{"x"}, maxList)
	for name, set := range map[string]func(*Profile){
		"tier command":     func(p *Profile) { p.Tier = "command" },
		"tier pm":          func(p *Profile) { p.Tier = "pm" },
		"tier worker":      func(p *Profile) { p.Tier = "worker" },
		"mode supervised":  func(p *Profile) { p.Mode = "supervised" },
		"mode strict":      func(p *Profile) { p.Mode = "strict" },
		"overflow reject":  func(p *Profile) { p.InboxOverflow = "reject" },
		"unbounded":        func(p *Profile) { p.InboxOverflow = "unbounded" },
		"least":            func(p *Profile) { p.ContextMessages, p.InboxDepth, p.Attempts, p.Concurrency = 1, 1, 1, 1 },
		"most":             func(p *Profile) { p.ContextMessages, p.InboxDepth, p.Attempts, p.Concurrency = 1000, 1e6, 100, 100 },
		"long texts":       func(p *Profile) { p.Role, p.Description, p.Guardrails, p.Runtime = long, long, long, long },
		"long lists":       func(p *Profile) { p.Skills, p.Protocols = many, many },
		"any word as role": func(p *Profile) { p.Role = "prüfer\nund mehr" },
		"runtime config":   func(p *Profile) { p.RuntimeConfig = json.RawMessage(` {"argv": ["x"]} `) },
		"budgets":          func(p *Profile) { p.Budget = Budget{1, 1, math.MaxFloat64} },
	} {
		p := DefaultProfile()
		set(&p)
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	over := strconv.Itoa(maxText + 1)
	for _, c := range []struct {
		set   func(*Profile)
		names []string
	}{
		{func(p *Profile) { p.Tier = "boss" }, []string{"tier", "boss"}},
		{func(p *Profile) { p.Mode = "" }, []string{"mode"}},
		{func(p *Profile) { p.Mode = "Strict" }, []string{"mode", "Strict"}},
		{func(p *Profile) { p.InboxOverflow = "" }, []string{"overflow"}},
		{func(p *Profile) { p.ContextMessages = 0 }, []string{"context_messages", "0"}},
		{func(p *Profile) { p.ContextMessages = 1001 }, []string{"context_messages", "1001"}},
		{func(p *Profile) { p.InboxDepth = 0 }, []string{"inbox_depth"}},
		{func(p *Profile) { p.InboxDepth = 1e6 + 1 }, []string{"inbox_depth", "1000001"}},
		{func(p *Profile) { p.Attempts = 0 }, []string{"attempts"}},
		{func(p *Profile) { p.Attempts = 101 }, []string{"attempts"}},
		{func(p *Profile) { p.Concurrency = -1 }, []string{"concurrency", "-1"}},
		{func(p *Profile) { p.Concurrency = 101 }, []string{"concurrency"}},
		{func(p *Profile) { p.Budget.RunsPerHour = -1 }, []string{"budget"}},
		{func(p *Profile) { p.Budget.TokensPerDay = -1 }, []string{"budget"}},
		{func(p *Profile) { p.Budget.CostPerDay = -0.01 }, []string{"budget"}},
		{func(p *Profile) { p.Budget.CostPerDay = math.NaN() }, []string{"budget"}},
		{func(p *Profile) { p.Budget.CostPerDay = math.Inf(1) }, []string{"budget"}}, // JSON has no infinity
		{func(p *Profile) { p.Role = long + "x" }, []string{"role", over}},
		{func(p *Profile) { p.Description = long + "x" }, []string{"description", over}},
		{func(p *Profile) { p.Guardrails = "a\x00" }, []string{"guardrails", "NUL"}},
		{func(p *Profile) { p.Runtime = "\xff" }, []string{"runtime", "UTF-8"}},
		{func(p *Profile) { p.Skills = append(slices.Clone(many), "x") }, []string{"skills", "257", "256"}},
		{func(p *Profile) { p.Skills = []string{"a", "\x00"} }, []string{"skills", "NUL"}},
		{func(p *Profile) { p.Protocols = append(slices.Clone(many), "x") }, []string{"protocols", "257", "256"}},
		{func(p *Profile) { p.RuntimeConfig = json.RawMessage(`[]`) }, []string{"runtime_config", "object"}},
		{func(p *Profile) { p.RuntimeConfig = json.RawMessage(`{"a":1,"a":2}`) }, []string{"runtime_config", "twice"}},
	} {
		p := DefaultProfile()
		c.set(&p)
		refused(t, p.Check(), c.names...)
	}
}
