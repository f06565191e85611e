package crashtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// node is a node in a tree of asks and delegations: the steps of the agent that gets the request, in order, and how the agent's
// run ends. The text of the request contains the node.
type node struct {
	ID           int           `json:"id"`
	Do           []step        `json:"do,omitempty"`
	End          ending        `json:"end"`
	Slow         time.Duration `json:"slow,omitempty"` // pause before the end
	RepliesFirst bool          `json:"says,omitempty"` // the agent replies before its first step
}

// step is one contact of an agent with another.
type step struct {
	Pattern parley.Pattern `json:"how"`
	Agent   string         `json:"who"`
	Wait    time.Duration  `json:"wait,omitempty"`
	Node    node           `json:"knot"`
}

// ending is how a run ends.
type ending string

const (
	answers  ending = "answers"
	silent   ending = "silent" // without an answer
	fails    ending = "fails"
	stumbles ending = "stumbles" // the first attempt fails
	hangs    ending = "hangs"    // until the hub or the test ends it
)

// treeMaker draws random trees.
type treeMaker struct {
	*rand.Rand
	nodes int
}

const maxDepth = 5

// tree draws a node with all nodes below it.
func (g *treeMaker) tree(depth int) node {
	g.nodes++
	k := node{ID: g.nodes, End: g.ending(), RepliesFirst: g.IntN(6) == 0}
	if g.IntN(4) == 0 {
		k.Slow = time.Duration(g.IntN(200)) * time.Second
	}
	for range g.IntN(3 + max(0, 2-depth)) {
		if depth < maxDepth {
			k.Do = append(k.Do, g.step(depth))
		}
	}
	return k
}

func (g *treeMaker) ending() ending {
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

func (g *treeMaker) step(depth int) step {
	s := step{Pattern: parley.PatternAsk, Agent: members[g.IntN(len(members))].id, Node: g.tree(depth + 1)}
	switch g.IntN(8) {
	case 0:
		s.Pattern = parley.PatternNotify
		s.Node.Do = nil
	case 1, 2, 3:
		s.Pattern = parley.PatternDelegate
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

// member is one of the agents.
type member struct {
	id, runtime string
	slots       int
}

const removedAgent = "lee"

// members are the agents. The webhook with one slot and the agent with a session can be part of a cycle. The test removes the
// last agent in the middle.
var members = []member{
	{"ada", parley.RuntimeScript, 4},
	{"ben", parley.RuntimeScript, 1},
	{"cleo", parley.RuntimeScript, 2},
	{"dan", parley.RuntimeScript, 4},
	{"hook", parley.RuntimeWebhook, 1},
	{"sess", parley.RuntimeAttached, 1},
	{removedAgent, parley.RuntimeScript, 2},
}

// approvalRules are rules for contacts that need an approval.
var approvalRules = []parley.Permission{
	{Agent: "ada", Target: "cleo", Effect: parley.EffectAllow, RequiresApproval: true},
	{Agent: "dan", Target: "ben", Effect: parley.EffectAllow, RequiresApproval: true},
	{Agent: "hook", Target: "ada", Effect: parley.EffectAllow, RequiresApproval: true},
}

// text returns the text of the request that contains the node.
func (k node) text() string {
	raw, err := json.Marshal(k)
	if err != nil {
		panic(err)
	}
	return "tree " + string(raw)
}

// nodeIn returns the node in the text of a request, and whether the text contains one.
func nodeIn(text string) (k node, found bool) {
	_, raw, found := strings.Cut(text, "tree {")
	if !found {
		return k, false
	}
	if err := json.Unmarshal([]byte("{"+raw), &k); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return k, true
}
