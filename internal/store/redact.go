package store

import (
	"encoding/hex"
	"fmt"

	"github.com/parley-hub/parley"
)

// mayRepeat selects the runs in a message's conversation that ended after the message or have not ended. Each may have read the
// message and repeated it in its output.
const mayRepeat = `SELECT r.id FROM messages m JOIN runs r ON r.conv = m.conv
	WHERE m.seq = $1 AND r.output = 1 AND coalesce(r.ended_at, m.created_at) >= m.created_at`

func (s messages) Redact(m parley.Message) error {
	digest, err := hex.DecodeString(m.Digest)
	if err != nil || len(digest) == 0 || m.RedactedAt == nil {
		return fmt.Errorf("cannot redact message %s: it has no time of redaction or no digest of its content", m.ID)
	}
	const redacted = "SELECT seq FROM messages WHERE seq = $1"
	if err := s.subtractBytes(redacted, m.Seq); err != nil {
		return err
	}
	dropped, err := s.dropReferences("message IN ("+redacted+")", m.Seq)
	if err != nil {
		return err
	}
	for _, sha256 := range dropped {
		// The body counts as stored long ago, so that the next sweep removes it.
		if err := s.write("UPDATE artifacts SET stored_at = 0 WHERE sha256 = $1 AND refs = 0", digestOf(sha256)); err != nil {
			return err
		}
	}
	if _, err := s.dropOutputs(mayRepeat+" UNION "+runsOf(redacted), m.Seq); err != nil {
		return err
	}
	if err := s.redactTasks(m); err != nil {
		return err
	}
	if err := s.redactApprovals(m); err != nil {
		return err
	}
	n, err := s.exec(`UPDATE messages SET text = '', code = NULL, artifacts = NULL, payload = NULL, metadata = NULL,
		redacted_at = $2, body_digest = $3 WHERE seq = $1`, m.Seq, millisOrNull(m.RedactedAt), digest)
	return requireRow(n, err, parley.ErrNotFound)
}

// redactTasks erases the texts in tasks that may repeat a message: tasks that it began, whose end it reported, or whose result it
// is.
func (s messages) redactTasks(m parley.Message) error {
	id, err := uuidOrNull(m.ID)
	if err != nil {
		return err
	}
	list, err := tasks(s).find("t.message = $1 OR t.callback = $1", id)
	if err != nil {
		return err
	}
	resulting, err := s.tasksAnsweredBy(m.Seq, id)
	if err != nil {
		return err
	}
	for _, t := range append(list, resulting...) {
		t.Title, t.DelegationReason, t.Result, t.Progress = "", "", nil, nil
		if t.Error != nil {
			t.Error = &parley.Error{Code: t.Error.Code, Message: "redacted", Recoverable: t.Error.Recoverable, Reason: t.Error.Reason}
		}
		if err := tasks(s).Put(t); err != nil {
			return err
		}
	}
	return nil
}

// tasksAnsweredBy returns the tasks of the runs whose answer a message is.
func (s messages) tasksAnsweredBy(seq int64, id any) ([]parley.Task, error) {
	var ids []string
	err := s.each(`SELECT r.task FROM run_posts p JOIN runs r ON r.id = p.run
		WHERE p.message = $1 AND r.answer = $2 AND r.task IS NOT NULL`, []any{seq, id}, func(r Rows) error {
		var task string
		err := r.Scan(&task)
		ids = append(ids, task)
		return err
	})
	if err != nil {
		return nil, err
	}
	return tasks(s).GetAll(ids)
}

// approvalsOf selects the approvals of calls by runs that a message woke, the approval whose outcome it reported, and the decided
// approvals of its trace. In the last case the message may come from the call, or may answer such a message.
const approvalsOf = `SELECT id FROM approvals WHERE woken_by = $1 OR outcome = $1 OR trace = $2 AND state NOT IN ('pending', 'approved')`

// redactApprovals erases the texts in approvals, and in notices about the approvals or the message, that may repeat the message.
// A pending call can then no longer be made.
func (s messages) redactApprovals(m parley.Message) error {
	id, err := uuidOrNull(m.ID)
	if err != nil {
		return err
	}
	_, err = s.exec("UPDATE notices SET title = '', text = '' WHERE approval IN ("+approvalsOf+") OR key LIKE $3", id, m.TraceID, "%"+m.ID+"%")
	if err != nil {
		return err
	}
	_, err = s.exec("UPDATE approvals SET args = '{}', summary = '', note = NULL, result = NULL WHERE id IN ("+approvalsOf+")", id, m.TraceID)
	return err
}
