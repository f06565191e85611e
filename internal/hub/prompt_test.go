package hub_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/prompt"
)

// company is a hub with script agents, in which every message has a unique word.
type company struct {
	*fixture
	where   map[string]string // conversation of each word
	by      map[string]string // sender of each word
	rooms   []string
	runs    []*hub.Assignment
	prompts int
	words   int // found in prompts
}

var staff = []string{"arya", "gendry", "ned", "sansa"}

// TestPromptsHoldNoForeignConversations runs random histories and looks, in the prompt of every run, for words of a
// conversation that is not the run's, or which the agent may not read.
func TestPromptsHoldNoForeignConversations(t *testing.T) {
	t.Parallel()
	prompts, words := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		c := &company{fixture: openFixture(rt, stores.NewPlace(t), mayLoop), where: map[string]string{}, by: map[string]string{}}
		c.AddScriptAgents(staff...)
		for _, n := range []parley.NewConversation{{Name: "open"}, {Name: "closed", Private: true, With: staff[:2]}, {Name: "few", Group: true, With: staff[1:]}} {
			c.rooms = append(c.rooms, c.CreateConversationAs(parley.Owner, n).ID)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"speak": c.speak, "whisper": c.whisper, "add": c.addSomebody, "leave": c.leaveSomewhere,
			"run": c.runSomebody, "end": c.endRun, "start": c.startAll,
		})
		c.startAll(rt)
		prompts, words = prompts+c.prompts, words+c.words
	})
	if !testing.Short() && (prompts == 0 || words <= prompts) {
		t.Errorf("%d words in %d prompts show nothing", words, prompts)
	}
}

func anyOf(t *rapid.T, list []string, what string) string {
	return rapid.SampledFrom(list).Draw(t, what)
}

// word returns a new word.
func (c *company) word() string { return fmt.Sprintf("word%dx", len(c.where)+1) }

var aWord = regexp.MustCompile(`word\d+x`)

// says posts a new word after the text of a draft, and records it if the hub accepts the post.
func (c *company) says(caller hub.Caller, d parley.Draft) {
	word := c.word()
	d.Content = text(d.Content.Text + " " + word)
	receipt, err := c.Post(ctx, caller, d)
	if err == nil {
		c.where[word], c.by[word] = receipt.Message.Conversation, caller.Agent
		if !slices.Contains(c.rooms, receipt.Message.Conversation) {
			c.rooms = append(c.rooms, receipt.Message.Conversation)
		}
	}
}

func (c *company) speak(t *rapid.T) {
	from := anyOf(t, append([]string{parley.Owner}, staff...), "from")
	c.says(as(from), parley.Draft{Conversation: anyOf(t, c.rooms, "room"), Content: text("@" + anyOf(t, staff, "whom"))})
}

func (c *company) whisper(t *rapid.T) {
	from := anyOf(t, append([]string{parley.Owner}, staff...), "from")
	direct := rapid.SliceOfNDistinct(rapid.SampledFrom(staff), 1, 2, rapid.ID).Draw(t, "to")
	c.says(as(from), parley.Draft{Direct: direct, Ephemeral: len(direct) == 1 && rapid.Bool().Draw(t, "ephemeral")})
}

// addSomebody adds an agent to a conversation. It ignores a refusal, because some conversations have fixed members.
func (c *company) addSomebody(t *rapid.T) {
	_ = c.AddMember(ctx, user, anyOf(t, c.rooms, "room"), anyOf(t, staff, "whom"))
}

func (c *company) leaveSomewhere(t *rapid.T) {
	_ = c.RemoveMember(ctx, user, anyOf(t, c.rooms, "room"), anyOf(t, staff, "whom"))
}

func (c *company) startAll(t *rapid.T) {
	for _, agent := range staff {
		c.start(t, agent)
	}
}

func (c *company) runSomebody(t *rapid.T) { c.start(t, anyOf(t, staff, "agent")) }

// start makes the next run of an agent, if there is one, and checks its prompt.
func (c *company) start(t *rapid.T, agent string) {
	a := c.NextRunOf(agent)
	if a == nil {
		return
	}
	c.runs = append(c.runs, a)
	c.look(t, a)
}

func (c *company) look(t *rapid.T, a *hub.Assignment) {
	known, err := c.RunContext(ctx, a.Run.ID)
	if err != nil {
		return // the agent was removed from the conversation meanwhile
	}
	made := prompt.Build(known)
	c.prompts++
	room := c.ConversationAs(parley.Owner, a.Run.Conversation)
	may := room.ReadableByAll() || slices.Contains(room.Members, a.Agent.ID)
	for _, word := range aWord.FindAllString(made.System+made.User, -1) {
		c.words++
		own := c.by[word] == a.Agent.ID && len(known.Earlier) > 0 // an earlier attempt has posted it elsewhere
		if !may || c.where[word] != a.Run.Conversation && !own {
			t.Fatalf("the prompt of %s in %s has %s, said in %s:\n%s", a.Agent.ID, a.Run.Conversation, word, c.where[word], made.User)
		}
	}
}

// endRun lets a run post elsewhere, checks its prompt again, and ends the run by a failure or an answer.
func (c *company) endRun(t *rapid.T) {
	if len(c.runs) == 0 {
		return
	}
	i := rapid.IntRange(0, len(c.runs)-1).Draw(t, "run")
	a := c.runs[i]
	if _, err := c.ExtendRunLease(ctx, a.Run.ID); err != nil { // the run was lost while other runs paused
		c.runs = slices.Delete(c.runs, i, i+1)
		return
	}
	if rapid.Bool().Draw(t, "speaks") {
		c.says(a.Caller(), parley.Draft{Conversation: anyOf(t, c.rooms, "room"), Content: text("@" + anyOf(t, staff, "whom"))})
	}
	if rapid.Bool().Draw(t, "is removed") {
		_ = c.RemoveMember(ctx, user, a.Run.Conversation, a.Agent.ID)
	}
	c.look(t, a)
	c.runs = slices.Delete(c.runs, i, i+1)
	if rapid.Bool().Draw(t, "breaks") {
		c.FailRunWith(a, parley.FailureLost)
		c.Leases.Advance(pauseAfterLoss)
		c.NoError(c.SweepDeliveries(ctx))
		return
	}
	c.NoError(c.BeginRun(ctx, a.Run.ID, parley.Process{}))
	word := c.word()
	r := resultOf[parley.Run](c.fixture)(c.FinishRun(ctx, a.Run.ID, parley.Result{Text: "@" + anyOf(t, staff, "whom") + " " + word}, nil))
	c.where[word], c.by[word] = r.Conversation, a.Agent.ID
}

// pauseAfterLoss is longer than any pause before a retry.
const pauseAfterLoss = 2 * time.Minute
