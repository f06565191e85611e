package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

// keyMemory is how long a sender's idempotency key is remembered.
const keyMemory = 24 * time.Hour

// maxCalled bounds the names that are looked up for one text, whether or not they are anybody's.
const maxCalled = 256

// Post stores a message with its deliveries. When it returns, the message is on disk.
func (h *Hub) Post(ctx context.Context, caller Caller, draft parley.Draft) (parley.Receipt, error) {
	began := time.Now()
	draft, err := draft.Check(h.config.Limits)
	replies := caller.Kind == parley.TokenReply
	if err == nil && replies {
		caller, err = h.reply(caller, draft)
	}
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := h.findID(ctx, caller, opPostMessage, parley.NounMessage, &draft.InReplyTo); err != nil {
		return parley.Receipt{}, err
	}
	if draft.Content.Artifacts, err = h.sizeArtifacts(ctx, caller, opPostMessage, draft); err != nil {
		return parley.Receipt{}, err
	}
	post := post{draft: draft, source: caller.Source, run: caller.Run, trace: caller.Trace}
	if err := post.compose(); err != nil {
		return parley.Receipt{}, err
	}
	var (
		receipt parley.Receipt
		unknown []string // names mentioned that nobody has
		opened  string   // the channel that was made for it
	)
	err = h.update(ctx, caller, opPostMessage, func(s *scene) (err error) {
		if replies {
			var found bool
			if receipt, found, err = s.spendReply(caller, post); found || err != nil {
				return err
			}
		}
		receipt, err = s.post(post)
		unknown, opened = s.unknown, s.opened
		return err
	})
	if err != nil {
		return parley.Receipt{}, h.heldOr(ctx, caller, err, postTool(draft), draft)
	}
	h.wrote(began)
	h.index.posted(receipt.Message)
	receipt.UnknownMentions, receipt.Notices = unknown, append(receipt.Notices, h.aboutUnknown(ctx, unknown)...)
	if opened != "" {
		receipt.Notices = append(receipt.Notices, h.isNew(ctx, caller, opened))
	}
	return receipt, nil
}

// post is a message on its way into the store. What can be prepared outside the transaction is.
type post struct {
	draft    parley.Draft
	source   string
	purpose  parley.Purpose // of what wakes
	run      string         // which posts it, if one does
	inherits string         // the trace of what has led to it, where no run posts it
	trace    string         // that its caller is in, for what neither gives nor inherits one
	answers  bool           // it is the run's answer
	request  bool           // it is a contact, whose sender may make it, and has not made it before
	task     string         // that it belongs to
	hops     int            // of what has led to it, where no run posts it
	id       string
	body     parley.Message // the parts the sender wrote
	digest   [32]byte
	calls    parley.Mentions
	deed     *deed           // what it does to a task
	command  *parley.Command // what it tells an agent to do
	query    bool            // it asks how somebody is doing, which the hub answers
	health   *parley.Health  // what its sender says of itself
	beats    bool            // and nothing else
	call     string          // the digest of a run's call
	by       *parley.Run     // the run itself

	approved *parley.Approval // it is posted now because this was approved
	free     []string         // whom it may wake, whatever the rules say of mentions

	named   string         // its id in the format it came in
	expires time.Time      // when, exactly, where that is not the draft's to say
	tree    *parley.Bridge // by which it has come
	spread  []parley.Reach // whom it reaches where it is for everybody
}

// ending is the run that ends with a post, or nil.
func (p *post) ending() *parley.Run {
	if !p.answers {
		return nil
	}
	return p.by
}

func (p *post) compose() error {
	if p.source == "" {
		p.source = "api"
	}
	if err := parley.CheckMetadata(p.draft.Metadata); err != nil {
		return err
	}
	p.id = newID()
	p.body = parley.Message{Content: p.draft.Content, Payload: p.draft.Payload, Metadata: p.draft.Metadata}
	p.digest = p.body.BodyDigest()
	p.calls = parley.ParseMentions(p.draft.Content.Text)
	if p.run != "" && p.call == "" {
		var err error
		if p.call, err = callDigest(p.draft); err != nil {
			return err
		}
	}
	if n := p.calls.Len(); n > maxCalled {
		return parley.Errorf(parley.BadInput, "the text has %d different @names, the limit is %d", n, maxCalled).
			Because(parley.TooLarge).Suggest("put what is not a mention into code")
	}
	return p.decode()
}

// decode reads the payloads that the hub acts on, and checks those that the seeds describe.
func (p *post) decode() (err error) {
	p.deed, p.query = decodeDeed(p.draft), asksForStatus(p.draft)
	switch p.draft.Type {
	case parley.TypeCommand:
		p.command, err = decodeCommand(p.draft.Payload)
	case parley.TypeHeartbeat:
		p.health, err = decodeHealth(p.draft.Payload)
		p.beats = onlyBeats(p.draft)
	}
	issues := schema.Payload(p.draft.Type, p.draft.Payload)
	if len(issues) == 0 {
		return err
	}
	invalid := parley.Invalid("the payload is no valid "+string(p.draft.Type), p.draft.IdempotencyKey, issues)
	if err != nil { // which says it better
		return parley.AsError(err).WithIssues(*invalid.Validation)
	}
	return invalid
}

func (s *scene) post(p post) (parley.Receipt, error) {
	d := p.draft
	if err := s.checkClaim(d.From); err != nil {
		return parley.Receipt{}, err
	}
	if first, found, err := s.repeats(&p); found || err != nil {
		return first, err
	}
	if err := s.checkArtifacts(d.Content.Artifacts); err != nil {
		return parley.Receipt{}, err
	}
	parent, err := s.parent(&d)
	if err != nil {
		return parley.Receipt{}, err
	}
	where, err := s.destination(d)
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := s.mustReachIn(where.Conversation, p); err != nil {
		return parley.Receipt{}, err
	}
	m, err := s.envelope(p, d, where, parent)
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := s.guard(&p, m, where, parent); err != nil {
		return parley.Receipt{}, p.settled(err, m, where)
	}
	command, err := s.order(p, &m, where.Conversation)
	if err != nil {
		return parley.Receipt{}, err
	}
	receipt := parley.Receipt{}
	job, err := s.jobOf(p, &m, parent, where.Conversation, &receipt)
	if err != nil {
		return parley.Receipt{}, p.settled(err, m, where)
	}
	audience, err := s.audience(&m, p, where, &receipt)
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := s.hideFrom(where.Conversation, audience, &receipt); err != nil {
		return parley.Receipt{}, err
	}
	audience, ask, err := s.withoutAsker(p, m, parent, audience)
	if err != nil {
		return parley.Receipt{}, err
	}
	if audience, err = s.addressed(p, m, audience); err != nil {
		return parley.Receipt{}, err
	}
	if audience, err = s.forTask(job, p, m, audience); err != nil {
		return parley.Receipt{}, err
	}
	if m, err = s.insert(p, m); err != nil {
		return parley.Receipt{}, err
	}
	receipt.Message = m
	if receipt.Deliveries, err = s.deliver(m, audience); err != nil {
		return parley.Receipt{}, err
	}
	if err := s.answer(parent, m, p.ending()); err != nil {
		return parley.Receipt{}, err
	}
	if err := s.settleArchive(where, parent); err != nil {
		return parley.Receipt{}, err
	}
	if err := s.do(job, m, p.tree); err != nil {
		return parley.Receipt{}, err
	}
	if err := s.callbackNotice(m, &receipt); err != nil {
		return parley.Receipt{}, err
	}
	if err := s.tellAnswerer(ask, &receipt); err != nil {
		return parley.Receipt{}, err
	}
	return receipt, s.act(p, command, receipt)
}

// insert gives a message its place in the order and stores it.
func (s *scene) insert(p post, m parley.Message) (parley.Message, error) {
	err := s.writeEvents() // what made room for the message comes before it
	if err != nil {
		return m, err
	}
	if m.Seq, err = s.Messages().NextSeq(); err != nil {
		return m, err
	}
	m.Checksum = m.Seal(p.digest)
	s.touch(m.Conversation)
	if err := s.Messages().Insert(m); err != nil || p.by == nil {
		return m, err
	}
	return m, s.Runs().Posted(p.by.ID, parley.RunPost{Digest: p.call, Message: m.ID})
}

// act does what a stored message is for beside being read.
func (s *scene) act(p post, o *order, r parley.Receipt) error {
	if s.me.Kind == parley.KindHuman {
		if err := s.interrupt(r.Message.Conversation); err != nil {
			return err
		}
	}
	switch {
	case o != nil:
		return s.obey(*o, r.Message, r.Deliveries)
	case p.query && len(r.Deliveries) == 1:
		a, asked, err := s.queried(p, []string{r.Deliveries[0].Recipient})
		if err != nil || !asked {
			return err
		}
		return s.answerQuery(a, r.Message, p.named)
	case p.health != nil && s.me.Kind == parley.KindAgent:
		_, err := s.keepHealth(s.me.ID, *p.health)
		return err
	default:
		return nil
	}
}

// repeats returns what was posted by the same call before: with the same key, or by an earlier attempt of the run.
func (s *scene) repeats(p *post) (first parley.Receipt, found bool, err error) {
	if p.request || p.answers { // where it was looked for already
		return first, false, nil
	}
	if first, found, err = s.posted(p.draft.IdempotencyKey); found || err != nil {
		return first, found, err
	}
	return s.postedByRun(p)
}

// checkClaim refuses a message that says it is from somebody else.
func (s *scene) checkClaim(from string) error {
	if from == "" {
		return nil
	}
	if claimed, err := s.findAgent(from); err == nil && claimed.ID == s.me.ID {
		return nil
	} else if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return parley.Errorf(parley.NotPermitted, "%s cannot send as %q", s.me.ID, from).
		Suggest("leave the sender out: it is known from the credential")
}

// posted returns the message the sender has already posted with this key. One that it cannot read any
// more, because it has left the conversation or that was deleted, is not stored again either.
func (s *scene) posted(key string) (first parley.Receipt, found bool, err error) {
	id, err := s.keyed(key)
	switch {
	case err != nil || id == "":
		return first, false, err
	case !parley.IsUUID(id):
		return first, true, usedOtherwise(key)
	}
	first, err = s.postedAs(id)
	if _, hidden := errors.AsType[unknown](err); hidden {
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

// keyed is the id of the message, or of the task of its own, that the caller has given a key; nothing if there is none.
func (s *scene) keyed(key string) (id string, err error) {
	if key == "" {
		return "", nil
	}
	id, err = s.Messages().Keyed(s.me.ID, key, s.now.Add(-keyMemory))
	return id, ignoreNotFound(err)
}

func usedOtherwise(key string) error {
	return parley.Errorf(parley.BadInput, "the idempotency key %q was used for something else", key).
		Because(parley.Conflict).Suggest("use another key")
}

// postedAs is the receipt of a message that was posted before.
func (s *scene) postedAs(id string) (first parley.Receipt, err error) {
	first.Duplicate = true
	if first.Message, _, err = s.message(id); err == nil {
		first.Deliveries, err = s.Deliveries().Of(id)
	}
	return first, err
}

// parent finds the message a draft answers. A draft that names nothing else is for its sender, in
// its conversation.
func (s *scene) parent(d *parley.Draft) (*parley.Message, error) {
	if d.InReplyTo == "" {
		return nil, nil
	}
	parent, where, err := s.message(d.InReplyTo)
	if err != nil {
		return nil, err
	}
	if d.Conversation == "" && len(d.Direct) == 0 {
		d.Conversation = where.ID
		if d.To == "" && parent.From != s.me.ID {
			d.To, err = s.replyTo(parent.From, where.Conversation)
		}
	}
	return &parent, err
}

// replyTo is whom an answer goes to: the sender, unless it cannot be reached there any more. Then the
// answer is for the conversation.
func (s *scene) replyTo(sender string, where parley.Conversation) (string, error) {
	a, err := s.Agents().Find(sender)
	if err != nil || a.RemovedAt != nil || a.Kind == parley.KindSystem {
		return "", err
	}
	if in, err := s.takesPart(where, a.ID); err != nil || !in {
		return "", err
	}
	return a.ID, nil
}

// destination finds or opens the conversation a draft goes to, and makes the sender part of it.
func (s *scene) destination(d parley.Draft) (place, error) {
	if len(d.Direct) > 0 {
		return s.direct(d.Direct, d.Ephemeral)
	}
	where, err := s.conversation(d.Conversation)
	if _, missing := errors.AsType[unknown](err); missing && d.Make {
		return s.openNamed(d.Conversation, err)
	}
	if err != nil || where.joined || s.me.Kind == parley.KindSystem {
		return where, err
	}
	if !where.ReadableByAll() {
		return where, parley.Errorf(parley.NotPermitted, "%s does not take part in %s", s.me.ID, where.Title()).
			Suggest("join it first, or write in a conversation of your own")
	}
	where.joined = true
	return where, s.join(where.Conversation, s.me.ID)
}

// openNamed makes a channel for what is posted there. One that is hidden from the caller stays missing.
func (s *scene) openNamed(ref string, missing error) (place, error) {
	name := conversationKey(ref)
	if err := parley.CheckChannelName(name); err != nil {
		return place{}, err
	}
	where, err := s.create(parley.Conversation{Name: name, Kind: parley.Channel, Visibility: parley.Public}, []string{s.me.ID})
	if errors.Is(err, parley.ErrTaken) {
		return place{}, missing
	}
	where.made, s.opened = true, name
	return where, err
}
