package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

type runs struct{ *tx }

func (s runs) NextNumber() (int64, error) { return s.draw(&s.counters.run, "runs") }

func (s runs) Insert(r parley.Run) error {
	id, err := uuid.Parse(r.ID)
	if err != nil {
		return err
	}
	agent, err := s.agentNamed(r.Agent)
	if err != nil {
		return err
	}
	conv, err := s.conversationKey(r.Conversation)
	if err != nil {
		return err
	}
	triggers, err := s.triggers(conv.num, r.Triggers)
	if err != nil {
		return err
	}
	changing, err := encodeRun(r)
	if err != nil {
		return err
	}
	n, err := s.exec(`INSERT INTO runs (id, agent, conv, created_at, number, task, runtime, state, trace, attempt, hops, chain, started_at,
			ended_at, deadline, session, answer, failure, cancel, input_tokens, output_tokens, cost, node, pid, pid_started, depth, ask)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
		ON CONFLICT DO NOTHING`, append([]any{id[:], agent.num, conv.num, millis(r.CreatedAt), numberOrNull(r.Number)}, changing...)...)
	if err := requireRow(n, err, parley.ErrTaken); err != nil {
		return err
	}
	for _, t := range triggers {
		err := s.write("INSERT INTO run_triggers (message, agent, run, id) VALUES ($1, $2, $3, $4)", t.seq, agent.num, id[:], t.id[:])
		if err != nil {
			return err
		}
	}
	return nil
}

type trigger struct {
	seq int64
	id  uuid.UUID
}

// triggers returns the seqs and ids of messages, each once. It returns ErrNotFound if one of them is not in the conversation.
func (s runs) triggers(conv int64, messages []string) (list []trigger, err error) {
	for _, message := range messages {
		var t trigger
		if t.id, err = uuid.Parse(message); err != nil {
			return nil, parley.ErrNotFound
		}
		err := s.row("SELECT seq FROM messages WHERE id = $1 AND conv = $2", []any{t.id[:], conv}, []any{&t.seq})
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list, nil
}

// seqOf returns the seq of a message, or ErrNotFound if there is no such message or its conversation is deleted.
func (t *tx) seqOf(message string) (seq int64, err error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return 0, parley.ErrNotFound
	}
	err = t.row("SELECT m.seq FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.id = $1 AND "+notDeleted, []any{id[:]}, []any{&seq})
	return seq, err
}

func (s runs) Get(id string) (parley.Run, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return parley.Run{}, parley.ErrNotFound
	}
	lock := s.locks.Run
	if !s.writable {
		lock = ""
	}
	return onlyRun(s.find("", "r.id = $1"+lock, key[:]))
}

func onlyRun(list []parley.Run, err error) (parley.Run, error) {
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return parley.Run{}, err
	}
	return list[0], nil
}

func (s runs) Put(r parley.Run) error {
	key, err := uuid.Parse(r.ID)
	if err != nil {
		return parley.ErrNotFound
	}
	changing, err := encodeRun(r)
	if err != nil {
		return err
	}
	n, err := s.exec(`UPDATE runs SET task = $2, runtime = $3, state = $4, trace = $5, attempt = $6, hops = $7, chain = $8,
			started_at = $9, ended_at = $10, deadline = $11, session = $12, answer = $13, failure = $14, cancel = $15,
			input_tokens = $16, output_tokens = $17, cost = $18, node = $19, pid = $20, pid_started = $21, depth = $22, ask = $23
		WHERE id = $1 AND EXISTS (SELECT 1 FROM conversations c WHERE c.num = runs.conv AND `+notDeleted+")",
		append([]any{key[:]}, changing...)...)
	return requireRow(n, err, parley.ErrNotFound)
}

// live is the condition for a run that has not ended: see parley.RunState.Live. liveOfAll is the same for the runs of all agents.
// The condition on the number makes the database use the index by agents.
const (
	live      = "r.state IN ('starting', 'running', 'waiting') AND r.conv IS NOT NULL"
	liveOfAll = live + " AND r.agent > 0"
)

func (s runs) Live(agent string) ([]parley.Run, error) {
	if agent != "" {
		row, err := s.agentNamed(agent)
		if err != nil {
			return nil, err
		}
		return s.find("", live+" AND r.agent = $1 ORDER BY r.id", row.num)
	}
	list, err := s.find("", liveOfAll)
	slices.SortFunc(list, func(a, b parley.Run) int { return strings.Compare(a.ID, b.ID) })
	return list, err
}

func (s runs) CountLive() (map[string]int, error) {
	byNum := map[int64]int{}
	err := s.each("SELECT r.agent, count(*) FROM runs r WHERE "+runConversation+" IS NOT NULL AND "+liveOfAll+" GROUP BY r.agent", nil,
		func(r Rows) error {
			var (
				agent int64
				n     int
			)
			err := r.Scan(&agent, &n)
			byNum[agent] = n
			return err
		})
	return byID(s.tx, byNum, err)
}

func (s runs) List(f parley.RunFilter) ([]parley.Run, error) {
	before, err := uuid.Parse(f.Before)
	if f.Before != "" && err != nil {
		return nil, nil // no run has such an id
	}
	if f.Live {
		return s.listLive(f, before)
	}
	q := query{}
	q.add("1 = 1")
	if f.Agent != "" {
		row, err := s.agentNamed(f.Agent)
		if missing, err := notFound(err); missing || err != nil {
			return nil, err
		}
		q.add("AND r.agent = ?", row.num)
	}
	if f.Conversation != "" {
		conv, err := s.conversationKey(f.Conversation)
		if missing, err := notFound(err); missing || err != nil {
			return nil, err
		}
		q.add("AND r.conv = ?", conv.num)
	}
	if f.Failed {
		q.add("AND r.failure IS NOT NULL")
	}
	if f.Before != "" {
		q.add("AND r.id < ?", before[:])
	}
	q.add("ORDER BY r.id DESC LIMIT 0 + ?", f.Limit)
	return readUpTo(s.tx, f.Limit, func(limit int) ([]parley.Run, error) {
		q.args[len(q.args)-1] = limit
		return s.find("", q.text.String(), q.args...)
	})
}

// listLive filters the live runs in memory, because they are few.
func (s runs) listLive(f parley.RunFilter, before uuid.UUID) ([]parley.Run, error) {
	list, err := s.Live(f.Agent)
	if missing, err := notFound(err); missing || err != nil {
		return nil, err
	}
	var in conversationKey
	if f.Conversation != "" {
		in, err = s.conversationKey(f.Conversation)
		if missing, err := notFound(err); missing || err != nil {
			return nil, err
		}
	}
	list = slices.DeleteFunc(list, func(r parley.Run) bool {
		return in.id != "" && r.Conversation != in.id || f.Failed && r.Failure == nil || f.Before != "" && r.ID >= before.String()
	})
	slices.Reverse(list)
	return list[:min(len(list), f.Limit)], nil
}

func (s runs) WokenBy(message, agent string) ([]parley.Run, error) {
	seq, err := s.seqOf(message)
	if missing, err := notFound(err); missing || err != nil {
		return nil, err
	}
	row, err := s.agentNamed(agent)
	if err != nil {
		return nil, err
	}
	return s.find("run_triggers t ON t.run = r.id", "t.message = $1 AND t.agent = $2 ORDER BY t.run", seq, row.num)
}

// answersAsk is the condition for a run that an ask has woken, so that the asker waits for its end.
const answersAsk = `EXISTS (SELECT 1 FROM run_triggers t JOIN deliveries d ON d.message = t.message AND d.agent = t.agent
	WHERE t.run = r.id AND d.purpose = 'ask')`

func (s runs) Session(agent, conversation string, since time.Time) (parley.Run, error) {
	row, err := s.agentNamed(agent)
	if err != nil {
		return parley.Run{}, err
	}
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return parley.Run{}, err
	}
	return onlyRun(s.find("", `r.agent = $1 AND r.conv = $2 AND r.session IS NOT NULL AND r.state = 'succeeded' AND r.task IS NULL
		AND r.ended_at > $3 AND NOT `+answersAsk+" ORDER BY r.id DESC LIMIT 1", row.num, conv.num, millis(since)))
}

// TaskSession reads the runs of the task. The sum keeps SQLite from reading the runs of the agent, which are more.
func (s runs) TaskSession(agent, task string) (parley.Run, error) {
	row, err := s.agentNamed(agent)
	if err != nil {
		return parley.Run{}, err
	}
	return onlyRun(s.find("", `r.agent + 0 = $1 AND r.task = $2 AND r.session IS NOT NULL AND r.state = 'succeeded'
		ORDER BY r.id DESC LIMIT 1`, row.num, task))
}

func (s runs) InTask(task string) ([]parley.Run, error) {
	return s.find("", live+" AND r.task = $1 ORDER BY r.id", task)
}

func (s runs) Spent(agent string, since time.Time) (spent parley.Spent, err error) {
	row, err := s.agentNamed(agent)
	if err != nil {
		return spent, err
	}
	var cost int64
	err = s.row(`SELECT count(*), CAST(coalesce(sum(input_tokens), 0) AS BIGINT), CAST(coalesce(sum(output_tokens), 0) AS BIGINT),
			CAST(coalesce(sum(cost), 0) AS BIGINT) FROM runs WHERE agent = $1 AND created_at > $2`,
		[]any{row.num, millis(since)}, []any{&spent.Runs, &spent.InputTokens, &spent.OutputTokens, &cost})
	spent.Cost = float64(cost) / billionths
	return spent, err
}

// find reads runs in conversations that are not deleted. join is a table to join with its condition, or empty.
func (s runs) find(join, where string, args ...any) ([]parley.Run, error) {
	var (
		list   []parley.Run
		agents []int64
	)
	if join != "" {
		join = "JOIN " + join
	}
	err := s.each("SELECT "+runColumns+" FROM runs r "+join+" WHERE "+runConversation+" IS NOT NULL AND "+where,
		args, func(r Rows) error {
			var row runRow
			run, err := row.scan(r)
			if err != nil {
				return s.noteUnreadable("run", idText(row.id), err)
			}
			list, agents = append(list, run), append(agents, row.agent)
			return nil
		})
	whole := list[:0]
	for i, run := range list {
		if err != nil {
			break
		}
		if run.Agent, err = s.agentID(agents[i]); err == nil {
			whole = append(whole, run)
		}
		err = s.noteUnreadable("run", run.ID, err)
	}
	if err == nil {
		err = s.addTriggers(whole)
	}
	if err != nil {
		return nil, err
	}
	return whole, nil
}

// triggersAtOnce is for how many runs one query reads the triggers.
const triggersAtOnce = 256

func (s runs) addTriggers(list []parley.Run) error {
	byID := map[string]*parley.Run{}
	ids := make([]string, len(list))
	for i := range list {
		list[i].Triggers = []string{}
		ids[i], byID[list[i].ID] = list[i].ID, &list[i]
	}
	for page := range slices.Chunk(ids, triggersAtOnce) {
		q := query{}
		q.add("SELECT run, id FROM run_triggers WHERE 1 = 1")
		q.among("run", uuids(page))
		q.add("ORDER BY run, message")
		err := s.each(q.text.String(), q.args, func(r Rows) error {
			var run, message []byte
			if err := r.Scan(&run, &message); err != nil {
				return err
			}
			to, err := uuidText(run)
			if err != nil {
				return err
			}
			id, err := uuidText(message)
			byID[to].Triggers = append(byID[to].Triggers, id)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s runs) AddPost(run string, post storage.RunPost) error {
	key, err := s.key(run)
	if err != nil {
		return err
	}
	seq, err := s.seqOf(post.Message)
	if err != nil {
		return err
	}
	return s.write("INSERT INTO run_posts (run, message, digest) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", key, seq, post.Digest)
}

// key returns the key of a run, or ErrNotFound if there is no such run or its conversation is deleted.
func (s runs) key(run string) (key []byte, err error) {
	id, err := uuid.Parse(run)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	err = s.row("SELECT r.id FROM runs r WHERE r.id = $1 AND "+runConversation+" IS NOT NULL", []any{id[:]}, []any{&key})
	return key, err
}

func (s runs) Posts(run string) (posts []storage.RunPost, err error) {
	key, err := s.key(run)
	if err != nil {
		return nil, err
	}
	err = s.each(`SELECT p.digest, (SELECT m.id FROM messages m JOIN conversations c ON c.num = m.conv
		WHERE m.seq = p.message AND `+notDeleted+") FROM run_posts p WHERE p.run = $1 ORDER BY p.message", []any{key}, func(r Rows) error {
		var (
			post storage.RunPost
			id   []byte
		)
		err := r.Scan(&post.Digest, &id)
		if err != nil || id == nil { // the conversation of the message is deleted
			return err
		}
		if post.Message, err = uuidText(id); err == nil { // a damaged id names no message
			posts = append(posts, post)
		}
		return nil
	})
	return posts, err
}

func (s runs) PostedBy(message string) (parley.Run, error) {
	seq, err := s.seqOf(message)
	if err != nil {
		return parley.Run{}, err
	}
	return onlyRun(s.find("run_posts p ON p.run = r.id", "p.message = $1 ORDER BY p.run LIMIT 1", seq))
}

func (s runs) PutOutput(run string, output []byte) error {
	key, err := s.key(run)
	if err != nil {
		return err
	}
	if len(output) == 0 {
		_, err := s.dropOutputs("SELECT id FROM runs WHERE id = $1", key)
		return err
	}
	err = s.write("INSERT INTO run_outputs (run, output) VALUES ($1, $2) ON CONFLICT (run) DO UPDATE SET output = excluded.output", key, output)
	if err != nil {
		return err
	}
	return s.write("UPDATE runs SET output = 1 WHERE id = $1", key)
}

func (s runs) Output(run string) (output []byte, err error) {
	key, err := s.key(run)
	if err != nil {
		return nil, err
	}
	err = s.row("SELECT output FROM run_outputs WHERE run = $1", []any{key}, []any{&output})
	_, err = notFound(err)
	return output, err
}

func (s runs) ForgetOutputs(before time.Time, limit int) (int, error) {
	return s.dropOutputs("SELECT id FROM runs WHERE output = 1 AND ended_at < $1 ORDER BY ended_at, id LIMIT 0 + $2", millis(before), limit)
}

// dropOutputs erases the outputs of runs and returns how many it erased. runs is a query for their ids, which must return the
// same ids after the outputs are erased.
func (t *tx) dropOutputs(runs string, args ...any) (int, error) {
	n, err := t.exec("DELETE FROM run_outputs WHERE run IN ("+runs+")", args...)
	if err != nil || n == 0 {
		return 0, err
	}
	_, err = t.exec("UPDATE runs SET output = 0 WHERE output = 1 AND id IN ("+runs+")", args...)
	return int(n), err
}

// runsOf returns a query for the runs that were woken by messages or have posted them. messages is a query for the messages'
// seqs.
func runsOf(messages string) string {
	return "SELECT run FROM run_triggers WHERE message IN (" + messages + ") UNION SELECT run FROM run_posts WHERE message IN (" + messages + ")"
}

// runConversation is the expression for the id of a run's conversation: NULL if the conversation is deleted. The subquery makes
// PostgreSQL look up the conversation of each run. For a join, it might begin with all conversations.
const runConversation = "(SELECT c.id FROM conversations c WHERE c.num = r.conv AND " + notDeleted + ")"

const runColumns = `r.id, r.agent, ` + runConversation + `, r.task, r.runtime, r.state, r.trace, r.attempt, r.hops, r.chain, r.created_at, r.started_at,
	r.ended_at, r.deadline, r.session, r.answer, r.failure, r.cancel, r.input_tokens, r.output_tokens, r.cost, r.node, r.pid, r.pid_started, r.depth, r.ask, r.number`

// billionths is how many units of stored costs are one dollar. Costs are stored as integers, so that sums are exact.
const billionths = 1e9

// runRow is a row of runs as it is read.
type runRow struct {
	agent                             int64
	id, conversation, answer, failure []byte
	state                             string
	task, session, cancel, node       sql.NullString
	created, deadline, cost, ask      int64
	started, ended, number            sql.NullInt64
}

func (row *runRow) scan(r Rows) (run parley.Run, err error) {
	err = r.Scan(&row.id, &row.agent, &row.conversation, &row.task, &run.Runtime, &row.state, &run.TraceID, &run.Attempt, &run.Hops,
		&run.Chain, &row.created, &row.started, &row.ended, &row.deadline, &row.session, &row.answer, &row.failure, &row.cancel,
		&run.InputTokens, &run.OutputTokens, &row.cost, &row.node, &run.Process.PID, &run.Process.Started, &run.Depth, &row.ask, &row.number)
	if err != nil {
		return run, err
	}
	for field, raw := range map[*string][]byte{&run.ID: row.id, &run.Conversation: row.conversation, &run.Answer: row.answer} {
		if *field, err = uuidText(raw); err != nil {
			return run, err
		}
	}
	if row.failure != nil {
		if err := json.Unmarshal(row.failure, &run.Failure); err != nil {
			return run, fmt.Errorf("the failure of run %s: %w", run.ID, err)
		}
	}
	run.State, run.Cost, run.Ask = parley.RunState(row.state), float64(row.cost)/billionths, row.ask != 0
	run.Task, run.Session, run.Cancel, run.Node = row.task.String, row.session.String, row.cancel.String, row.node.String
	run.CreatedAt, run.Deadline = fromMillis(row.created), fromMillis(row.deadline)
	run.StartedAt, run.EndedAt, run.Number = timeOrNil(row.started), timeOrNil(row.ended), row.number.Int64
	return run, nil
}

// encodeRun returns the columns of a run that Put replaces.
func encodeRun(r parley.Run) ([]any, error) {
	answer, err := uuidOrNull(r.Answer)
	if err != nil {
		return nil, err
	}
	var failure []byte
	if r.Failure != nil {
		if failure, err = json.Marshal(r.Failure); err != nil {
			return nil, err
		}
	}
	return []any{
		textOrNull(r.Task), r.Runtime, string(r.State), r.TraceID, r.Attempt, r.Hops, r.Chain,
		millisOrNull(r.StartedAt), millisOrNull(r.EndedAt), millis(r.Deadline), textOrNull(r.Session), answer,
		textOrNull(string(failure)), textOrNull(r.Cancel), r.InputTokens, r.OutputTokens, int64(math.Round(r.Cost * billionths)),
		textOrNull(r.Node), r.Process.PID, r.Process.Started, r.Depth, flag(r.Ask),
	}, nil
}
