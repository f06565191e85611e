// Package arrivals holds documents that arrive from a directory tree: the check of their senders, what they answer, and how the
// hub reports a refusal.
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
	err     error // why the document cannot become a message, whatever the hub has stored
}

// Prepare prepares a document for storing it, and sets its address. If the document cannot become a message, its err says why.
func Prepare(core *unit.Core, b parley.Bridge, a parley.Arrival) *Document {
	doc := &Document{Arrival: a}
	if a.Refused != nil {
		return doc
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
		doc.err = parley.Errorf(parley.BadInput, "the document has no recipient").Suggest("name the agent that it is for")
		return doc
	default:
		d.Direct = []string{a.To}
	}
	if !a.ExpiresAt.IsZero() {
		d.TTL = max(1, int64(a.ExpiresAt.Sub(core.Now()).Round(time.Second)/time.Second))
	}
	if d, doc.err = withCallback(d, a.Callback); doc.err != nil {
		return doc
	}
	if d, doc.err = d.Check(core.Config.Limits); doc.err != nil {
		return doc
	}
	doc.Posting = post.Posting{Draft: d, Source: unit.SourceFile, Named: a.Name}
	if !a.ExpiresAt.IsZero() {
		doc.Posting.Expires = a.ExpiresAt.UTC().Truncate(time.Millisecond)
	}
	doc.err = doc.Posting.Compose()
	return doc
}

// asTask turns a request in the queue into a task request.
func asTask(d parley.Draft) parley.Draft {
	if intent := post.DecodeTaskIntent(d); intent != nil && intent.Wanted != nil {
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
	if callback == "" || reports.CopyTarget(parley.Message{Payload: d.Payload}) == callback {
		return d, nil
	}
	all := map[string]json.RawMessage{}
	if len(d.Metadata) > 0 {
		if err := json.Unmarshal(d.Metadata, &all); err != nil {
			return d, parley.Errorf(parley.BadInput, "the metadata is not an object").Suggest("give one JSON object")
		}
	}
	var err error
	if all["callback"], err = json.Marshal(callback); err == nil {
		d.Metadata, err = json.Marshal(all)
	}
	return d, err
}

func (doc *Document) row(bridge, message string, now time.Time) storage.FileRow {
	return storage.FileRow{Bridge: bridge, File: doc.BridgeFile, Name: doc.Name, From: doc.From, Message: message, At: now}
}

// documentWriter stores documents of a bridge within an update. It stores documents that are history with the writer of imports.
type documentWriter struct {
	*unit.Unit
	History *archive.HistoryWriter
	bridge  parley.Bridge
}

// NewWriter returns a writer for the documents of a bridge, which the update has read.
func NewWriter(u *unit.Unit, b parley.Bridge) *documentWriter {
	return &documentWriter{Unit: u, History: archive.NewHistoryWriter(u), bridge: b}
}

// asSender returns a writer for the same update that acts as the sender of a document.
func (in *documentWriter) asSender(sender parley.Agent) *documentWriter {
	unitOfSender := in.Unit.Over(&in.bridge, sender)
	return &documentWriter{Unit: unitOfSender, History: in.History.WithUnit(unitOfSender), bridge: in.bridge}
}

// Store stores a document in the name of its sender. A document that arrived before is a duplicate. E001 or E003 if the hub
// refuses the document.
func (in *documentWriter) Store(doc *Document) (parley.Arrived, error) {
	b := in.bridge
	if doc.Refused != nil {
		return parley.Arrived{Error: doc.Refused}, RecordRefusal(in.Unit, b, doc, doc.Refused)
	}
	if first, known, err := findEarlier(in.Unit, b, doc); known || err != nil {
		return first, err
	}
	sender, err := trustedSender(in.Unit, b, doc.Arrival)
	if err != nil {
		return parley.Arrived{}, err
	}
	if doc.err != nil {
		return parley.Arrived{}, doc.err
	}
	result, err := in.asSender(sender).storeTrusted(b, doc)
	if err != nil {
		return result, err
	}
	return result, trees.SaveFile(in.Tx, doc.row(b.ID, result.Message, in.Now))
}

// storeTrusted stores a document whose sender is checked.
func (in *documentWriter) storeTrusted(b parley.Bridge, doc *Document) (result parley.Arrived, err error) {
	if doc.FromTier != "" && in.Me.Tier == "" && in.Core.BridgeStates.NoteClaim(b.ID, in.Me.ID, doc.FromTier) {
		result.Notices = append(result.Notices, fmt.Sprintf("the hub ignores the tier %s that %s claims (if it is right: parley agent set %s --tier %s)",
			doc.FromTier, in.Me.ID, in.Me.ID, doc.FromTier))
	}
	if doc.History {
		trees.NotePresence(in.Unit, b, in.Me, doc.At)
		return in.keepHistory(b, doc, result)
	}
	trees.NotePresence(in.Unit, b, in.Me, in.Now)
	if !doc.ExpiresAt.IsZero() && !doc.ExpiresAt.After(in.Now) {
		result.Notices = append(result.Notices, "it has expired: "+doc.ExpiresAt.Format(time.RFC3339))
		return result, nil
	}
	return in.postDocument(b, doc, result)
}

// findEarlier returns the result for a document that arrived before or that the hub wrote itself. known is false for a new
// document.
func findEarlier(u *unit.Unit, b parley.Bridge, doc *Document) (first parley.Arrived, known bool, err error) {
	row, err := u.Bridges().File(b.ID, doc.BridgeFile)
	if err == nil {
		return parley.Arrived{Message: row.Message, Duplicate: true}, true, nil
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return first, false, err
	}
	folder := cmp.Or(doc.Channel, doc.To)
	if doc.Channel == "" && doc.To == parley.All {
		folder = trees.FolderOf(doc.Path)
	}
	own, message, err := departures.FindOwn(u, b, folder, doc.Name)
	switch {
	case err != nil:
		return first, false, err
	case own && message.ID == "":
		return parley.Arrived{Duplicate: true}, true, nil
	case own && message.From == doc.From && !doc.Queue:
		return parley.Arrived{Message: message.ID, Duplicate: true}, true, trees.SaveFile(u.Tx, doc.row(b.ID, message.ID, u.Now))
	}
	if doc.To != parley.All || doc.Channel != "" {
		return sameDocument(u, b, doc)
	}
	return findEarlierBroadcast(u, b, doc)
}

// sameDocument finds the message of a document that arrived before under another path, with the same sender, id and address.
// The same path does not count, because some formats reuse ids.
func sameDocument(u *unit.Unit, b parley.Bridge, doc *Document) (first parley.Arrived, known bool, err error) {
	row, err := u.Bridges().FileNamed(b.ID, doc.Name, doc.From)
	if err != nil || row.Message == "" || row.File.Path == doc.Path {
		return first, false, unit.IgnoreNotFound(err)
	}
	if same, err := sameAddress(u, row, doc); err != nil || !same {
		return first, false, err
	}
	if err := trees.SaveFile(u.Tx, doc.row(b.ID, row.Message, u.Now)); err != nil {
		return first, false, err
	}
	note := fmt.Sprintf("it is a duplicate: %s has delivered %s before", unit.Clipped(row.File.Path), unit.Clipped(doc.Name))
	return parley.Arrived{Message: row.Message, Duplicate: true, Notices: []string{note}}, true, nil
}

// sameAddress reports whether a document goes where the message of an earlier file went.
func sameAddress(u *unit.Unit, before storage.FileRow, doc *Document) (bool, error) {
	if trees.FolderOf(before.File.Path) == trees.FolderOf(doc.Path) {
		return true, nil
	}
	m, err := u.Messages().Get(before.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	if doc.Channel == "" {
		return doc.err == nil && m.To == doc.Posting.Draft.To, nil
	}
	c, err := u.Conversations().Find(m.Conversation)
	return c.Name == doc.Channel, unit.IgnoreNotFound(err)
}

// trustedSender returns the sender of a document. Files have no credentials, so the bridge must list the sender, and the tier of
// the sender must be the tier in the document. Otherwise it returns E001.
func trustedSender(u *unit.Unit, b parley.Bridge, a parley.Arrival) (parley.Agent, error) {
	if !b.HasAgent(a.From) {
		return parley.Agent{}, mayNotSpeak(b, a.From)
	}
	sender, err := u.Agents().Find(a.From)
	switch {
	case err != nil && !errors.Is(err, parley.ErrNotFound):
		return sender, err
	case err != nil || sender.RemovedAt != nil || sender.Kind != parley.KindAgent:
		return sender, parley.Errorf(parley.NotPermitted, "%s is not an agent of this hub", a.From).Suggest("ask an owner of this hub to add it")
	case a.FromTier != "" && sender.Tier != "" && a.FromTier != sender.Tier:
		return sender, parley.Errorf(parley.NotPermitted, "the document says that %s has the tier %s, but it has the tier %s", sender.ID, a.FromTier, sender.Tier).
			Suggest("correct the tier in the document, or ask an owner of this hub to change the tier of the agent")
	}
	return sender, nil
}

// mayNotSpeak returns the error for a sender that the bridge does not list, with the command that an owner can run.
func mayNotSpeak(b parley.Bridge, from string) error {
	refused := parley.Errorf(parley.NotPermitted, "%s may not send through the bridge %s", from, b.ID)
	if parley.CheckID(from) != nil {
		return refused.Suggest("write the id of an agent that may: %s", strings.Join(b.Agents, ", "))
	}
	return refused.Suggest("an owner of this hub can allow it: parley bridge set %s --agents %s", b.ID, strings.Join(append(slices.Clone(b.Agents), from), ","))
}

// postDocument posts a document that is not history.
func (in *documentWriter) postDocument(b parley.Bridge, doc *Document, result parley.Arrived) (parley.Arrived, error) {
	p := doc.Posting
	p.Tree = &b
	if doc.Channel != "" {
		channel, err := mappedChannel(in.Unit, b, doc.Channel)
		if err != nil {
			return result, err
		}
		p.Draft.Conversation = channel
		to, err := in.channelRecipient(doc.To)
		if p.Draft.To = to; err != nil {
			return result, err
		}
		if to != doc.To {
			result.Notices = append(result.Notices, in.notDeliveredNotice(doc))
		}
	}
	if doc.Queue {
		if err := checkQueueAgent(in.Unit, b); err != nil {
			return result, err
		}
	}
	if doc.To == parley.All && doc.Channel == "" && !doc.Queue {
		notices, err := post.SetBroadcastRecipients(in.Unit, doc.ToTier, &p)
		if result.Notices = append(result.Notices, notices...); err != nil {
			return result, err
		}
	}
	notices, err := in.resolveReferences(b, doc, &p)
	if result.Notices = append(result.Notices, notices...); err != nil {
		return result, err
	}
	receipt, err := post.Store(in.Unit, p)
	if result.Message, result.Notices = receipt.Message.ID, append(result.Notices, receipt.Notices...); err != nil {
		return result, err
	}
	notices, err = post.UnknownNoticesIn(in.Unit)
	result.Notices = append(result.Notices, notices...)
	return result, err
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
func (in *documentWriter) notDeliveredNotice(doc *Document) string {
	problem := "is not an agent of this hub"
	switch doc.To {
	case in.Me.ID:
		problem = "wrote it"
	case parley.System:
		problem = "is the hub itself"
	}
	return fmt.Sprintf("it is for %s, which %s: the hub keeps it in #%s and delivers it to nobody", unit.Clipped(doc.To), problem, doc.Channel)
}

// checkQueueAgent returns a retryable error while the agent that takes queued requests does not exist.
func checkQueueAgent(u *unit.Unit, b parley.Bridge) error {
	a, err := u.Agents().Find(b.QueueAgent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && a.RemovedAt != nil {
		return parley.Errorf(parley.Unavailable, "there is no agent %s to take requests without a recipient", b.QueueAgent).
			Retryable(0).Suggest("add it: parley agent add %s", b.QueueAgent)
	}
	return err
}

// mappedChannel returns the id of the channel of a document. It creates a missing channel. E001 if the bridge does not map
// it.
func mappedChannel(u *unit.Unit, b parley.Bridge, name string) (string, error) {
	if !b.HasChannel(name) {
		return "", parley.Errorf(parley.NotPermitted, "the channel %s does not belong to the bridge %s", name, b.ID).
			Suggest("an owner of this hub can add it: parley bridge set %s --channels", b.ID)
	}
	if err := parley.CheckKnownChannelName(name); err != nil {
		return "", err
	}
	c, err := u.Conversations().Find(name)
	if err == nil && c.Kind != parley.Channel {
		return "", parley.Errorf(parley.BadInput, "%s is the name of a %s, not of a channel", name, c.Kind).
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
func (doc *Document) Folder() string { return path.Dir(doc.Path) }

// IsStorable reports whether the store can keep the path, digest, name and sender of the document.
func (doc *Document) IsStorable() bool {
	return trees.IsStorable(doc.Path, doc.Digest, doc.Name, doc.From)
}
