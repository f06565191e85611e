package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"github.com/parley-hub/parley"
)

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
