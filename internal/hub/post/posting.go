package post

import (
	"context"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/schema"
)

// Posting is a message that is not stored yet. The caller sets what the sender wrote, where the message comes from and what kind of post
// it is, and calls Compose outside of the transaction. Compose sets the fields of composed. The transaction sets By and permitted.
type Posting struct {
	Draft parley.Draft // what the sender wrote

	// Where the message comes from.
	Source   string           // the API, a bridge, a run, a contact
	Named    string           // the id that the message has in the format it came in
	Tree     *parley.Bridge   // the bridge of the directory tree it came from
	Run      string           // the run that posts it, or nothing
	By       *parley.Run      // the same run, once it is read
	Call     string           // the digest of the call by which the run posts it
	Trace    string           // the trace of the caller, used if the message has no other
	Inherits string           // the trace of what led to the message, if no run posts it
	Hops     int              // the automatic messages in a row that led to it, if no run posts it
	approved *parley.Approval // the approval that allows it

	// What kind of post it is. By default a participant sends a message.
	Request    bool             // a contact: the caller has checked the sender's rights, and that the message is not posted yet
	runAnswer  bool             // the final text of the run By, which ends with it
	replyToken bool             // the answer of a webhook, with the reply token of its run
	Task       string           // the task that a contact asks for
	Mentions   *parley.Mentions // what the text mentions, if the caller has parsed it before the transaction
	Purpose    parley.Purpose   // why the message wakes its recipients
	Expires    time.Time        // the exact time at which it expires, if the draft's TTL is only derived from that

	composed
	permitted
}

// composed is what Compose reads from the draft.
type composed struct {
	ID       string
	Body     parley.Message // the parts that the sender wrote
	Digest   [32]byte       // of the body
	mentions parley.Mentions

	Intent      *taskIntent     // what the message asks or says about a task, or nil
	command     *parley.Command // what the message tells an agent to do, or nil
	statusQuery bool            // the message asks an agent for its status, and the hub answers
	health      *parley.Health  // what the sender says about its own health, or nil
	onlyHealth  bool            // the message says nothing else
}

// permitted is what the hub finds out in the transaction about the agents that the message may wake.
type permitted struct {
	mayWake  []string             // recipients that passed the rules, or that the message answers: a mention of them always wakes them
	everyone []parley.NewDelivery // the recipients of a message to all agents; nil for any other message
}

// endingRun returns the run that ends with the message, or nil.
func (p *Posting) endingRun() *parley.Run {
	if !p.runAnswer {
		return nil
	}
	return p.By
}

// mayConcernTask reports whether the message may belong to a task, ask for one or report on one. parent is the message that it replies
// to, or nil.
func (p *Posting) mayConcernTask(parent *parley.Message) bool {
	return p.Task != "" || p.runAnswer || p.Draft.Task != "" || p.Intent != nil && (p.Intent.Wanted != nil || parent != nil)
}

// maxMentions bounds how many different names the hub looks up for one text, whether or not a participant has them.
const maxMentions = 256

// Compose checks the draft and reads everything from it that needs no transaction.
func (p *Posting) Compose() error {
	if p.Source == "" {
		p.Source = "api"
	}
	if err := parley.CheckMetadata(p.Draft.Metadata); err != nil {
		return err
	}
	p.ID = unit.NewID()
	p.Body = parley.Message{Content: p.Draft.Content, Payload: p.Draft.Payload, Metadata: p.Draft.Metadata}
	p.Digest = p.Body.BodyDigest()
	if p.Mentions != nil {
		p.mentions = *p.Mentions
	} else {
		p.mentions = parley.ParseMentions(p.Draft.Content.Text)
	}
	if p.Run != "" && p.Call == "" {
		var err error
		if p.Call, err = unit.CallDigest(p.Draft); err != nil {
			return err
		}
	}
	if n := p.mentions.Len(); n > maxMentions {
		return parley.Errorf(parley.BadInput, "the text has %d different @names, the limit is %d", n, maxMentions).
			Because(parley.TooLarge).Suggest("write names that are not mentions as code, between backticks")
	}
	return p.decode()
}

// decode reads the payloads that the hub acts on, and checks the payloads that have a schema.
func (p *Posting) decode() (err error) {
	p.Intent, p.statusQuery = DecodeTaskIntent(p.Draft), asksForStatus(p.Draft)
	switch p.Draft.Type {
	case parley.TypeCommand:
		p.command, err = decodeCommand(p.Draft.Payload)
	case parley.TypeHeartbeat:
		p.health, err = presence.DecodeHealth(p.Draft.Payload)
		p.onlyHealth = presence.IsOnlyHealth(p.Draft)
	}
	issues := schema.CheckPayload(p.Draft.Type, p.Draft.Payload)
	if len(issues) == 0 {
		return err
	}
	invalid := parley.Invalid("the payload is not a valid "+string(p.Draft.Type), p.Draft.IdempotencyKey, issues)
	if err != nil { // it says more than the schema does
		return parley.AsError(err).WithIssues(*invalid.Validation)
	}
	return invalid
}

// FillArtifactSizes returns the artifacts of a draft, with the sizes that the sender has left out. The size of a body never changes, so the
// hub reads it outside of the transaction of the post, which would have to digest the body again.
func FillArtifactSizes(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, d parley.Draft) ([]parley.Artifact, error) {
	list := slices.Clone(d.Content.Artifacts)
	if len(d.Content.Digests()) == 0 {
		return list, nil
	}
	err := core.View(ctx, caller, do, func(u *unit.Unit) error {
		if _, found, err := FindByKey(u, d.IdempotencyKey); found || err != nil {
			return nil // Store returns the duplicate or the error
		}
		for i, a := range list {
			if a.SHA256 == "" || a.Size != 0 {
				continue
			}
			size, err := artifacts.FindSize(u, a.SHA256)
			if err != nil {
				return err
			}
			list[i].Size = size
		}
		return nil
	})
	return list, err
}
