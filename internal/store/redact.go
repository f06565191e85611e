package store

import (
	"encoding/hex"
	"fmt"

	"github.com/parley-hub/parley"
)

// mayQuote selects the runs in a message's conversation that were there when it was, or came later: each may
// have read it, and repeated it in its output.
const mayQuote = `SELECT r.id FROM messages m JOIN runs r ON r.conv = m.conv
	WHERE m.seq = $1 AND r.output = 1 AND coalesce(r.ended_at, m.created_at) >= m.created_at`

func (s messages) Redact(m parley.Message) error {
	digest, err := hex.DecodeString(m.Digest)
	if err != nil || len(digest) == 0 || m.RedactedAt == nil {
		return fmt.Errorf("message %s is to be redacted and does not say what it was", m.ID)
	}
	const it = "SELECT seq FROM messages WHERE seq = $1"
	if err := s.lighten(it, m.Seq); err != nil {
		return err
	}
	dropped, err := s.dropReferences("message IN ("+it+")", m.Seq)
	if err != nil {
		return err
	}
	for _, sha256 := range dropped {
		// As if it had been stored long ago: what is redacted is not kept for somebody who may yet refer to it.
		if err := s.write("UPDATE artifacts SET stored_at = 0 WHERE sha256 = $1 AND refs = 0", digestOf(sha256)); err != nil {
			return err
		}
	}
	if _, err := s.dropOutputs(mayQuote+" UNION "+runsOf(it), m.Seq); err != nil {
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
	return changed(n, err, parley.ErrNotFound)
}

// redactTasks erases what tasks repeat of a message: those that it began, that it told the end of, or whose result
// it is.
func (s messages) redactTasks(m parley.Message) error {
	id, err := uuidOrNull(m.ID)
	if err != nil {
		return err
	}
	list, err := tasks(s).find("t.message = $1 OR t.callback = $1", id)
	if err != nil {
		return err
	}
	resulting, err := s.resultOf(m.Seq, id)
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

// resultOf finds the tasks of the runs that a message is the answer of.
func (s messages) resultOf(seq int64, id any) ([]parley.Task, error) {
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

// approvalsOf selects the approvals of calls by runs that a message woke, the one whose outcome it told, and those
// of its trace that are decided: it may be what the call made, or the answer to that.
const approvalsOf = `SELECT id FROM approvals WHERE woken_by = $1 OR outcome = $1 OR trace = $2 AND state NOT IN ('pending', 'approved')`

// redactApprovals erases what approvals, and notices about them or the message, repeat of it. A call that is
// pending cannot be made then.
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
