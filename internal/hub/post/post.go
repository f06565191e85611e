package post

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/hub/runs"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/schema"
)

// maxCalled bounds the names that are looked up for one text, whether or not they are anybody's.
const maxCalled = 256

// Post stores a message with its deliveries. When it returns, the message is on disk.
func (s *Service) Post(ctx context.Context, caller unit.Caller, draft parley.Draft) (parley.Receipt, error) {
	began := time.Now()
	draft, err := draft.Check(s.Config.Limits)
	replies := caller.Kind == parley.TokenReply
	if err == nil && replies {
		caller, err = s.checkReply(caller, draft)
	}
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := s.names.FindID(ctx, caller, unit.OpPostMessage, parley.NounMessage, &draft.InReplyTo); err != nil {
		return parley.Receipt{}, err
	}
	if draft.Content.Artifacts, err = SizeArtifacts(ctx, s.Core, caller, unit.OpPostMessage, draft); err != nil {
		return parley.Receipt{}, err
	}
	post := Posting{Draft: draft, Source: caller.Source, Run: caller.Run, Trace: caller.Trace}
	if err := post.Compose(); err != nil {
		return parley.Receipt{}, err
	}
	var (
		receipt parley.Receipt
		unknown []string // names mentioned that nobody has
		opened  string   // the channel that was made for it
	)
	err = s.Update(ctx, caller, unit.OpPostMessage, func(u *unit.Unit) (err error) {
		if replies {
			var found bool
			if receipt, found, err = spendReply(u, caller, post); found || err != nil {
				return err
			}
		}
		receipt, err = Store(u, post)
		unknown, opened = u.UnknownNames, u.Opened
		return err
	})
	if err != nil {
		return parley.Receipt{}, holding.HoldOr(ctx, s.Core, caller, err, policy.PostTool(draft), draft)
	}
	s.Wrote(began)
	s.Index.Posted(receipt.Message)
	receipt.UnknownMentions, receipt.Notices = unknown, append(receipt.Notices, UnknownNotices(ctx, s.Core, unknown)...)
	if opened != "" {
		receipt.Notices = append(receipt.Notices, newChannelNotice(ctx, s.Core, caller, opened))
	}
	return receipt, nil
}

// Posting is a message on its way into the store. What can be prepared outside the transaction is.
type Posting struct {
	Draft    parley.Draft
	Source   string
	Purpose  parley.Purpose // of what wakes
	Run      string         // which posts it, if one does
	Inherits string         // the trace of what has led to it, where no run posts it
	Trace    string         // that its caller is in, for what neither gives nor inherits one
	runAnswer  bool           // it is the run's answer
	Request  bool           // it is a contact, whose sender may make it, and has not made it before
	Task     string         // that it belongs to
	Hops     int            // of what has led to it, where no run posts it
	Id       string
	Body     parley.Message // the parts the sender wrote
	Digest   [32]byte
	mentions    parley.Mentions
	Deed     *taskIntent           // what it does to a task
	command  *parley.Command // what it tells an agent to do
	statusQuery    bool            // it asks how somebody is doing, which the hub answers
	health   *parley.Health  // what its sender says of itself
	onlyHealth    bool            // and nothing else
	Call     string          // the digest of a run's call
	By       *parley.Run     // the run itself

	approved *parley.Approval // it is posted now because this was approved
	mayWake     []string         // whom it may wake, whatever the rules say of mentions

	Named   string         // its id in the format it came in
	Expires time.Time      // when, exactly, where that is not the draft's to say
	Tree    *parley.Bridge // by which it has come
	everybody  []parley.Reach // whom it reaches where it is for everybody
}

// ending is the run that ends with a post, or nil.
func (p *Posting) ending() *parley.Run {
	if !p.runAnswer {
		return nil
	}
	return p.By
}

func (p *Posting) Compose() error {
	if p.Source == "" {
		p.Source = "api"
	}
	if err := parley.CheckMetadata(p.Draft.Metadata); err != nil {
		return err
	}
	p.Id = unit.NewID()
	p.Body = parley.Message{Content: p.Draft.Content, Payload: p.Draft.Payload, Metadata: p.Draft.Metadata}
	p.Digest = p.Body.BodyDigest()
	p.mentions = parley.ParseMentions(p.Draft.Content.Text)
	if p.Run != "" && p.Call == "" {
		var err error
		if p.Call, err = unit.CallDigest(p.Draft); err != nil {
			return err
		}
	}
	if n := p.mentions.Len(); n > maxCalled {
		return parley.Errorf(parley.BadInput, "the text has %d different @names, the limit is %d", n, maxCalled).
			Because(parley.TooLarge).Suggest("put what is not a mention into code")
	}
	return p.decode()
}

// decode reads the payloads that the hub acts on, and checks those that the seeds describe.
func (p *Posting) decode() (err error) {
	p.Deed, p.statusQuery = DecodeDeed(p.Draft), asksForStatus(p.Draft)
	switch p.Draft.Type {
	case parley.TypeCommand:
		p.command, err = decodeCommand(p.Draft.Payload)
	case parley.TypeHeartbeat:
		p.health, err = presence.DecodeHealth(p.Draft.Payload)
		p.onlyHealth = presence.OnlyBeats(p.Draft)
	}
	issues := schema.Payload(p.Draft.Type, p.Draft.Payload)
	if len(issues) == 0 {
		return err
	}
	invalid := parley.Invalid("the payload is no valid "+string(p.Draft.Type), p.Draft.IdempotencyKey, issues)
	if err != nil { // which says it better
		return parley.AsError(err).WithIssues(*invalid.Validation)
	}
	return invalid
}

func Store(u *unit.Unit, p Posting) (parley.Receipt, error) {
	d := p.Draft
	if err := checkSender(u, d.From); err != nil {
		return parley.Receipt{}, err
	}
	if first, found, err := findDuplicate(u, &p); found || err != nil {
		return first, err
	}
	if err := artifacts.CheckArtifacts(u, d.Content.Artifacts); err != nil {
		return parley.Receipt{}, err
	}
	parent, err := findParent(u, &d)
	if err != nil {
		return parley.Receipt{}, err
	}
	where, err := Destination(u, d)
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := mustReachMembers(u, where.Conversation, p); err != nil {
		return parley.Receipt{}, err
	}
	m, err := fillEnvelope(u, p, d, where, parent)
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := checkRules(u, &p, m, where, parent); err != nil {
		return parley.Receipt{}, p.pinHeld(err, m, where)
	}
	command, err := resolveCommand(u, p, &m, where.Conversation)
	if err != nil {
		return parley.Receipt{}, err
	}
	receipt := parley.Receipt{}
	job, err := JobOf(u, p, &m, parent, where.Conversation, &receipt)
	if err != nil {
		return parley.Receipt{}, p.pinHeld(err, m, where)
	}
	audience, err := findRecipients(u, &m, p, where, &receipt)
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := trees.HideFrom(u, where.Conversation, audience, &receipt); err != nil {
		return parley.Receipt{}, err
	}
	audience, ask, err := withoutAsker(u, p, m, parent, audience)
	if err != nil {
		return parley.Receipt{}, err
	}
	if audience, err = setPurposes(u, p, m, audience); err != nil {
		return parley.Receipt{}, err
	}
	if audience, err = setTaskPurpose(u, job, p, m, audience); err != nil {
		return parley.Receipt{}, err
	}
	if m, err = insertMessage(u, p, m); err != nil {
		return parley.Receipt{}, err
	}
	receipt.Message = m
	if receipt.Deliveries, err = messages.Deliver(u, m, audience); err != nil {
		return parley.Receipt{}, err
	}
	if err := work.Answer(u, parent, m, p.ending()); err != nil {
		return parley.Receipt{}, err
	}
	if err := updateArchived(u, where, parent); err != nil {
		return parley.Receipt{}, err
	}
	if err := Do(u, job, m, p.Tree); err != nil {
		return parley.Receipt{}, err
	}
	if err := reports.CallbackNotice(u, m, &receipt); err != nil {
		return parley.Receipt{}, err
	}
	if err := noteAsk(u, ask, &receipt); err != nil {
		return parley.Receipt{}, err
	}
	return receipt, followUp(u, p, command, receipt)
}

// insertMessage gives a message its place in the order and stores it.
func insertMessage(u *unit.Unit, p Posting, m parley.Message) (parley.Message, error) {
	err := u.WriteEvents() // what made room for the message comes before it
	if err != nil {
		return m, err
	}
	if m.Seq, err = u.Messages().NextSeq(); err != nil {
		return m, err
	}
	m.Checksum = m.Seal(p.Digest)
	u.Touch(m.Conversation)
	if err := messages.InsertRow(u.Tx, m); err != nil || p.By == nil {
		return m, err
	}
	return m, runs.NotePost(u.Tx, p.By.ID, storage.RunPost{Digest: p.Call, Message: m.ID})
}

// followUp does what a stored message is for beside being read.
func followUp(u *unit.Unit, p Posting, o *resolvedCommand, r parley.Receipt) error {
	if u.Me.Kind == parley.KindHuman {
		if err := messages.Interrupt(u, r.Message.Conversation); err != nil {
			return err
		}
	}
	switch {
	case o != nil:
		return executeCommand(u, *o, r.Message, r.Deliveries)
	case p.statusQuery && len(r.Deliveries) == 1:
		a, asked, err := queriedAgent(u, p, []string{r.Deliveries[0].Recipient})
		if err != nil || !asked {
			return err
		}
		return answerStatusQuery(u, a, r.Message, p.Named)
	case p.health != nil && u.Me.Kind == parley.KindAgent:
		_, err := presence.KeepHealth(u, u.Me.ID, *p.health)
		return err
	default:
		return nil
	}
}

// findDuplicate returns what was posted by the same call before: with the same key, or by an earlier attempt of the run.
func findDuplicate(u *unit.Unit, p *Posting) (first parley.Receipt, found bool, err error) {
	if p.Request || p.runAnswer { // where it was looked for already
		return first, false, nil
	}
	if first, found, err = Posted(u, p.Draft.IdempotencyKey); found || err != nil {
		return first, found, err
	}
	return enterRun(u, p)
}

// checkSender refuses a message that says it is from somebody else.
func checkSender(u *unit.Unit, from string) error {
	if from == "" {
		return nil
	}
	if claimed, err := agents.FindAgent(u, from); err == nil && claimed.ID == u.Me.ID {
		return nil
	} else if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s cannot send as %q", u.Me.ID, from).
		Suggest("leave the sender out: it is known from the credential")
}

// Posted returns the message the sender has already posted with this key. One that it cannot read any
// more, because it has left the conversation or that was deleted, is not stored again either.
func Posted(u *unit.Unit, key string) (first parley.Receipt, found bool, err error) {
	id, err := messages.Keyed(u, key)
	switch {
	case err != nil || id == "":
		return first, false, err
	case !parley.IsUUID(id):
		return first, true, messages.UsedOtherwise(key)
	}
	first, err = receiptOf(u, id)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return parley.Receipt{}, true, parley.Errorf(parley.BadInput, "the idempotency key %q was used for a message that is gone", key).
			Because(parley.Conflict).Suggest("use another key")
	}
	if err == nil && first.Message.Damage == nil && first.Message.IdempotencyKey != key {
		return parley.Receipt{}, true, wrongKey(key, first.Message)
	}
	return first, true, err
}

// wrongKey is the failure where the row of an idempotency key names a message that was sent without it.
func wrongKey(key string, m parley.Message) error {
	return parley.Errorf(parley.Internal, "the idempotency key %q is damaged: it names message %d (%s), which was sent without it", key, m.Seq, m.ID).
		From(parley.ErrDamagedRow).Suggest("use another key, and run `parley doctor --deep`")
}

// receiptOf is the receipt of a message that was posted before.
func receiptOf(u *unit.Unit, id string) (first parley.Receipt, err error) {
	first.Duplicate = true
	if first.Message, _, err = conversations.Message(u, id); err == nil {
		first.Deliveries, err = u.Deliveries().Of(id)
	}
	return first, err
}

// findParent finds the message a draft answers. A draft that names nothing else is for its sender, in
// its conversation.
func findParent(u *unit.Unit, d *parley.Draft) (*parley.Message, error) {
	if d.InReplyTo == "" {
		return nil, nil
	}
	parent, where, err := conversations.Message(u, d.InReplyTo)
	if err != nil {
		return nil, err
	}
	if d.Conversation == "" && len(d.Direct) == 0 {
		d.Conversation = where.ID
		if d.To == "" && parent.From != u.Me.ID {
			d.To, err = replyRecipient(u, parent.From, where.Conversation)
		}
	}
	return &parent, err
}

// replyRecipient is whom an answer goes to: the sender, unless it cannot be reached there any more. Then the
// answer is for the conversation.
func replyRecipient(u *unit.Unit, sender string, where parley.Conversation) (string, error) {
	a, err := u.Agents().Find(sender)
	if err != nil || a.RemovedAt != nil || a.Kind == parley.KindSystem {
		return "", err
	}
	if in, err := conversations.TakesPart(u, where, a.ID); err != nil || !in {
		return "", err
	}
	return a.ID, nil
}

// Destination finds or opens the conversation a draft goes to, and makes the sender part of it.
func Destination(u *unit.Unit, d parley.Draft) (conversations.Place, error) {
	if len(d.Direct) > 0 {
		return conversations.Direct(u, d.Direct, d.Ephemeral)
	}
	where, err := conversations.Conversation(u, d.Conversation)
	if _, missing := errors.AsType[unit.Unknown](err); missing && d.Make {
		return openChannel(u, d.Conversation, err)
	}
	if err != nil || where.Joined || u.Me.Kind == parley.KindSystem {
		return where, err
	}
	if !where.ReadableByAll() {
		return where, parley.Errorf(parley.NotPermitted, "%s does not take part in %s", u.Me.ID, where.Title()).
			Suggest("join it first, or write in a conversation of your own")
	}
	where.Joined = true
	return where, conversations.Join(u, where.Conversation, u.Me.ID)
}

// openChannel makes a channel for what is posted there. One that is hidden from the caller stays missing.
func openChannel(u *unit.Unit, ref string, missing error) (conversations.Place, error) {
	name := unit.ConversationKey(ref)
	if err := parley.CheckChannelName(name); err != nil {
		return conversations.Place{}, err
	}
	where, err := conversations.Create(u, parley.Conversation{Name: name, Kind: parley.Channel, Visibility: parley.Public}, []string{u.Me.ID})
	if errors.Is(err, parley.ErrTaken) {
		return conversations.Place{}, missing
	}
	where.Made, u.Opened = true, name
	return where, err
}
