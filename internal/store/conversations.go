package store

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type conversations struct{ *tx }

const conversationColumns = `c.num, c.id, c.name, c.kind, c.visibility, c.topic, c.created_by, c.created_at,
	c.updated_at, c.archived_at, c.messages, c.last_seq, c.members, c.answers, c.name_rank, c.display_name`

// notDeleted is the condition for a conversation that is not deleted. Without statistics, PostgreSQL would expect that "= 0"
// holds for few conversations, and would begin every join with them.
const notDeleted = "c.buried <> 1"

type conversationRow struct {
	num, createdBy int64
	parley.Conversation
}

func (s conversations) CountMade(agent string) (n int, err error) {
	maker, err := s.agentNamed(agent)
	if err != nil {
		return 0, err
	}
	err = s.row(`SELECT count(*) FROM conversations c WHERE c.created_by = $1 AND c.archived_at IS NULL AND c.kind IN ('channel', 'group')
		AND `+notDeleted, []any{maker.num}, []any{&n})
	return n, err
}

func (s conversations) Find(idOrName string) (parley.Conversation, error) {
	row, err := s.conversation(idOrName)
	return row.Conversation, err
}

func (s conversations) WithName(name string) ([]parley.Conversation, error) {
	if !canBeName(name) {
		return nil, nil
	}
	return s.collect("SELECT "+conversationColumns+" FROM conversations c WHERE c.name = $1 ORDER BY c.name_rank", []any{name})
}

func (s conversations) WithDisplayName(name, agent string, all bool, limit int) ([]parley.Conversation, error) {
	folded := parley.Fold(name)
	if !utf8.ValidString(name) || strings.Contains(name, "\x00") || folded == "" {
		return nil, nil
	}
	viewer, err := s.agentNamed(agent)
	if err != nil {
		return nil, err
	}
	seen := ""
	if !all {
		seen = " AND (p.agent IS NOT NULL OR c.kind = 'channel' AND c.visibility = 'public')"
	}
	return s.collect("SELECT "+conversationColumns+` FROM conversations c LEFT JOIN participants p ON p.conv = c.num AND p.agent = $1
		WHERE c.display_folded = $2 AND `+notDeleted+seen+" ORDER BY p.agent IS NULL, c.num LIMIT 0 + $3", []any{viewer.num, folded, limit})
}

// maxSetCandidates is among how many of the newest conversations of a member WithSet looks for ephemeral conversations.
const maxSetCandidates = 10_000

func (s conversations) WithSet(set string, limit int) ([]parley.Conversation, error) {
	first, _, _ := strings.Cut(set, ",")
	row, err := s.agentNamed(first) // the conversations of a member have an index; the sets of ephemeral conversations have none
	if err != nil {
		return nil, err
	}
	return s.collect("SELECT "+conversationColumns+` FROM conversations c WHERE c.num IN (
			SELECT d.num FROM conversations d WHERE d.members = $1 AND d.kind IN ('dm', 'group')
			UNION SELECT e.num FROM (SELECT conv FROM participants WHERE agent = $2 ORDER BY conv DESC LIMIT 0 + $3) p
				JOIN conversations e ON e.num = p.conv WHERE e.members = $1)
		AND `+notDeleted+" ORDER BY c.last_seq DESC, c.id DESC LIMIT 0 + $4", []any{set, row.num, maxSetCandidates, limit})
}

func (s conversations) FindSet(set string) (parley.Conversation, error) {
	row, err := s.conversationWhere("c.members = $1 AND c.kind IN ('dm', 'group')", set)
	return row.Conversation, err
}

func (s conversations) List(f storage.ConversationFilter) ([]parley.Conversation, error) {
	query, args, err := s.listQuery(f)
	if err != nil {
		return nil, err
	}
	return s.collect(query, args)
}

func (s conversations) Scan(after string, limit int) ([]parley.Conversation, error) {
	var id uuid.UUID // no conversation has the zero id, which sorts before all others
	if after != "" {
		var err error
		if id, err = uuid.Parse(after); err != nil {
			return nil, parley.ErrNotFound
		}
	}
	return s.collect("SELECT "+conversationColumns+" FROM conversations c WHERE c.id > $1 AND "+notDeleted+
		" ORDER BY c.id LIMIT 0 + $2", []any{id[:], limit})
}

func (s conversations) collect(query string, args []any) ([]parley.Conversation, error) {
	var rows []conversationRow
	err := s.each(query, args, func(r Rows) error {
		row, err := scanConversation(r)
		rows = append(rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 1 {
		s.lastConv = conversationKey{rows[0].num, rows[0].ID}
	}
	list := make([]parley.Conversation, len(rows))
	for i, row := range rows {
		if row.CreatedBy, err = s.agentID(row.createdBy); err != nil {
			return nil, err
		}
		list[i] = row.Conversation
	}
	return list, nil
}

func (s conversations) listQuery(f storage.ConversationFilter) (string, []any, error) {
	q := query{}
	q.add("SELECT " + conversationColumns + " FROM conversations c")
	if f.Member != "" {
		row, err := s.agentNamed(f.Member)
		if err != nil {
			return "", nil, err
		}
		q.add("JOIN participants p ON p.conv = c.num AND p.agent = ?", row.num)
	}
	q.add("WHERE " + notDeleted + " AND c.archived_at IS")
	if f.Archived {
		q.add("NOT")
	}
	q.add("NULL")
	if f.Reader != "" {
		row, err := s.agentNamed(f.Reader)
		if err != nil {
			return "", nil, err
		}
		q.add(`AND (c.kind = 'channel' AND c.visibility = 'public'
			OR EXISTS (SELECT 1 FROM participants r WHERE r.conv = c.num AND r.agent = ?))`, row.num)
	}
	q.kinds(f.Kinds)
	if f.BeforeID != "" || f.Before > 0 {
		var id uuid.UUID // without BeforeID, conversations with last_seq = Before are left out
		if f.BeforeID != "" {
			var err error
			if id, err = uuid.Parse(f.BeforeID); err != nil {
				return "", nil, parley.ErrNotFound
			}
		}
		q.add("AND (c.last_seq < ? OR c.last_seq = ? AND c.id < ?)", f.Before, f.Before, id[:])
	}
	q.add("ORDER BY c.last_seq DESC, c.id DESC LIMIT 0 + ?", f.Limit)
	return q.text.String(), q.args, nil
}

func (s conversations) Idle(f storage.IdleFilter) ([]string, error) {
	q := query{}
	q.add("SELECT c.id FROM conversations c WHERE "+notDeleted+" AND c.archived_at IS NULL AND c.updated_at < ?", millis(f.Since))
	q.kinds(f.Kinds)
	if f.Settled {
		q.add("AND NOT EXISTS (SELECT 1 FROM messages m JOIN deliveries d ON d.message = m.seq WHERE m.conv = c.num AND " + openDelivery + ")")
	}
	q.add("LIMIT 0 + ?", f.Limit)
	var ids []string
	err := s.each(q.text.String(), q.args, func(r Rows) error {
		var raw []byte
		if err := r.Scan(&raw); err != nil {
			return err
		}
		id, err := uuidText(raw)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func (s conversations) Insert(c parley.Conversation) error {
	by, err := s.agentNamed(c.CreatedBy)
	if err != nil {
		return err
	}
	id, err := uuid.Parse(c.ID)
	if err != nil {
		return err
	}
	n, err := s.exec(`INSERT INTO conversations (id, name, kind, visibility, topic, created_by, created_at, updated_at,
			archived_at, messages, last_seq, members, answers, name_rank, buried, display_name, display_folded)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10, $11, $12, 0, $13, $14) ON CONFLICT DO NOTHING`,
		id[:], textOrNull(c.Name), string(c.Kind), string(c.Visibility), c.Topic, by.num,
		millis(c.CreatedAt), millis(c.UpdatedAt), millisOrNull(c.ArchivedAt), textOrNull(c.Set),
		textOrNull(string(c.Answers)), c.NameRank, textOrNull(c.DisplayName), textOrNull(parley.Fold(c.DisplayName)))
	return requireRow(n, err, parley.ErrTaken)
}

func (s conversations) Put(c parley.Conversation) error {
	row, err := s.conversation(c.ID)
	if err != nil {
		return err
	}
	if c.Name != "" && (c.Name != row.Name || c.NameRank != row.NameRank) {
		same, err := s.WithName(c.Name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(same, func(other parley.Conversation) bool { return other.NameRank == c.NameRank }) {
			return parley.ErrTaken
		}
	}
	err = s.write(`UPDATE conversations SET name = $2, visibility = $3, topic = $4, updated_at = $5, archived_at = $6,
		answers = $7, name_rank = $8, display_name = $9, display_folded = $10 WHERE num = $1`,
		row.num, textOrNull(c.Name), string(c.Visibility), c.Topic, millis(c.UpdatedAt), millisOrNull(c.ArchivedAt),
		textOrNull(string(c.Answers)), c.NameRank, textOrNull(c.DisplayName), textOrNull(parley.Fold(c.DisplayName)))
	return err
}

func (s conversations) Delete(id string) error {
	row, err := s.conversation(id)
	if err != nil {
		return err
	}
	if err := s.emptyInboxes(row.num); err != nil {
		return err
	}
	s.lastConv = conversationKey{}
	err = s.write(`UPDATE conversations SET buried = 1, name = NULL, display_name = NULL, display_folded = NULL, members = NULL
		WHERE num = $1`, row.num)
	return err
}

// emptyInboxes subtracts the open deliveries of a conversation from the counters of the inboxes.
func (s conversations) emptyInboxes(conv int64) error {
	freed := map[int64]parley.Inbox{}
	err := s.each("SELECT d.agent, "+inboxShares+` FROM messages m JOIN deliveries d ON d.message = m.seq
		WHERE m.conv = $1 AND `+openDelivery+" GROUP BY d.agent", []any{conv}, func(r Rows) error {
		var (
			agent int64
			n     parley.Inbox
		)
		err := r.Scan(&agent, &n.Waking, &n.Quiet, &n.Work)
		freed[agent] = n
		return err
	})
	s.lastInbox = agentInbox{}
	for agent, n := range freed {
		if err == nil {
			err = s.write("UPDATE inboxes SET waking = waking - $2, quiet = quiet - $3, work = work - $4 WHERE agent = $1",
				agent, n.Waking, n.Quiet, n.Work)
		}
	}
	return err
}

func (t *tx) conversation(idOrName string) (conversationRow, error) {
	if !canBeName(idOrName) {
		return conversationRow{}, parley.ErrNotFound
	}
	if id, err := uuid.Parse(idOrName); err == nil && len(idOrName) == 36 {
		row, err := t.conversationWhere("c.id = $1 AND "+notDeleted, id[:])
		if missing, _ := notFound(err); !missing {
			return row, err
		} // a name may look like an id
	}
	return t.conversationWhere("c.name = $1 ORDER BY c.name_rank LIMIT 1", idOrName)
}

// conversationKey returns the key of a conversation. It remembers the last conversation within one update or view.
func (t *tx) conversationKey(idOrName string) (conversationKey, error) {
	if t.lastConv.id != "" && t.lastConv.id == idOrName {
		return t.lastConv, nil
	}
	row, err := t.conversation(idOrName)
	return conversationKey{row.num, row.ID}, err
}

type conversationKey struct {
	num int64
	id  string
}

func (t *tx) conversationWhere(where string, arg any) (conversationRow, error) {
	var row conversationRow
	found := false
	err := t.each("SELECT "+conversationColumns+" FROM conversations c WHERE "+where, []any{arg}, func(r Rows) (err error) {
		found = true
		row, err = scanConversation(r)
		return err
	})
	if err != nil {
		return row, err
	}
	if !found {
		return row, parley.ErrNotFound
	}
	t.lastConv = conversationKey{row.num, row.ID}
	row.CreatedBy, err = t.agentID(row.createdBy)
	return row, err
}

func scanConversation(r Rows) (row conversationRow, err error) {
	var (
		id               []byte
		name, set        sql.NullString
		answers, display sql.NullString
		kind, visibility string
		created, updated int64
		archived         sql.NullInt64
	)
	err = r.Scan(&row.num, &id, &name, &kind, &visibility, &row.Topic, &row.createdBy, &created,
		&updated, &archived, &row.Messages, &row.LastSeq, &set, &answers, &row.NameRank, &display)
	if err == nil {
		row.ID, err = uuidText(id)
	}
	row.DisplayName = display.String
	row.Name, row.Set, row.Answers = name.String, set.String, parley.Answers(answers.String)
	row.Kind, row.Visibility = parley.ConversationKind(kind), parley.Visibility(visibility)
	row.CreatedAt, row.UpdatedAt, row.ArchivedAt = fromMillis(created), fromMillis(updated), timeOrNil(archived)
	return row, err
}

func (t *tx) agentID(num int64) (string, error) {
	row, err := t.agentNumbered(num)
	if err != nil {
		return "", fmt.Errorf("agent number %d: %w", num, err)
	}
	return row.agent.ID, nil
}

// requireRow returns the error none if a statement succeeded without writing a row.
func requireRow(n int64, err, none error) error {
	if err == nil && n == 0 {
		return none
	}
	return err
}
