package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// heldTool is a tool whose calls may be held: how a call of it is told in words, and how it is made once it is
// approved.
type heldTool struct {
	words   func(s *scene, agent string, args json.RawMessage) (words, error)
	prepare func(ctx context.Context, as Caller, args json.RawMessage) (execution, error)
}

// words are a held call as people are told of it.
type words struct {
	wants  string // contact SeniorAnalystBot
	doing  string // contacting SeniorAnalystBot
	action string
	parts  []parley.ApprovalPart
}

// heldTools joins the tools of several subjects.
func heldTools(subjects ...map[string]heldTool) map[string]heldTool {
	all := map[string]heldTool{}
	for _, tools := range subjects {
		maps.Copy(all, tools)
	}
	return all
}

// tool makes a tool of functions that take its arguments.
func tool[A any](tell func(*scene, string, A) (words, error), prepare func(context.Context, Caller, A) (execution, error)) heldTool {
	return heldTool{
		words: func(s *scene, agent string, raw json.RawMessage) (w words, err error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				return w, err
			}
			return tell(s, agent, args)
		},
		prepare: func(ctx context.Context, as Caller, raw json.RawMessage) (execution, error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, err
			}
			return prepare(ctx, as, args)
		},
	}
}

// contactTools are the approvable calls of contacts.
func contactTools() map[string]heldTool {
	return map[string]heldTool{toolContact: tool(contactWords, prepareContact)}
}

// postTools are the approvable calls of posts.
func (h *Hub) postTools() map[string]heldTool {
	return map[string]heldTool{
		toolPost:  tool(draftWords(toolPost), h.preparePost),
		toolReply: tool(draftWords(toolReply), h.preparePost),
	}
}

func (s *scene) words(a parley.Approval) (words, error) {
	tool, known := s.hub.hooks.tools[a.Call.Tool]
	if !known {
		return words{}, fmt.Errorf("nobody knows what %s is", a.Call.Tool)
	}
	return tool.words(s, a.Agent, a.Call.Args)
}

// summaryAgain makes the text of an earlier approval request again. If the subject of the call has changed or was removed, it
// returns the stored text, and all of it counts as the agent's words.
func (s *scene) summaryAgain(a parley.Approval) parley.Wording {
	if now, err := s.summary(a); err == nil && now.Text == a.Summary {
		return now
	}
	return parley.Wording{}.Quote(a.Agent, a.Summary)
}

// summary is the request for an approval as whoever decides sees it.
func (s *scene) summary(a parley.Approval) (text parley.Wording, err error) {
	agent, err := s.Agents().Find(a.Agent)
	if err != nil {
		return text, err
	}
	w, err := s.words(a)
	if err != nil {
		return text, err
	}
	if reads := []string{toolRead, toolMessage, toolQuery}; a.Conversation != "" && slices.Contains(reads, a.Call.Tool) {
		where, err := s.Conversations().Find(a.Conversation)
		if err != nil {
			return text, err
		}
		w.parts = append(w.parts, parley.ApprovalPart{Label: "Shown in", Text: where.Title()}) // to all who read there
	}
	return parley.ApprovalRequest{ID: agent.ID, Agent: agent.Name, Wants: w.wants, Action: w.action, Parts: w.parts}.Wording(), nil
}

func contactWords(s *scene, _ string, c parley.Contact) (words, error) {
	name, err := s.nameOf(c.Agent)
	return words{"contact " + name, "contacting " + name, string(c.Pattern), c.ApprovalParts()}, err
}

func prepareContact(_ context.Context, as Caller, c parley.Contact) (execution, error) {
	return func(s *scene, a parley.Approval) (returned, error) {
		told, wait, err := s.contact(origin{caller: as, approved: &a}, c)
		switch {
		case err != nil || wait == nil:
		case !wait.State.Ended():
			return returned{waits: true}, nil
		default: // it was made meanwhile, with the same key
			now, err := s.tidings(*wait)
			if err != nil {
				return returned{}, err
			}
			if told, err = now.outcome(*wait, told); err != nil {
				return returned{failure: parley.AsError(err)}, nil
			}
		}
		if err != nil {
			return returned{}, err
		}
		notices, err := s.aboutUnknown()
		return returned{text: withNotices(told.Text, append(told.Notices, notices...))}, err
	}, nil
}

// nameOf is what a participant is called, by whatever name it was named.
func (s *scene) nameOf(name string) (string, error) {
	a, err := s.Agents().Find(name)
	if errors.Is(err, parley.ErrNotFound) {
		return name, nil
	}
	return a.Name, err
}

// heldPost is a draft that is held, and the document that it has come by, if it has.
type heldPost struct {
	parley.Draft
	Bridge   string `json:"bridge,omitempty"`
	Document string `json:"document,omitempty"`
}

func draftWords(action string) func(*scene, string, heldPost) (words, error) {
	return func(s *scene, agent string, d heldPost) (words, error) {
		others, where, err := s.draftGoes(agent, d.Draft)
		w := words{"post in " + where, "posting in " + where, action, d.ApprovalParts()}
		if len(others) > 0 {
			names := strings.Join(others, ", ")
			w.wants, w.doing = "contact "+names, "contacting "+names
		}
		return w, err
	}
}

// draftGoes is whom a draft goes to, or where.
func (s *scene) draftGoes(agent string, d parley.Draft) (others []string, where string, err error) {
	ids, ref := d.Direct, d.Conversation
	if len(ids) == 0 && ref == "" {
		m, err := s.Messages().Get(d.InReplyTo)
		if err != nil {
			return nil, "a conversation", ignoreNotFound(err)
		}
		ref = m.Conversation
	}
	if len(ids) == 0 {
		c, err := s.Conversations().Find(conversationKey(ref))
		if errors.Is(err, parley.ErrNotFound) && d.Make {
			ref = "#" + conversationKey(ref)
		}
		if err != nil {
			return nil, ref, ignoreNotFound(err)
		}
		ids, where = c.SetMembers(), c.Title()
	}
	for _, id := range ids {
		if id == agent {
			continue
		}
		name, err := s.nameOf(id)
		if err != nil {
			return nil, where, err
		}
		others = append(others, name)
	}
	return others, where, nil
}

func (h *Hub) preparePost(_ context.Context, as Caller, held heldPost) (execution, error) {
	d, err := held.Check(h.config.Limits)
	if err != nil {
		return nil, err
	}
	p := post{draft: d, source: as.Source, named: held.Document}
	if err := p.compose(); err != nil {
		return nil, err
	}
	if p.call, err = callDigest(d); err != nil {
		return nil, err
	}
	return func(s *scene, a parley.Approval) (returned, error) {
		p := p // this may run again
		p.approved = &a
		if r, err := s.Runs().Get(a.Run); err == nil {
			p.by = &r // another attempt of it does not post it again
		} else if !errors.Is(err, parley.ErrNotFound) {
			return returned{}, err
		}
		receipt, err := s.postHeld(p, held.Bridge)
		if err != nil {
			return returned{}, err
		}
		notices, err := s.aboutUnknown()
		receipt.Notices = append(receipt.Notices, notices...)
		return returned{text: postedWords(receipt)}, err
	}, nil
}

// postHeld posts what was approved. Where it has come by a document, it is known as the message of that from now on.
func (s *scene) postHeld(p post, bridge string) (parley.Receipt, error) {
	b, err := s.Bridges().Get(bridge)
	switch {
	case bridge == "" || errors.Is(err, parley.ErrNotFound):
		return s.post(p)
	case err != nil:
		return parley.Receipt{}, err
	}
	p.tree = &b
	receipt, err := s.post(p)
	if err != nil {
		return receipt, err
	}
	return receipt, s.Bridges().Arrived(parley.FileRow{
		Bridge: b.ID, File: parley.BridgeFile{Path: "approved/" + p.approved.ID}, Name: p.named, From: s.me.ID, Message: receipt.Message.ID, At: s.now,
	})
}

func postedWords(r parley.Receipt) string {
	return withNotices(fmt.Sprintf("Posted as message %s in conversation %s.", r.Message.ShortName(), r.Message.Conversation), r.Notices)
}

// withNotices is what an approved call returned, and what its caller must know besides.
func withNotices(text string, notices []string) string {
	lines := []string{text}
	for _, notice := range notices {
		lines = append(lines, "Note: "+notice)
	}
	return strings.Join(lines, "\n")
}
