// Package arrivals holds documents that arrive from a directory tree: who may write them, what they answer, and how a refusal is
// told.
package arrivals

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/archive"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Document is a document that is about to be stored, with everything that can be prepared outside of the transaction.
type Document struct {
	parley.Arrival
	Posting post.Posting
	err     error // why it can be no message, whatever is stored
}

// Prepare prepares a document as a post. The hub sets its address. It never fails: err holds why the document cannot be a
// message.
func Prepare(core *unit.Core, b parley.Bridge, a parley.Arrival) *Document {
	l := &Document{Arrival: a}
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
		d.Conversation, d.Sequence = conversations.BroadcastChannel, 0
	case a.To == "":
		l.err = parley.Errorf(parley.BadInput, "the document is for nobody").Suggest("say for which agent it is")
		return l
	default:
		d.Direct = []string{a.To}
	}
	if !a.ExpiresAt.IsZero() {
		d.TTL = max(1, int64(a.ExpiresAt.Sub(core.Now()).Round(time.Second)/time.Second))
	}
	if d, l.err = withCallback(d, a.Callback); l.err != nil {
		return l
	}
	if d, l.err = d.Check(core.Config.Limits); l.err != nil {
		return l
	}
	l.Posting = post.Posting{Draft: d, Source: unit.Bridged, Named: a.Name}
	if !a.ExpiresAt.IsZero() {
		l.Posting.Expires = a.ExpiresAt.UTC().Truncate(time.Millisecond)
	}
	l.err = l.Posting.Compose()
	return l
}

// asTask turns a request in the queue into a task request.
func asTask(d parley.Draft) parley.Draft {
	if do := post.DecodeTaskIntent(d); do != nil && do.Wanted != nil {
		return d
	}
	d.Type = parley.TypeTask
	if strings.TrimSpace(d.Content.Text) == "" {
		d.Content.Text = unit.AsWords(d.Payload)
	}
	return d
}

// withCallback stores in the metadata which agent gets the response too, unless the payload names it already.
func withCallback(d parley.Draft, callback string) (parley.Draft, error) {
	if callback == "" || reports.CallbackOf(parley.Message{Payload: d.Payload}) == callback {
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

func (l *Document) row(bridge, message string, now time.Time) storage.FileRow {
	return storage.FileRow{Bridge: bridge, File: l.BridgeFile, Name: l.Name, From: l.From, Message: message, At: now}
}

// documentWriter is an update that stores documents of the tree of a bridge. Documents that are history go through the import.
type documentWriter struct {
	*unit.Unit
	History *archive.HistoryWriter
	bridge  parley.Bridge
}

// NewWriter returns a writer of the documents of a bridge within an update. The update has read the bridge.
func NewWriter(u *unit.Unit, b parley.Bridge) *documentWriter {
	return &documentWriter{Unit: u, History: archive.NewHistoryWriter(u), bridge: b}
}

// inNameOf returns a writer for the same update that acts as the sender of a document.
func (in *documentWriter) inNameOf(sender parley.Agent) *documentWriter {
	as := in.Unit.Over(&in.bridge, sender)
	return &documentWriter{Unit: as, History: in.History.WithUnit(as), bridge: in.bridge}
}

// Land stores a document in the name of its sender. A document that arrived before is a duplicate. It returns an error if
// the sender may not write it.
func (in *documentWriter) Land(l *Document) (parley.Arrived, error) {
	b := in.bridge
	if l.Refused != nil {
		return parley.Arrived{Error: l.Refused}, RecordRefusal(in.Unit, b, l, l.Refused)
	}
	if first, known, err := findEarlier(in.Unit, b, l); known || err != nil {
		return first, err
	}
	sender, err := trustedSender(in.Unit, b, l.Arrival)
	if err != nil {
		return parley.Arrived{}, err
	}
	if l.err != nil {
		return parley.Arrived{}, l.err
	}
	got, err := in.inNameOf(sender).storeTrusted(b, l)
	if err != nil {
		return got, err
	}
	return got, trees.Arrived(in.Tx, l.row(b.ID, got.Message, in.Now))
}

// storeTrusted stores a document of a sender that was checked.
func (in *documentWriter) storeTrusted(b parley.Bridge, l *Document) (got parley.Arrived, err error) {
	if l.FromTier != "" && in.Me.Tier == "" && in.Core.BridgeStates.Claims(b.ID, in.Me.ID, l.FromTier) {
		got.Notices = append(got.Notices, fmt.Sprintf("the tier %s that %s gives itself here does not count (if it is right: parley agent set %s --tier %s)",
			l.FromTier, in.Me.ID, in.Me.ID, l.FromTier))
	}
	if l.History {
		trees.SignOf(in.Unit, b, in.Me, l.At)
		return in.keepHistory(b, l, got)
	}
	trees.SignOf(in.Unit, b, in.Me, in.Now)
	if !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(in.Now) {
		got.Notices = append(got.Notices, "it has expired: "+l.ExpiresAt.Format(time.RFC3339))
		return got, nil
	}
	return in.postDocument(b, l, got)
}

// findEarlier returns what became of a document that arrived before or that the hub wrote itself. known is false if it is
// new.
func findEarlier(u *unit.Unit, b parley.Bridge, l *Document) (first parley.Arrived, known bool, err error) {
	row, err := u.Bridges().File(b.ID, l.BridgeFile)
	if err == nil {
		return parley.Arrived{Message: row.Message, Duplicate: true}, true, nil
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return first, false, err
	}
	folder := cmp.Or(l.Channel, l.To)
	if l.Channel == "" && l.To == parley.All {
		folder = trees.FolderOf(l.Path)
	}
	own, of, err := departures.FindOwn(u, b, folder, l.Name)
	switch {
	case err != nil:
		return first, false, err
	case own && of.ID == "":
		return parley.Arrived{Duplicate: true}, true, nil
	case own && of.From == l.From && !l.Queue:
		return parley.Arrived{Message: of.ID, Duplicate: true}, true, trees.Arrived(u.Tx, l.row(b.ID, of.ID, u.Now))
	}
	if l.To != parley.All || l.Channel != "" {
		return sameDocument(u, b, l)
	}
	return broadcastBefore(u, b, l)
}

// sameDocument finds the message of a document that arrived before under another path, with the same sender, id and address.
// The same path does not count, because some formats reuse ids.
func sameDocument(u *unit.Unit, b parley.Bridge, l *Document) (first parley.Arrived, known bool, err error) {
	row, err := u.Bridges().FileNamed(b.ID, l.Name, l.From)
	if err != nil || row.Message == "" || row.File.Path == l.Path {
		return first, false, unit.IgnoreNotFound(err)
	}
	if same, err := sameAddress(u, row, l); err != nil || !same {
		return first, false, err
	}
	if err := trees.Arrived(u.Tx, l.row(b.ID, row.Message, u.Now)); err != nil {
		return first, false, err
	}
	note := fmt.Sprintf("it is a duplicate: %s has delivered %s before", unit.Clipped(row.File.Path), unit.Clipped(l.Name))
	return parley.Arrived{Message: row.Message, Duplicate: true, Notices: []string{note}}, true, nil
}

// sameAddress reports whether a document goes where the message of an earlier file went.
func sameAddress(u *unit.Unit, before storage.FileRow, l *Document) (bool, error) {
	if trees.FolderOf(before.File.Path) == trees.FolderOf(l.Path) {
		return true, nil
	}
	m, err := u.Messages().Get(before.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	if l.Channel == "" {
		return l.err == nil && m.To == l.Posting.Draft.To, nil
	}
	c, err := u.Conversations().Find(m.Conversation)
	return c.Name == l.Channel, unit.IgnoreNotFound(err)
}

// trustedSender returns the sender of a document. Files carry no credential, so the bridge must list the sender, and its
// tier must match the document.
func trustedSender(u *unit.Unit, b parley.Bridge, a parley.Arrival) (parley.Agent, error) {
	if !b.Speaks(a.From) {
		return parley.Agent{}, mayNotSpeak(b, a.From)
	}
	sender, err := u.Agents().Find(a.From)
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

// mayNotSpeak returns the error for a sender that the bridge does not list, with the command that an owner can run.
func mayNotSpeak(b parley.Bridge, from string) error {
	refused := parley.Errorf(parley.NotPermitted, "%s may not speak through the bridge %s", from, b.ID)
	if parley.CheckID(from) != nil {
		return refused.Suggest("write the id of an agent; those who may: %s", strings.Join(b.Agents, ", "))
	}
	return refused.Suggest("an owner of this hub can let it: parley bridge set %s --agents %s", b.ID, strings.Join(append(slices.Clone(b.Agents), from), ","))
}

// postDocument posts a document that is not history.
func (in *documentWriter) postDocument(b parley.Bridge, l *Document, got parley.Arrived) (parley.Arrived, error) {
	p := l.Posting
	p.Tree = &b
	if l.Channel != "" {
		channel, err := mappedChannel(in.Unit, b, l.Channel)
		if err != nil {
			return got, err
		}
		p.Draft.Conversation = channel
		to, err := in.channelRecipient(l.To)
		if p.Draft.To = to; err != nil {
			return got, err
		}
		if to != l.To {
			got.Notices = append(got.Notices, in.notDeliveredNotice(l))
		}
	}
	if l.Queue {
		if err := checkQueueAgent(in.Unit, b); err != nil {
			return got, err
		}
	}
	if l.To == parley.All && l.Channel == "" && !l.Queue {
		notices, err := post.SpreadTo(in.Unit, l.ToTier, &p)
		if got.Notices = append(got.Notices, notices...); err != nil {
			return got, err
		}
	}
	notices, err := in.resolveReferences(b, l, &p)
	if got.Notices = append(got.Notices, notices...); err != nil {
		return got, err
	}
	receipt, err := post.Store(in.Unit, p)
	if got.Message, got.Notices = receipt.Message.ID, append(got.Notices, receipt.Notices...); err != nil {
		return got, err
	}
	notices, err = post.UnknownNoticesIn(in.Unit)
	got.Notices = append(got.Notices, notices...)
	return got, err
}

// channelRecipient returns the recipient of a document in a channel if it is an agent of the hub that can receive it, else
// "". Others may still read the document in the tree.
func (in *documentWriter) channelRecipient(to string) (string, error) {
	if to == "" || to == parley.All {
		return to, nil
	}
	a, err := in.Agents().Find(to)
	if err != nil || a.RemovedAt != nil || a.Kind == parley.KindSystem || a.ID == in.Me.ID {
		return "", unit.IgnoreNotFound(err)
	}
	return to, nil
}

// notDeliveredNotice returns the notice for a document in a channel that the hub cannot deliver to its recipient.
func (in *documentWriter) notDeliveredNotice(l *Document) string {
	who := "is no agent of this hub"
	switch l.To {
	case in.Me.ID:
		who = "has written it"
	case parley.System:
		who = "is the hub itself"
	}
	return fmt.Sprintf("it is for %s, who %s: it is kept in #%s, and given to nobody", unit.Clipped(l.To), who, l.Channel)
}

// checkQueueAgent returns a retryable error while the agent that takes queued requests does not exist.
func checkQueueAgent(u *unit.Unit, b parley.Bridge) error {
	a, err := u.Agents().Find(b.QueueAgent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && a.RemovedAt != nil {
		return parley.Errorf(parley.Unavailable, "there is no agent %s to take requests for nobody", b.QueueAgent).
			Retryable(0).Suggest("add it: parley agent add %s", b.QueueAgent)
	}
	return err
}

// mappedChannel returns the id of the channel of a document. It creates a missing channel. E001 if the bridge does not map
// it.
func mappedChannel(u *unit.Unit, b parley.Bridge, name string) (string, error) {
	if !b.Maps(name) {
		return "", parley.Errorf(parley.NotPermitted, "the channel %s does not belong to the bridge %s", name, b.ID).
			Suggest("an owner of this hub can add it: parley bridge set %s --channels", b.ID)
	}
	if err := parley.CheckKnownChannelName(name); err != nil {
		return "", err
	}
	c, err := u.Conversations().Find(name)
	if err == nil && c.Kind != parley.Channel {
		return "", parley.Errorf(parley.BadInput, "%s is the name of a %s, and no channel", name, c.Kind).
			Suggest("only channels have directories: use another name")
	}
	if errors.Is(err, parley.ErrNotFound) {
		if err := parley.CheckNotShortName(name); err != nil {
			return "", err
		}
		var made conversations.Place
		made, err = conversations.Create(u, parley.Conversation{Name: name, Kind: parley.Channel, Visibility: parley.Public}, []string{u.Me.ID})
		c = made.Conversation
	}
	return c.ID, err
}

// Folder returns the folder that the document was found in.
func (l *Document) Folder() string { return path.Dir(l.Path) }

// IsStorable reports whether the store can keep the path, digest, name and sender of the document.
func (l *Document) IsStorable() bool { return trees.Keepable(l.Path, l.Digest, l.Name, l.From) }
