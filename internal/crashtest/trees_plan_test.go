package crashtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// knot is a node in a tree of asks and delegations: the steps of the agent that gets the request, in order, and how it ends. The
// text of the request contains the node.
type knot struct {
	ID   int           `json:"id"`
	Do   []step        `json:"do,omitempty"`
	End  ending        `json:"end"`
	Slow time.Duration `json:"slow,omitempty"` // before it ends
	Says bool          `json:"says,omitempty"` // it replies before it does anything
}

// step is one contact.
type step struct {
	How  parley.Pattern `json:"how"`
	Who  string         `json:"who"`
	Wait time.Duration  `json:"wait,omitempty"`
	Knot knot           `json:"knot"`
}

// ending is how a run ends.
type ending string

const (
	answers  ending = "answers"
	silent   ending = "silent" // it has nothing to say
	fails    ending = "fails"
	stumbles ending = "stumbles" // at first
	hangs    ending = "hangs"    // until somebody ends it
)

// grower draws trees.
type grower struct {
	*rand.Rand
	knots int
}

const deepest = 5

// tree draws a knot with all under it.
func (g *grower) tree(depth int) knot {
	g.knots++
	k := knot{ID: g.knots, End: g.ending(), Says: g.IntN(6) == 0}
	if g.IntN(4) == 0 {
		k.Slow = time.Duration(g.IntN(200)) * time.Second
	}
	for range g.IntN(3 + max(0, 2-depth)) {
		if depth < deepest {
			k.Do = append(k.Do, g.step(depth))
		}
	}
	return k
}

func (g *grower) ending() ending {
	switch g.IntN(24) {
	case 0:
		return silent
	case 1:
		return fails
	case 2:
		return stumbles
	case 3:
		return hangs
	default:
		return answers
	}
}

func (g *grower) step(depth int) step {
	s := step{How: parley.PatternAsk, Who: crew[g.IntN(len(crew))].id, Knot: g.tree(depth + 1)}
	switch g.IntN(8) {
	case 0:
		s.How = parley.PatternNotify
		s.Knot.Do = nil
	case 1, 2, 3:
		s.How = parley.PatternDelegate
		if g.IntN(4) == 0 {
			s.Wait = time.Duration(1+g.IntN(100)) * time.Second
		}
	default:
		if g.IntN(3) == 0 {
			s.Wait = time.Duration(1+g.IntN(100)) * time.Second
		}
	}
	return s
}

// member is one of the agents of a campaign.
type member struct {
	id, runtime string
	slots       int
}

const leaver = "lee"

// crew are the agents that trees are played by. The webhook with one slot and the session can be part of a cycle. The
// last is removed one day.
var crew = []member{
	{"ada", parley.RuntimeScript, 4},
	{"ben", parley.RuntimeScript, 1},
	{"cleo", parley.RuntimeScript, 2},
	{"dan", parley.RuntimeScript, 4},
	{"hook", parley.RuntimeWebhook, 1},
	{"sess", parley.RuntimeAttached, 1},
	{leaver, parley.RuntimeScript, 2},
}

// watched are the contacts that need an approval.
var watched = []parley.Permission{
	{Agent: "ada", Target: "cleo", Effect: parley.EffectAllow, RequiresApproval: true},
	{Agent: "dan", Target: "ben", Effect: parley.EffectAllow, RequiresApproval: true},
	{Agent: "hook", Target: "ada", Effect: parley.EffectAllow, RequiresApproval: true},
}

// text is a knot as it travels.
func (k knot) text() string {
	raw, err := json.Marshal(k)
	if err != nil {
		panic(err)
	}
	return "tree " + string(raw)
}

// knotIn is the knot in the text of a request, if there is one.
func knotIn(text string) (k knot, found bool) {
	_, raw, found := strings.Cut(text, "tree {")
	if !found {
		return k, false
	}
	if err := json.Unmarshal([]byte("{"+raw), &k); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return k, true
}
