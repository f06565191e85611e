package hub

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// landing is a document on its way into the store. What can be prepared outside the transaction is.
type landing struct {
	parley.Arrival
	post post
	err  error // why it can be no message, whatever is stored
}

// approach makes a post of a document. Its address is the hub's to set.
func (h *Hub) approach(b parley.Bridge, a parley.Arrival) *landing {
	l := &landing{Arrival: a}
	if a.Refused != nil {
		return l
	}
	d := a.Draft
	d.From, d.Conversation, d.Direct, d.Ephemeral, d.To, d.InReplyTo, d.IdempotencyKey = "", "", nil, false, a.To, "", ""
	switch {
	case a.Channel != "":
		d.Conversation = a.Channel
	case a.Queue:
		d = asTask(d)
		d.Direct, d.To = []string{b.QueueAgent}, b.QueueAgent
	case a.To == parley.All:
		d.Conversation, d.Sequence = broadcastChannel, 0
	case a.To == "":
		l.err = parley.Errorf(parley.BadInput, "the document is for nobody").Suggest("say for which agent it is")
		return l
	default:
		d.Direct = []string{a.To}
	}
	if !a.ExpiresAt.IsZero() {
		d.TTL = max(1, int64(a.ExpiresAt.Sub(h.now()).Round(time.Second)/time.Second))
	}
	if d, l.err = withCallback(d, a.Callback); l.err != nil {
		return l
	}
	if d, l.err = d.Check(h.config.Limits); l.err != nil {
		return l
	}
	l.post = post{draft: d, source: bridged, named: a.Name}
	if !a.ExpiresAt.IsZero() {
		l.post.expires = a.ExpiresAt.UTC().Truncate(time.Millisecond)
	}
	l.err = l.post.compose()
	return l
}

// asTask makes a request for nobody one for work, whatever it asks for.
func asTask(d parley.Draft) parley.Draft {
	if do := decodeDeed(d); do != nil && do.asks != nil {
		return d
	}
	d.Type = parley.TypeTask
	if strings.TrimSpace(d.Content.Text) == "" {
		d.Content.Text = asWords(d.Payload)
	}
	return d
}

// withCallback notes in the metadata who gets the response too, where the payload does not say it.
func withCallback(d parley.Draft, callback string) (parley.Draft, error) {
	if callback == "" || callbackOf(parley.Message{Payload: d.Payload}) == callback {
		return d, nil
	}
	all := map[string]json.RawMessage{}
	if len(d.Metadata) > 0 {
		if err := json.Unmarshal(d.Metadata, &all); err != nil {
			return d, parley.Errorf(parley.BadInput, "the metadata is no object").Suggest("give one JSON object")
		}
	}
	var err error
	if all["callback"], err = json.Marshal(callback); err == nil {
		d.Metadata, err = json.Marshal(all)
	}
	return d, err
}

func (l *landing) row(bridge, message string, now time.Time) parley.FileRow {
	return parley.FileRow{Bridge: bridge, File: l.BridgeFile, Name: l.Name, From: l.From, Message: message, At: now}
}

// intake is an update that stores documents of a tree. What is history goes in as an import does.
type intake struct {
	*scene
	history *arrival
}

func newIntake(s *scene) *intake {
	return &intake{scene: s, history: newArrival(s)}
}

// over is the same update in the name of the sender of a document.
func (in *intake) over(b *parley.Bridge, sender parley.Agent) *intake {
	as := in.scene.over(b, sender)
	return &intake{scene: as, history: in.history.over(as)}
}

// land stores a document as its sender's, unless it has come before, or the sender may not.
func (in *intake) land(id string, l *landing) (parley.Arrived, error) {
	view, err := in.bridge(id)
	if err != nil {
		return parley.Arrived{}, err
	}
	b := view.Bridge
	if l.Refused != nil {
		return parley.Arrived{Error: l.Refused}, in.refuse(b, l, l.Refused)
	}
	if first, known, err := in.cameBefore(b, l); known || err != nil {
		return first, err
	}
	sender, err := in.trusted(b, l.Arrival)
	if err != nil {
		return parley.Arrived{}, err
	}
	if l.err != nil {
		return parley.Arrived{}, l.err
	}
	got, err := in.over(&b, sender).take(b, l)
	if err != nil {
		return got, err
	}
	return got, in.Bridges().Arrived(l.row(id, got.Message, in.now))
}

// take stores what a trusted sender has written.
func (in *intake) take(b parley.Bridge, l *landing) (got parley.Arrived, err error) {
	if l.FromTier != "" && in.me.Tier == "" && in.hub.bridges.claims(b.ID, in.me.ID, l.FromTier) {
		got.Notices = append(got.Notices, fmt.Sprintf("the tier %s that %s gives itself here does not count (if it is right: parley agent set %s --tier %s)",
			l.FromTier, in.me.ID, in.me.ID, l.FromTier))
	}
	if l.History {
		in.signOf(b, in.me, l.At)
		return in.keepHistory(b, l, got)
	}
	in.signOf(b, in.me, in.now)
	if !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(in.now) {
		got.Notices = append(got.Notices, "it has expired: "+l.ExpiresAt.Format(time.RFC3339))
		return got, nil
	}
	return in.postArrival(b, l, got)
}

// cameBefore says what became of a document that has come before, or is the hub's own.
func (s *scene) cameBefore(b parley.Bridge, l *landing) (first parley.Arrived, known bool, err error) {
	row, err := s.Bridges().File(b.ID, l.BridgeFile)
	if err == nil {
		return parley.Arrived{Message: row.Message, Duplicate: true}, true, nil
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return first, false, err
	}
	folder := cmp.Or(l.Channel, l.To)
	if l.Channel == "" && l.To == parley.All {
		folder = folderOf(l.Path)
	}
	own, of, err := s.ownExport(b, folder, l.Name)
	switch {
	case err != nil:
		return first, false, err
	case own && of.ID == "":
		return parley.Arrived{Duplicate: true}, true, nil
	case own && of.From == l.From && !l.Queue:
		return parley.Arrived{Message: of.ID, Duplicate: true}, true, s.Bridges().Arrived(l.row(b.ID, of.ID, s.now))
	}
	if l.To != parley.All || l.Channel != "" {
		return s.sameDocument(b, l)
	}
	return s.spreadBefore(b, l)
}

// sameDocument finds the message of a document that has come before under another name: from the same sender, with the same id, for
// the same inbox or channel. Ids may come again under the same name, because some formats draw them from few.
func (s *scene) sameDocument(b parley.Bridge, l *landing) (first parley.Arrived, known bool, err error) {
	row, err := s.Bridges().Named(b.ID, l.Name, l.From)
	if err != nil || row.Message == "" || row.File.Path == l.Path {
		return first, false, ignoreNotFound(err)
	}
	if same, err := s.sameAddress(row, l); err != nil || !same {
		return first, false, err
	}
	if err := s.Bridges().Arrived(l.row(b.ID, row.Message, s.now)); err != nil {
		return first, false, err
	}
	note := fmt.Sprintf("it is a duplicate: %s has delivered %s before", clipped(row.File.Path), clipped(l.Name))
	return parley.Arrived{Message: row.Message, Duplicate: true, Notices: []string{note}}, true, nil
}

// sameAddress reports whether a document goes where the message of an earlier file went.
func (s *scene) sameAddress(before parley.FileRow, l *landing) (bool, error) {
	if folderOf(before.File.Path) == folderOf(l.Path) {
		return true, nil
	}
	m, err := s.Messages().Get(before.Message)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	if l.Channel == "" {
		return l.err == nil && m.To == l.post.draft.To, nil
	}
	c, err := s.Conversations().Find(m.Conversation)
	return c.Name == l.Channel, ignoreNotFound(err)
}

// trusted is whom a document is from: files carry no credential, so it must be one that may speak through the bridge, of
// the tier it says.
func (s *scene) trusted(b parley.Bridge, a parley.Arrival) (parley.Agent, error) {
	if !b.Speaks(a.From) {
		return parley.Agent{}, mayNotSpeak(b, a.From)
	}
	sender, err := s.Agents().Find(a.From)
	switch {
	case err != nil && !errors.Is(err, parley.ErrNotFound):
		return sender, err
	case err != nil || sender.RemovedAt != nil || sender.Kind != parley.KindAgent:
		return sender, parley.Errorf(parley.NotPermitted, "%s is no agent of this hub", a.From).Suggest("ask an owner of this hub to add it")
	case a.FromTier != "" && sender.Tier != "" && a.FromTier != sender.Tier:
		return sender, parley.Errorf(parley.NotPermitted, "the document says that %s is of the tier %s, and it is of the tier %s", sender.ID, a.FromTier, sender.Tier).
			Suggest("write the tier that it has, or have an owner of this hub change it")
	}
	return sender, nil
}

// mayNotSpeak says what an owner can do about it.
func mayNotSpeak(b parley.Bridge, from string) error {
	refused := parley.Errorf(parley.NotPermitted, "%s may not speak through the bridge %s", from, b.ID)
	if parley.CheckID(from) != nil {
		return refused.Suggest("write the id of an agent; those who may: %s", strings.Join(b.Agents, ", "))
	}
	return refused.Suggest("an owner of this hub can let it: parley bridge set %s --agents %s", b.ID, strings.Join(append(slices.Clone(b.Agents), from), ","))
}

// postArrival posts what is no history.
func (in *intake) postArrival(b parley.Bridge, l *landing, got parley.Arrived) (parley.Arrived, error) {
	p := l.post
	p.tree = &b
	if l.Channel != "" {
		channel, err := in.openMapped(b, l.Channel)
		if err != nil {
			return got, err
		}
		p.draft.Conversation = channel
		to, err := in.reader(l.To)
		if p.draft.To = to; err != nil {
			return got, err
		}
		if to != l.To {
			got.Notices = append(got.Notices, in.unreached(l))
		}
	}
	if l.Queue {
		if err := in.mustHaveQueue(b); err != nil {
			return got, err
		}
	}
	if l.To == parley.All && l.Channel == "" && !l.Queue {
		notices, err := in.spreadTo(l.ToTier, &p)
		if got.Notices = append(got.Notices, notices...); err != nil {
			return got, err
		}
	}
	notices, err := in.link(b, l, &p)
	if got.Notices = append(got.Notices, notices...); err != nil {
		return got, err
	}
	receipt, err := in.post(p)
	if got.Message, got.Notices = receipt.Message.ID, append(got.Notices, receipt.Notices...); err != nil {
		return got, err
	}
	notices, err = in.aboutUnknown()
	got.Notices = append(got.Notices, notices...)
	return got, err
}

// reader is whom a document in a channel is for, if that is somebody here. Others may read it there who are not.
func (in *intake) reader(to string) (string, error) {
	if to == "" || to == parley.All {
		return to, nil
	}
	a, err := in.Agents().Find(to)
	if err != nil || a.RemovedAt != nil || a.Kind == parley.KindSystem || a.ID == in.me.ID {
		return "", ignoreNotFound(err)
	}
	return to, nil
}

// unreached says of a document in a channel that it is for nobody whom the hub could give it.
func (in *intake) unreached(l *landing) string {
	who := "is no agent of this hub"
	switch l.To {
	case in.me.ID:
		who = "has written it"
	case parley.System:
		who = "is the hub itself"
	}
	return fmt.Sprintf("it is for %s, who %s: it is kept in #%s, and given to nobody", clipped(l.To), who, l.Channel)
}

// mustHaveQueue holds requests for nobody up until there is an agent to take them.
func (s *scene) mustHaveQueue(b parley.Bridge) error {
	a, err := s.Agents().Find(b.QueueAgent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && a.RemovedAt != nil {
		return parley.Errorf(parley.Unavailable, "there is no agent %s to take requests for nobody", b.QueueAgent).
			Retryable(0).Suggest("add it: parley agent add %s", b.QueueAgent)
	}
	return err
}

// openMapped is the id of the channel that a document is in. It makes the channel if there is none.
func (s *scene) openMapped(b parley.Bridge, name string) (string, error) {
	if !b.Maps(name) {
		return "", parley.Errorf(parley.NotPermitted, "the channel %s does not belong to the bridge %s", name, b.ID).
			Suggest("an owner of this hub can add it: parley bridge set %s --channels", b.ID)
	}
	if err := parley.CheckKnownChannelName(name); err != nil {
		return "", err
	}
	c, err := s.Conversations().Find(name)
	if err == nil && c.Kind != parley.Channel {
		return "", parley.Errorf(parley.BadInput, "%s is the name of a %s, and no channel", name, c.Kind).
			Suggest("only channels have directories: use another name")
	}
	if errors.Is(err, parley.ErrNotFound) {
		if err := parley.CheckNotShortName(name); err != nil {
			return "", err
		}
		var made place
		made, err = s.create(parley.Conversation{Name: name, Kind: parley.Channel, Visibility: parley.Public}, []string{s.me.ID})
		c = made.Conversation
	}
	return c.ID, err
}
