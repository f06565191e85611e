package hub_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestSubscribersGetOnlyEventsTheyMaySee lets rights change while several subscribe: each is told what it could
// have read at any time since the event happened, and nothing that it may not read when it is told. Some
// read after every change, some seldom, some come back at where they left.
func TestSubscribersGetOnlyEventsTheyMaySee(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := newCrowd(t, rt)
		for range rapid.IntRange(10, 30).Draw(rt, "changes") {
			c.change(rt)
			c.look()
			for i := range c.listeners {
				switch rapid.IntRange(0, 5).Draw(rt, "reads") {
				case 0, 1, 2:
					c.listen(&c.listeners[i])
				case 3:
					c.listen(&c.listeners[i])
					c.comeBack(&c.listeners[i])
				}
			}
		}
		for i := range c.listeners {
			c.listen(&c.listeners[i])
			c.listeners[i].sub.Close()
		}
	})
}

// crowd is a hub with participants whose rights change and who follow events.
type crowd struct {
	*fixture
	t         *rapid.T
	rooms     []string
	said      []string
	listeners []listener
}

// listener is one subscription, with the events that its owner could see after each change since the last read.
type listener struct {
	who    string
	filter parley.EventFilter
	sub    *hub.Subscription
	upTo   int64
	sights []sight
}

type sight struct {
	last int64
	nums []int64
}

var (
	crowdAgents = []string{"arya", "ned", "bran"}
	crowdAll    = append(slices.Clone(crowdAgents), "sansa", "user")
)

func newCrowd(t *testing.T, rt *rapid.T) *crowd {
	c := &crowd{fixture: openFixture(rt, stores.NewPlace(t), mayLoop), t: rt}
	c.Start(ctx)
	c.AddAgents(crowdAgents...)
	c.AddPerson("sansa", parley.AccessMember)
	c.rooms = []string{c.CreateChannel("arya", "open").ID, c.CreatePrivateChannel("arya", "closed", "ned").ID, c.CreateGroup("ned", "group", "bran").ID}
	c.said = []string{c.SayIn("arya", "open", "hello").Message.ID}
	for _, who := range append(slices.Clone(crowdAll), "arya", "sansa") {
		l := listener{who: who, upTo: c.LastEventNumber()}
		switch rapid.IntRange(0, 3).Draw(rt, "filter") {
		case 0:
			l.filter.Kinds = []parley.EventKind{"message", "member"}
		case 1:
			l.filter.Conversation = c.rooms[0]
		}
		c.comeBack(&l)
		c.listeners = append(c.listeners, l)
	}
	return c
}

func (c *crowd) comeBack(l *listener) {
	if l.sub != nil {
		l.sub.Close()
	}
	sub, err := c.Subscribe(ctx, as(l.who), l.upTo, l.filter)
	if parley.AsError(err) != nil && l.filter.Conversation != "" { // the conversation was deleted
		l.filter.Conversation = ""
		sub, err = c.Subscribe(ctx, as(l.who), l.upTo, l.filter)
	}
	c.NoError(err)
	l.sub = sub
}

// change makes one random call. The hub may refuse it.
func (c *crowd) change(t *rapid.T) {
	by, who := rapid.SampledFrom(crowdAll).Draw(t, "by"), rapid.SampledFrom(crowdAll).Draw(t, "who")
	room := rapid.SampledFrom(c.rooms).Draw(t, "room")
	switch rapid.IntRange(0, 11).Draw(t, "change") {
	case 0, 1, 2:
		if r, err := c.Post(ctx, as(by), parley.Draft{Conversation: room, Content: text("hi")}); err == nil {
			c.said = append(c.said, r.Message.ID)
		}
	case 3:
		_, _ = c.Post(ctx, as(by), parley.Draft{Direct: []string{who}, Content: text("hi")})
	case 4:
		_ = c.Join(ctx, as(by), room)
	case 5:
		_ = c.Leave(ctx, as(by), room)
	case 6:
		_ = c.AddMember(ctx, as(by), room, who)
	case 7:
		_ = c.RemoveMember(ctx, as(by), room, who)
	case 8:
		c.changeRole(rapid.Bool().Draw(t, "owner"))
	case 9:
		_ = c.MarkRead(ctx, as(by), room, 0)
	case 10:
		_, _ = c.Redact(ctx, user, rapid.SampledFrom(c.said).Draw(t, "message"), "a slip")
	case 11:
		if rapid.IntRange(0, 2).Draw(t, "seldom") == 0 {
			c.NoError(c.DeleteConversation(ctx, user, room))
			name := fmt.Sprint("room", c.LastEventNumber())
			view := c.CreateConversationAs(by, parley.NewConversation{Name: name, With: []string{who}, Private: rapid.Bool().Draw(t, "private")})
			c.rooms[slices.Index(c.rooms, room)] = view.ID
		}
	}
}

func (c *crowd) changeRole(owner bool) {
	_, err := c.ChangeAgent(ctx, user, "sansa", func(a *parley.Agent) error {
		a.Access = parley.AccessMember
		if owner {
			a.Access = parley.AccessOwner
		}
		return nil
	})
	c.NoError(err)
}

// look records the events that each listener could see now.
func (c *crowd) look() {
	for i := range c.listeners {
		l := &c.listeners[i]
		nums, err := c.Sees(ctx, as(l.who), l.upTo)
		c.NoError(err)
		l.sights = append(l.sights, sight{c.LastEventNumber(), nums})
	}
}

// listen reads all events of a subscription, and compares them with the record.
func (c *crowd) listen(l *listener) {
	c.t.Helper()
	last := c.LastEventNumber()
	before := l.upTo
	got := eventNumbers(readUntil(c.t, c.Hub, l.sub, last))
	l.upTo = max(l.upTo, last)
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		c.t.Fatalf("%s was told %v", l.who, got)
	}
	now, err := c.Sees(ctx, as(l.who), before)
	c.NoError(err)
	asked := c.selected(l, before)
	for _, num := range got {
		if !slices.Contains(now, num) || !slices.Contains(asked, num) {
			c.t.Fatalf("%s (%v) was told of %d, and may see %v", l.who, l.filter, num, now)
		}
	}
	for _, num := range asked {
		if l.always(num) && !slices.Contains(got, num) {
			c.t.Fatalf("%s (%v) was not told of %d, but of %v", l.who, l.filter, num, got)
		}
	}
	l.sights = nil
}

// selected returns the events that match the listener's filter.
func (c *crowd) selected(l *listener, after int64) (selected []int64) {
	c.NoError(c.Store.View(ctx, func(tx storage.Tx) error {
		list, err := tx.Log().Events(after, 1<<20)
		for _, e := range list {
			if l.filter.Selects(e) {
				selected = append(selected, e.Num)
			}
		}
		return err
	}))
	return selected
}

// always reports whether the listener could see an event ever since it happened.
func (l *listener) always(num int64) bool {
	return !slices.ContainsFunc(l.sights, func(s sight) bool { return s.last >= num && !slices.Contains(s.nums, num) })
}
