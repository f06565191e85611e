package hub_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

// machine makes random calls on a hub and on the model.
type machine struct {
	w     *fixture
	model *model
	words int // drawn so far
	seq   int64
	steps int
}

func newMachine(t *rapid.T, place string) *machine {
	x := &machine{model: newModel()}
	x.model.idleDays = 48 * time.Hour
	again := rapid.Bool().Draw(t, "updates run twice")
	x.w = openFixture(t, place, mayLoop, func(w *fixture) {
		w.Config.AutoArchive = x.model.idleDays
		w.Config.Retention.Events = -1 // the test moves the clock by days and compares all events
		if again {
			runTwice(w)
		}
	})
	for _, p := range []peer{{id: "arya", name: "NoOne"}, {id: "ned", name: "ned"}, {id: "bran", name: "bran"}, {id: "sansa", name: "sansa", person: true}} {
		x.addAgent(t, parley.Owner, p)
	}
	return x
}

// secret returns a new word that resembles no other word.
func (x *machine) secret() string {
	x.words++
	sum := sha256.Sum256(fmt.Appendf(nil, "word %d", x.words))
	return "k" + hex.EncodeToString(sum[:6])
}

// expect compares the outcome of a call with that of the model. A refused call must write no events.
func (x *machine) expect(t *rapid.T, what string, before int64, err error, want outcome) {
	t.Helper()
	got := outcome{}
	if err != nil {
		e := parley.AsError(err)
		got = outcome{e.Code, e.Reason}
	}
	if got != want {
		t.Fatalf("%s: %v, want %v (%v)", what, got, want, err)
	}
	if err != nil && x.w.LastEventNumber() != before {
		t.Fatalf("%s: refused, and wrote events", what)
	}
}

func (x *machine) do(t *rapid.T, what string, call func() error, want outcome) {
	t.Helper()
	before := x.w.LastEventNumber()
	x.expect(t, what, before, call(), want)
}

// anybody draws a caller: mostly an agent, sometimes an owner or a removed agent.
func (x *machine) anybody(t *rapid.T) string {
	return rapid.SampledFrom(x.model.peers).Draw(t, "caller").id
}

// aName draws a name or id of a participant, who may not exist.
func (x *machine) aName(t *rapid.T, label string) string {
	p := rapid.SampledFrom(x.model.peers).Draw(t, label)
	return rapid.SampledFrom([]string{p.id, p.id, strings.ToUpper(p.id), p.name, "nobody"}).Draw(t, label+" spelt")
}

const noRoom = "0190a000-0000-7000-8000-000000000000"

// aRoom draws a name or id of a conversation, which may be deleted or hidden from the caller.
func (x *machine) aRoom(t *rapid.T) string {
	if len(x.model.rooms) == 0 {
		return noRoom
	}
	r := rapid.SampledFrom(x.model.rooms).Draw(t, "room")
	if r.fixed() {
		return r.id
	}
	return rapid.SampledFrom([]string{r.id, r.name, "#" + r.name}).Draw(t, "room called")
}

func (x *machine) addAgent(t *rapid.T, by string, p peer) {
	n := parley.NewAgent{ID: p.id, Name: p.name}
	if p.person {
		n.Kind = parley.KindHuman
	}
	x.do(t, "add agent", func() error { _, err := x.w.AddAgent(ctx, as(by), n); return err }, x.model.addAgent(by, p))
}

func (x *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":              x.check,
		"add agent":     x.addsAgent,
		"rename agent":  x.renamesAgent,
		"remove agent":  x.removesAgent,
		"create":        x.creates,
		"join or leave": x.joinsOrLeaves,
		"add or remove": x.addsOrRemoves,
		"rename":        x.renames,
		"topic":         x.setsTopic,
		"archive":       x.archives,
		"delete":        x.deletes,
		"mark read":     x.marksRead,
		"post":          x.posts,
		"post again":    x.posts, // makes posts the most frequent calls
		"post and post": x.posts,
		"reply":         x.replies,
		"ack":           x.acks,
		"time":          x.timePasses,
		"sweep":         x.sweeps,
		"restart":       x.restarts,
	}
}

func (x *machine) addsAgent(t *rapid.T) {
	id := rapid.SampledFrom([]string{"robb", "jon", "arya"}).Draw(t, "id")
	name := rapid.SampledFrom([]string{id, "Ghost", "NED"}).Draw(t, "name")
	by := rapid.SampledFrom([]string{parley.Owner, parley.Owner, "ned"}).Draw(t, "by")
	x.addAgent(t, by, peer{id: id, name: name, person: rapid.Bool().Draw(t, "person")})
}

func (x *machine) renamesAgent(t *rapid.T) {
	who, name := x.aName(t, "who"), rapid.SampledFrom([]string{"Ghost", "Lady", "bran", "NOONE"}).Draw(t, "name")
	x.do(t, "rename agent", func() error {
		_, err := x.w.ChangeAgent(ctx, user, who, func(a *parley.Agent) error { a.Name = name; return nil })
		return err
	}, x.model.renameAgent(parley.Owner, who, name))
}

func (x *machine) removesAgent(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "seldom") > 0 { // otherwise all agents would soon be removed
		return
	}
	by, who := x.anybody(t), x.aName(t, "who")
	x.do(t, "remove agent", func() error { return x.w.RemoveAgent(ctx, as(by), who) }, x.model.removeAgent(by, who))
	x.learn()
}

// learn finds the ids and numbers of the messages that the hub has sent by itself.
func (x *machine) learn() {
	for _, r := range x.model.rooms {
		if !slices.ContainsFunc(r.said, func(s *note) bool { return s.id == "" }) {
			continue
		}
		list, err := x.w.History(ctx, user, r.id, parley.Page{Limit: 1000})
		x.w.NoError(err)
		for i, s := range r.said {
			if s.id == "" && i < len(list) {
				s.id, s.seq = list[i].ID, list[i].Seq
				x.seq = max(x.seq, s.seq)
			}
		}
	}
}

func (x *machine) acks(t *rapid.T) {
	by, id := x.anybody(t), x.aMessage(t)
	x.do(t, "ack", func() error { _, err := x.w.Ack(ctx, as(by), "", id); return err }, x.model.ack(by, id))
}

// aMessage draws the id of a message, or an id that no message has.
func (x *machine) aMessage(t *rapid.T) string {
	all := []string{noRoom}
	for _, r := range x.model.rooms {
		for _, s := range r.said {
			all = append(all, s.id)
		}
	}
	return rapid.SampledFrom(all).Draw(t, "message")
}

func (x *machine) creates(t *rapid.T) {
	by := x.anybody(t)
	n := parley.NewConversation{
		Name: x.roomName(t), Topic: x.secret(), Group: rapid.Bool().Draw(t, "group"), Private: rapid.Bool().Draw(t, "private"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "others") {
		n.With = append(n.With, x.aName(t, "other"))
	}
	r := &room{name: n.Name, topic: n.Topic, kind: parley.Channel, public: !n.Group && !n.Private, secrets: []string{n.Name, n.Topic}}
	if n.Group {
		r.kind = parley.Group
	}
	want := x.model.create(by, r, n.With)
	x.do(t, "create", func() error {
		view, err := x.w.CreateConversation(ctx, as(by), n)
		r.id = view.ID
		return err
	}, want)
}

// roomName draws a new name, or one that is or was in use.
func (x *machine) roomName(t *rapid.T) string {
	var used []string
	for _, r := range x.model.rooms {
		if r.name != "" {
			used = append(used, r.name)
		}
	}
	if len(used) == 0 || rapid.IntRange(0, 3).Draw(t, "new name") > 0 {
		return x.secret()
	}
	return rapid.SampledFrom(used).Draw(t, "used name")
}

func (x *machine) joinsOrLeaves(t *rapid.T) {
	by, ref := x.anybody(t), x.aRoom(t)
	if rapid.Bool().Draw(t, "join") {
		x.do(t, "join", func() error { return x.w.Join(ctx, as(by), ref) }, x.model.join(by, ref))
	} else {
		x.do(t, "leave", func() error { return x.w.Leave(ctx, as(by), ref) }, x.model.leave(by, ref))
	}
}

func (x *machine) addsOrRemoves(t *rapid.T) {
	by, ref, who := x.anybody(t), x.aRoom(t), x.aName(t, "who")
	if rapid.Bool().Draw(t, "add") {
		x.do(t, "add", func() error { return x.w.AddMember(ctx, as(by), ref, who) }, x.model.add(by, ref, who))
	} else {
		x.do(t, "remove", func() error { return x.w.RemoveMember(ctx, as(by), ref, who) }, x.model.remove(by, ref, who))
	}
}

func (x *machine) renames(t *rapid.T) {
	by, ref, name := x.anybody(t), x.aRoom(t), x.roomName(t)
	want := x.model.rename(by, ref, name)
	if want == fine {
		r := x.model.find(x.model.peer(by), name)
		r.secrets = append(r.secrets, name)
	}
	x.do(t, "rename", func() error { return x.w.Rename(ctx, as(by), ref, name) }, want)
}

func (x *machine) setsTopic(t *rapid.T) {
	by, ref, topic := x.anybody(t), x.aRoom(t), x.secret()
	want := x.model.setTopic(by, ref, topic)
	if want == fine {
		r := x.model.find(x.model.peer(by), ref)
		r.secrets = append(r.secrets, topic)
	}
	x.do(t, "topic", func() error { return x.w.SetTopic(ctx, as(by), ref, topic) }, want)
}

func (x *machine) archives(t *rapid.T) {
	by, ref, archived := x.anybody(t), x.aRoom(t), rapid.Bool().Draw(t, "archived")
	x.do(t, "archive", func() error { return x.w.Archive(ctx, as(by), ref, archived) }, x.model.archive(by, ref, archived))
}

func (x *machine) deletes(t *rapid.T) {
	if rapid.IntRange(0, 1).Draw(t, "seldom") > 0 {
		return
	}
	by, ref := rapid.SampledFrom([]string{parley.Owner, "ned"}).Draw(t, "by"), x.aRoom(t)
	x.do(t, "delete", func() error { return x.w.DeleteConversation(ctx, as(by), ref) }, x.model.deleteRoom(by, ref))
}

func (x *machine) marksRead(t *rapid.T) {
	by, ref := x.anybody(t), x.aRoom(t)
	seq := rapid.SampledFrom([]int64{0, 1, x.seq / 2, x.seq, x.seq + 5}).Draw(t, "seq")
	x.do(t, "mark read", func() error { return x.w.MarkRead(ctx, as(by), ref, seq) }, x.model.markRead(by, ref, seq))
}

func (x *machine) timePasses(t *rapid.T) {
	d := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Hour, 23 * time.Hour, 25 * time.Hour}).Draw(t, "time")
	x.w.Clock.Advance(d)
	x.model.now = x.model.now.Add(d)
}

func (x *machine) sweeps(*rapid.T) {
	x.w.NoError(x.w.Sweep(ctx))
	x.model.sweep()
}

func (x *machine) restarts(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "seldom") == 0 {
		x.w.Restart()
	}
}

func (x *machine) posts(t *rapid.T) {
	d := words{}
	switch rapid.IntRange(0, 5).Draw(t, "where") {
	case 0:
		d.Direct, d.Ephemeral = []string{x.aName(t, "recipient")}, true
	case 1, 2:
		for range rapid.IntRange(1, 3).Draw(t, "recipients") {
			d.Direct = append(d.Direct, x.aName(t, "recipient"))
		}
	default:
		d.Conversation = x.aRoom(t)
	}
	x.post(t, d)
}

func (x *machine) replies(t *rapid.T) {
	d := words{}
	d.InReplyTo = x.aMessage(t)
	if rapid.IntRange(0, 3).Draw(t, "naming the room") == 0 {
		d.Conversation = x.aRoom(t)
	}
	x.post(t, d)
}

func (x *machine) post(t *rapid.T, d words) {
	by := x.anybody(t)
	d.Type = rapid.SampledFrom([]parley.Type{parley.TypeChat, parley.TypeChat, parley.TypeStatus, "own_type"}).Draw(t, "type")
	switch rapid.IntRange(0, 5).Draw(t, "to") {
	case 0:
		d.To = "all"
	case 1:
		d.To = x.aName(t, "addressee")
	}
	d.IdempotencyKey = rapid.SampledFrom([]string{"", "", "", "key"}).Draw(t, "key")
	body := x.secret()
	if rapid.IntRange(0, 5).Draw(t, "leading id") == 0 {
		d.lead = x.aName(t, "lead")
		body = d.lead + ": " + body
	}
	for range rapid.IntRange(0, 2).Draw(t, "mentions") {
		name := rapid.SampledFrom([]string{x.aName(t, "mention"), x.aName(t, "mention"), "All"}).Draw(t, "mentioned")
		d.mentions = append(d.mentions, name)
	}
	if len(d.mentions) > 0 {
		body += " @" + strings.Join(d.mentions, " @")
	}
	d.Content.Text = body
	want, out := x.model.post(by, d)
	before := x.w.LastEventNumber()
	got, err := x.w.Post(ctx, as(by), d.Draft)
	x.expect(t, "post", before, err, out)
	if err != nil {
		return
	}
	x.comparePost(t, got, want)
	if want.again == nil {
		x.seq = got.Message.Seq
		x.model.said(want, by, body, d.IdempotencyKey, got.Message)
		want.room.secrets = append(want.room.secrets, x.wordIn(body), got.Message.ID)
	}
}

func (x *machine) wordIn(body string) string {
	for word := range strings.FieldsSeq(body) {
		if len(word) == 13 && word[0] == 'k' {
			return word
		}
	}
	return body
}

func (x *machine) comparePost(t *rapid.T, got parley.Receipt, want plan) {
	if want.again != nil {
		same(t, "repeated", []any{got.Duplicate, got.Message.ID}, []any{true, want.again.id})
		return
	}
	same(t, "new", []any{got.Duplicate, got.Message.Seq > x.seq}, []any{false, true})
	if !want.fresh {
		same(t, "room", got.Message.Conversation, want.room.id)
	}
	same(t, "reaches", wakesByRecipient(got.Deliveries), want.reach)
	same(t, "notices", len(got.Notices)-len(got.UnknownMentions), want.notices) // each unknown name has one
	if !got.Message.Intact() {
		t.Errorf("the checksum of %s does not hold", got.Message.ID)
	}
}
