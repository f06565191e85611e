package store

import (
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

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

func (s runs) KeepOutput(run string, output []byte) error {
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
