package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// parseEntry parses a line and returns a function that stores it; nil for the last line. It checks everything that needs no
// store.
func (i *importer) parseEntry(ctx context.Context, raw []byte) (func(*HistoryWriter) error, error) {
	var l line
	if err := decodeLine(raw, &l); err != nil {
		return nil, err
	}
	switch {
	case l.Agent != nil:
		a := *l.Agent
		return func(in *HistoryWriter) error { return in.addAgent(a) }, nil
	case l.Conversation != nil:
		c, err := checkExported(*l.Conversation)
		return func(in *HistoryWriter) error { return in.addConversation(c) }, err
	case l.Message != nil:
		if err := checkChecksum(*l.Message); err != nil {
			return nil, err
		}
		m, err := l.Message.CheckHistory(i.Config.Limits)
		i.tasks.noteMention(m.Task)
		body := m.SealedBody()
		return func(in *HistoryWriter) error { return in.AddMessage(m, body) }, err
	case l.Permission != nil:
		return func(in *HistoryWriter) error { return in.addPermission(*l.Permission) }, checkPermission(*l.Permission)
	case l.Task != nil:
		return i.parseTask(ctx, *l.Task)
	case l.Approval != nil:
		return func(in *HistoryWriter) error { return in.addApproval(*l.Approval) }, checkApproval(*l.Approval)
	case l.Note != nil:
		return func(in *HistoryWriter) error { return in.addNote(*l.Note) }, checkNote(*l.Note)
	case l.Damaged != nil:
		i.reportDamaged(*l.Damaged)
		return nil, nil
	case l.End != nil:
		i.ended = true
		return nil, nil
	default:
		return nil, parley.Errorf(parley.BadInput, "the line has an unknown kind of record").
			Suggest("use a file that parley export wrote")
	}
}

// addAgent adds an agent. An agent with the same id is the same agent, unless the exported UUID belongs to another id here:
// otherwise the content of a removed agent would go to the agent that took over its id.
func (in *HistoryWriter) addAgent(a parley.Agent) error {
	existing, err := in.Agents().Find(a.ID)
	if err == nil && existing.ID == a.ID {
		sameUUID, err := in.Agents().Find(a.UUID)
		if err == nil && sameUUID.UUID != existing.UUID {
			return parley.Errorf(parley.BadInput, "the agent %s of the export has the id %s in this hub, and another agent has the id %s", a.ID, sameUUID.ID, existing.ID).
				Because(parley.Conflict).Suggest("import the export into a new hub")
		}
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return err
		}
		in.counts.Skipped++
		return nil
	}
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	if !parley.IsUUID(a.UUID) {
		return parley.Errorf(parley.BadInput, "agent %s has no uuid", a.ID).Suggest("use a file that parley export wrote")
	}
	id, name := a.ID, a.Name
	if a.RemovedAt != nil { // another agent may have taken its names
		id, name = parley.OriginalName(id), parley.OriginalName(name)
	}
	if err := agents.CheckNewAgent(parley.NewAgent{ID: id, Name: name, Kind: a.Kind, Access: a.Access, Profile: a.Profile}); err != nil {
		return err
	}
	if a.Manager, err = agents.Manager(in.Unit, a.ID, a.Manager); err != nil {
		return err
	}
	err = agents.InsertRow(in.Tx, a)
	if errors.Is(err, parley.ErrTaken) {
		return parley.Errorf(parley.BadInput, "the id, uuid or name of agent %s (%s) belongs to another agent here", a.ID, a.Name).
			Because(parley.Conflict).Suggest("rename one of the two, and repeat the import")
	}
	in.counts.Agents++
	in.Note(parley.Event{Kind: parley.EventAgentAdded, Agent: a.ID})
	return err
}

// checkExported checks a conversation without the store.
func checkExported(c exportedConversation) (exportedConversation, error) {
	c.ID = strings.ToLower(c.ID)
	named := c.Kind == parley.Channel || c.Kind == parley.Group && c.Name != ""
	kinds := []parley.ConversationKind{parley.Channel, parley.Group, parley.DM, parley.Ephemeral}
	visibilities := []parley.Visibility{parley.Public, parley.Private}
	if !parley.IsUUID(c.ID) || !slices.Contains(kinds, c.Kind) || !slices.Contains(visibilities, c.Visibility) || !named && c.Name != "" {
		return c, parley.Errorf(parley.BadInput, "conversation %q has an invalid id, kind, visibility or name", c.ID).
			Suggest("use a file that parley export wrote")
	}
	if named {
		display, err := parley.ConversationDisplay(c.Name, c.DisplayName)
		c.DisplayName = display
		return c, cmp.Or(parley.CheckKnownChannelName(c.Name), err, parley.CheckTopic(c.Topic))
	}
	c.DisplayName = ""
	ids := make([]string, len(c.Members))
	for i, m := range c.Members {
		ids[i] = m.Agent
	}
	c.Set = parley.MemberSetKey(ids)
	if n := len(c.FixedMemberIDs()); n < 2 || n > 2 && c.Kind != parley.Group {
		return c, parley.Errorf(parley.BadInput, "%s %s has %d members", c.Kind, c.ID, n).
			Suggest("use a file that parley export wrote")
	}
	return c, parley.CheckTopic(c.Topic)
}

// rankImported ranks conversations of one name, as an export may have several private ones. Two public channels cannot have
// one name.
func (in *HistoryWriter) rankImported(c *parley.Conversation) error {
	if c.Name == "" {
		return nil
	}
	list, err := in.Conversations().WithName(c.Name)
	for _, other := range list {
		if !other.ReadableByAll() || !c.ReadableByAll() {
			c.NameRank = max(c.NameRank, other.NameRank+1)
		}
	}
	return err
}

func (in *HistoryWriter) addConversation(c exportedConversation) error {
	_, err := in.Conversations().Find(c.ID)
	if err == nil {
		in.counts.Skipped++
		return nil
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	if err := parley.CheckNotShortName(c.Name); err != nil {
		return err
	}
	if _, err := in.knownAgent(c.CreatedBy); err != nil {
		return err
	}
	if err := in.rankImported(&c.Conversation); err != nil {
		return err
	}
	err = conversations.InsertRow(in.Tx, c.Conversation)
	if errors.Is(err, parley.ErrTaken) {
		return parley.Errorf(parley.BadInput, "%s: another conversation here has this name or these members", c.Title()).
			Because(parley.Conflict).Suggest("rename or delete the other one, and repeat the import")
	}
	if err != nil {
		return err
	}
	in.counts.Conversations++
	in.Note(parley.Event{Kind: parley.EventConversationCreated, Conversation: c.ID})
	for _, m := range c.Members {
		id, err := in.knownAgent(m.Agent)
		if err != nil {
			return err
		}
		in.Note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
		if err := conversations.SaveMember(in.Tx, parley.Member{Conversation: c.ID, Agent: id, JoinedAt: m.JoinedAt}); err != nil {
			return err
		}
	}
	return nil
}

// knownAgent returns the id of an agent, which may be a removed one.
func (in *HistoryWriter) knownAgent(id string) (string, error) {
	if id == "" {
		return "", unit.Unknown{Noun: "agent", Name: id}
	}
	return agents.Named(in.Unit, id)
}

// AddMessage adds a message at the end of the order, as history without deliveries.
func (in *HistoryWriter) AddMessage(m parley.Message, body [32]byte) error {
	existing, err := in.Messages().GetAll([]string{m.ID})
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		in.counts.Skipped++
		return nil
	}
	if err := in.resolveNames(&m); err != nil {
		return err
	}
	m.Task = in.tasks.localName(m.Task)
	absent, err := in.addMissingBodies(m.Content)
	if err != nil {
		return err
	}
	if err := in.WriteEvents(); err != nil { // earlier events come before the message in the order
		return err
	}
	if m.Seq, err = in.Messages().NextSeq(); err != nil {
		return err
	}
	m.Checksum = m.Seal(body)
	if err := messages.InsertRow(in.Tx, m); err != nil {
		return err
	}
	if m.RedactedAt != nil {
		if err := messages.RedactRow(in.Tx, m); err != nil {
			return err
		}
	}
	in.counts.Messages++
	return in.markBodiesRemoved(absent)
}

// resolveNames replaces the agents of a message by their ids here and checks that its conversation exists.
func (in *HistoryWriter) resolveNames(m *parley.Message) (err error) {
	if m.From, err = in.knownAgent(m.From); err != nil {
		return err
	}
	if m.To != "" && m.To != parley.All {
		if m.To, err = in.knownAgent(m.To); err != nil {
			return err
		}
	}
	if _, known := in.conversationsBefore[m.Conversation]; known {
		return nil
	}
	c, err := in.Conversations().Find(m.Conversation)
	if errors.Is(err, parley.ErrNotFound) || err == nil && c.ID != m.Conversation {
		return unit.Unknown{Noun: "conversation", Name: m.Conversation}
	}
	in.conversationsBefore[m.Conversation] = c
	return err
}

// addMissingBodies adds rows for artifacts whose bodies the hub does not have, so that messages can refer to them. It
// returns their digests.
func (in *HistoryWriter) addMissingBodies(c parley.Content) (absent []string, err error) {
	for _, a := range c.Artifacts {
		if a.SHA256 == "" || slices.Contains(absent, a.SHA256) {
			continue
		}
		stored, err := in.Artifacts().Get(a.SHA256)
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return nil, err
		}
		if err == nil && stored.RemovedAt == nil {
			continue
		}
		stored = storage.StoredArtifact{SHA256: a.SHA256, Size: a.Size, StoredAt: in.Now}
		if err := artifacts.Save(in.Tx, stored, in.Me.ID); err != nil {
			return nil, err
		}
		absent = append(absent, a.SHA256)
	}
	return absent, nil
}

// markBodiesRemoved marks bodies as removed. A caller that opens such a body gets the hint to store it again.
func (in *HistoryWriter) markBodiesRemoved(absent []string) error {
	for _, sha256 := range absent {
		if _, err := in.Artifacts().Expire(sha256, in.Now, in.Now); err != nil {
			return err
		}
		in.counts.BodiesMissing++
	}
	return nil
}

// RestoreConversations restores the conversations that got history, except for their messages. So the conversations do not count
// as changed, and members that had read everything have read the history too.
func (in *HistoryWriter) RestoreConversations() error {
	for _, id := range slices.Sorted(maps.Keys(in.conversationsBefore)) {
		before := in.conversationsBefore[id]
		if err := conversations.Save(in.Tx, before); err != nil {
			return err
		}
		now, err := in.Conversations().Find(id)
		if err != nil {
			return err
		}
		members, err := in.Members().List(id)
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.ReadSeq < before.LastSeq {
				continue
			}
			m.ReadSeq = now.LastSeq
			if err := conversations.SaveMember(in.Tx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkChecksum refuses a message that does not match its checksum. Exports of other programs have no checksums.
func checkChecksum(m parley.Message) error {
	if m.Damage != nil || m.Checksum != "" && !m.Intact() {
		return parley.Errorf(parley.BadInput, "message %s does not match its checksum", unit.Clipped(m.ID)).
			Suggest("export it again; if you edited the line on purpose, remove its checksum")
	}
	return nil
}

// reportDamaged notes what was damaged in the exporting hub.
func (i *importer) reportDamaged(d parley.Damage) {
	i.report.Damaged++
	const shown = 20
	switch {
	case i.report.Damaged <= shown:
		name := unit.Clipped(d.ID)
		if d.Seq != 0 {
			name = fmt.Sprintf("%d (%s)", d.Seq, name)
		}
		i.report.Notices = append(i.report.Notices, fmt.Sprintf("%s %s is missing: it was damaged in the hub that exported it", unit.Clipped(d.What), name))
	case i.report.Damaged == shown+1:
		i.report.Notices = append(i.report.Notices, "more records are missing; damaged has their number")
	}
}
